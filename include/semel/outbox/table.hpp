// The port between a relay and an outbox table: what a relay asks of a database.
//
// One connection, one thread at a time. Every time is the database's. After a failure with
// effect::unknown a settlement may be sent again: what is done is done once. A claim that was not
// answered is given back with release().
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "semel/open_mode.hpp"
#include "semel/outbox/event.hpp"
#include "semel/record.hpp"
#include "semel/result.hpp"
#include "semel/time.hpp"

namespace semel::outbox {

enum class row_status : std::uint8_t {
    pending = 0,
    claimed = 1,
    dead = 2,
    parked = 3, // behind a dead one of its key
};

[[nodiscard]] std::string_view name(row_status status);

// Whose rows: a relay's worker, and which of its claims.
struct row_lock {
    owner_id owner = {};
    std::int64_t token = 0;
};

// A row that was not delivered.
struct returned_row {
    std::int64_t row = 0;
    row_status as = row_status::pending;
    duration delay = {};    // until it is due again
    std::int32_t tries = 0; // to add to its attempts: -1 if it was not tried after all
    std::string error = {}; // empty: the last one stays
};

// What became of the rows of one claim.
struct settlement {
    row_lock of = {};
    std::vector<std::int64_t> done = {};
    std::vector<returned_row> back = {};

    [[nodiscard]] bool empty() const { return done.empty() && back.empty(); }
};

// Which rows: each is one range of the index.
enum class claim_range : std::uint8_t {
    fresh,         // never tried
    due,           // tried before, and it is time
    expired,       // claimed by somebody who has not come back
    expired_often, // the same, and that more than once: one at a time
};
// Rows that were claimed this often without an answer are claimed alone: one of them may be what
// ends the relay, and the others shall not suffer for it.
inline constexpr std::int32_t often = 3;

struct claim_request {
    std::int32_t shard = 0;
    claim_range range = claim_range::fresh;
    row_lock by = {};
    duration lease = {};
    std::int64_t after = 0; // fresh only: rows behind this one; a hint, see relay.hpp
    std::size_t rows_max = 0;
};

struct exchanged {
    std::size_t done = 0; // less than were to be settled: the lease was lost
    std::size_t back = 0;
    std::size_t selected = 0;          // more than are claimed: somebody was in between
    std::vector<message> claimed = {}; // by their rows
};

// What is done with a row that was delivered.
enum class on_ack : std::uint8_t { remove, archive };

// ---- ordered mode -------------------------------------------------------------------------------

struct shard_lock {
    std::int32_t shard = 0;
    std::int64_t epoch = 0;
    owner_id owner = {};
};

struct taken_shard {
    std::int64_t epoch = 0;
    bool abandoned = false; // its last owner has not given it back: it may have crashed on a row
};

struct shards_seen {
    std::vector<std::int32_t> free = {}; // nobody's, or lapsed
    std::vector<std::int32_t> own = {};  // renewed
    std::size_t relays = 0;              // that are alive, the asking one included
    std::size_t shards = 0;              // in all
};

struct read_request {
    std::int64_t after = 0;
    std::size_t rows_max = 0;
};

struct shard_read {
    std::size_t done = 0; // less than were to be settled: the shard was lost
    std::vector<message> rows = {};
};

// ---- operators ----------------------------------------------------------------------------------

struct row_query {
    std::optional<row_status> status = {};
    std::string topic = {}; // empty: all
    std::int64_t after = 0;
    std::size_t rows_max = 50;
};

struct row_view {
    message it = {};
    row_status status = row_status::pending;
    time_point next_retry_time = {};
    time_point lock_until = {};
    time_point updated_at = {};
    std::string last_error = {};
};

struct backlog {
    std::uint64_t waiting = 0; // counted up to `backlog_count_max`
    std::uint64_t dead = 0;    // the same
    duration oldest = {};      // age of the oldest row that waits
};
inline constexpr std::uint64_t backlog_count_max = 10'000;

class table {
public:
    table() = default;
    table(const table&) = delete;
    table& operator=(const table&) = delete;
    virtual ~table() = default;

    // Settles the last claim and makes the next one, in one transaction.
    virtual result<exchanged> exchange(const settlement& last,
                                       const std::optional<claim_request>& next) = 0;
    // How many of the rows are still the lock's; their lease begins anew.
    virtual result<std::size_t> renew(const row_lock& by, std::span<const std::int64_t> rows,
                                      duration lease) = 0;
    // All rows of a claim whose answer was lost, untried.
    virtual result<std::size_t> release(std::int32_t shard, const row_lock& by) = 0;
    // One more than the highest shard that has rows; 0 if there are none.
    virtual result<std::int32_t> shards_used() = 0;

    // Says that `owner` is alive, renews what it owns and looks around. Shards below `shards` that
    // are unknown are added.
    virtual result<shards_seen> attend(const owner_id& owner, std::int32_t shards,
                                       duration lease) = 0;
    virtual result<std::optional<taken_shard>> take(std::int32_t shard, const owner_id& owner,
                                                    duration lease) = 0;
    virtual result<void> give_back(const shard_lock& what) = 0;
    // The owner is alive no more.
    virtual result<void> leave(const owner_id& owner) = 0;
    // Makes rows of a shard readable in order: retries are due at once, lapsed claims are pending,
    // rows parked behind nobody are pending. The keys that have a dead row.
    virtual result<std::vector<std::string>> tidy_shard(const shard_lock& by) = 0;
    // Settles rows and reads on, in one transaction.
    virtual result<shard_read> advance(const shard_lock& by, const settlement& last,
                                       const std::optional<read_request>& next) = 0;

    virtual result<std::vector<row_view>> list(const row_query& which) = 0;
    virtual result<std::optional<row_view>> show(std::int64_t row) = 0;
    // Dead rows are pending again, with no attempts, and so are those parked behind them. How many
    // dead ones there were. An empty list means all.
    virtual result<std::size_t> requeue(std::span<const std::int64_t> rows) = 0;
    // Removes dead and parked rows; with `any` all others but claimed ones as well.
    virtual result<std::size_t> drop(std::span<const std::int64_t> rows) = 0;
    virtual result<backlog> measure() = 0;
};

using table_opener = std::function<result<std::unique_ptr<table>>()>;

struct table_options {
    std::string table_prefix = "semel_";
    on_ack ack = on_ack::remove;
    open_mode mode = open_mode::create; // read_only: for list, show and measure
};

} // namespace semel::outbox
