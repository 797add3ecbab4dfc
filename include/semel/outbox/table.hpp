// The port between a relay and an outbox table: what a relay asks of a database.
//
// One connection, one thread at a time; refused (errc::unsupported) in a child forked later. Every
// time is the database's. After a failure with effect::unknown a settlement may be sent again: what
// is done is done once. A claim that was not answered is given back with release().
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

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"
#include "semel/outbox.hpp"
#include "semel/store.hpp"

namespace semel::outbox {

enum class row_status : std::uint8_t {
    pending = 0,
    claimed = 1,
    dead = 2,
    parked = 3, // behind a dead row of the same key
};

[[nodiscard]] std::string_view name(row_status status);

// Names a claim: the worker of a relay, and the number of its claim.
struct row_lock {
    owner_id owner = {};
    std::int64_t token = 0;
};

// A row that was not delivered.
struct returned_row {
    std::int64_t row = 0;
    row_status as = row_status::pending;
    duration delay = {};    // until the row is due again
    std::int32_t tries = 0; // added to its attempts: -1 if the row was not tried after all
    std::string error = {}; // empty: the row keeps its last error
};

// What became of the rows of one claim.
struct settlement {
    row_lock of = {};
    std::vector<std::int64_t> done = {};
    std::vector<returned_row> back = {};

    [[nodiscard]] bool empty() const { return done.empty() && back.empty(); }
};

// Which rows a claim looks for. Each is one range of the index.
enum class claim_range : std::uint8_t {
    fresh,         // never tried
    due,           // tried before, and the next try is due
    expired,       // claimed by a worker whose lease has run out
    expired_often, // the same, `often` times or more: claimed one at a time
};
// A row that was claimed this often without an answer is claimed alone. Such a row may be the one
// that crashes the relay, and must not delay other rows.
inline constexpr std::int32_t often = 3;

struct claim_request {
    std::int32_t shard = 0;
    claim_range range = claim_range::fresh;
    row_lock by = {};
    duration lease = {};
    std::int64_t after = 0; // fresh only: rows after this one; a hint, see relay.hpp
    std::size_t rows_max = 0;
};

struct exchanged {
    std::size_t done = 0; // fewer than were sent as done: the lease was lost
    std::size_t back = 0;
    std::size_t selected = 0;          // more than claimed: another worker came in between
    std::vector<message> claimed = {}; // in the order of their rows
};

// What happens to a row that was delivered.
enum class on_ack : std::uint8_t { remove, archive };

// ---- ordered mode -------------------------------------------------------------------------------

struct shard_lock {
    std::int32_t shard = 0;
    std::int64_t epoch = 0;
    owner_id owner = {};
};

struct taken_shard {
    std::int64_t epoch = 0;
    bool abandoned = false; // not given back by its last owner, which may have crashed on a row
};

struct shards_seen {
    std::vector<std::int32_t> free = {}; // without an owner, or with a lapsed lease
    std::vector<std::int32_t> own = {};  // of the caller; their leases were renewed
    std::size_t relays = 0;              // alive, the caller included
    std::size_t shards = 0;              // in all
};

struct read_request {
    std::int64_t after = 0;
    std::size_t rows_max = 0;
};

struct shard_read {
    std::size_t done = 0; // fewer than were to be settled: the shard was lost
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
    std::uint64_t dead = 0;    // counted up to `backlog_count_max`
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
    // Renews the lease of the rows that the claim still has. Returns how many these are.
    virtual result<std::size_t> renew(const row_lock& by, std::span<const std::int64_t> rows,
                                      duration lease) = 0;
    // Gives back all rows of a claim whose answer was lost. They count as not tried.
    virtual result<std::size_t> release(std::int32_t shard, const row_lock& by) = 0;
    // One more than the highest shard that has rows; 0 if there are no rows.
    virtual result<std::int32_t> shards_used() = 0;

    // Reports that `owner` is alive, renews the leases of its shards, and returns what it sees of
    // the others. Adds the shards below `shards` that the table does not have yet.
    virtual result<shards_seen> attend(const owner_id& owner, std::int32_t shards,
                                       duration lease) = 0;
    virtual result<std::optional<taken_shard>> take(std::int32_t shard, const owner_id& owner,
                                                    duration lease) = 0;
    virtual result<void> give_back(const shard_lock& what) = 0;
    // Reports that `owner` has ended.
    virtual result<void> leave(const owner_id& owner) = 0;
    // Makes the rows of a shard readable in order: retries become due at once; rows of lapsed
    // claims become pending, and so do parked rows whose key has no dead row. Returns the keys that
    // have a dead row.
    virtual result<std::vector<std::string>> tidy_shard(const shard_lock& by) = 0;
    // Settles rows and reads the next ones, in one transaction.
    virtual result<shard_read> advance(const shard_lock& by, const settlement& last,
                                       const std::optional<read_request>& next) = 0;

    virtual result<std::vector<row_view>> list(const row_query& which) = 0;
    virtual result<std::optional<row_view>> show(std::int64_t row) = 0;
    // Makes dead rows pending again, with no attempts, and also the rows parked behind them. An
    // empty list means all. Returns the number of dead rows.
    virtual result<std::size_t> requeue(std::span<const std::int64_t> rows) = 0;
    // Removes the listed rows, except claimed ones. Returns how many it has removed.
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
