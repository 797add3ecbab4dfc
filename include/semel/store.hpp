// The store port: what the engine asks of any place that keeps records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "semel/base/function.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/command.hpp"
#include "semel/core/record.hpp"
#include "semel/core/record_machine.hpp"
#include "semel/core/search.hpp"

namespace semel {

// A database on a server is never created by opening it: there `create` is the same as `existing`.
enum class open_mode : std::uint8_t {
    // Makes a file that is missing, creates its tables and upgrades older ones.
    create,
    // Creates and upgrades nothing. errc::schema_missing, if there is no store or an older one.
    existing,
    // The same, and changes nothing: needs no right to write, and takes a replica or a standby.
    // For lookups, searches and audits only; what writes is refused or fails.
    read_only,
};

enum class migrate_mode {
    run,
    dry_run, // reads the present version and writes nothing
};

struct migration_report {
    std::int64_t from = 0; // version of the tables before; 0: there were none
    std::int64_t to = 0;
    std::string sql = {}; // what was run, or would be; empty when everything is up to date
};

// One command on its way to a store. `now` is for tests only: it stands in for the store's clock.
struct envelope {
    record_id id;
    command what;
    std::optional<time_point> now = {};
};

// Called exactly once. A failure with effect::unknown may have been applied, now or later. Must not
// throw: what it throws is dropped where another caller would lose its answer by it.
using completion = unique_function<void(result<reply>)>;

struct submission {
    envelope what;
    completion done;
};

struct store_traits {
    // Where answers come from memory: no round trip to save, so nothing is cached in front of it.
    bool in_memory = false;
    // Acknowledged writes survive a crash of this process.
    bool durable = false;
};

// Listens until it is destroyed.
class record_watch {
public:
    record_watch() = default;
    record_watch(const record_watch&) = delete;
    record_watch& operator=(const record_watch&) = delete;
    virtual ~record_watch() = default;
};

// Thread-safe. Destruction waits for every submitted command to be answered. The stores of semel
// refuse all calls (errc::unsupported) in a child that was forked after they were opened; their
// destruction waits for nothing there, and ends no session of the parent.
//
// Each command takes effect atomically as `apply` says, judged by the store's own clock. Commands
// on one record submitted one after the other take effect in that order, except that an owner's
// commands (complete, fail, release, abandon, renew, checkpoint) may pass waiting begins and
// lookups.
class store {
public:
    store() = default;
    store(const store&) = delete;
    store& operator=(const store&) = delete;
    virtual ~store() = default;

    // Never blocks. `done` is called inline or on a thread of the driver and must be short.
    // If the queue is full, a begin or lookup is refused at once (errc::overloaded). The commands
    // of a running attempt are never refused.
    virtual void submit(envelope what, completion done) = 0;

    // The same for many commands. If the store works in batches, they travel in one batch.
    virtual void submit_all(std::vector<submission> many);

    // The same, and waits for the answer; saves the change of thread if the store is idle. Returns
    // by the driver's own time-outs at the latest.
    virtual result<reply> call(const record_id& id, command what,
                               std::optional<time_point> now = {});

    // Removes up to records_max records that are not needed any more (commands::purge). Blocking.
    virtual result<sweep_report> sweep(const sweep_request& request) = 0;

    // What operators did to this record, oldest first. Blocking.
    virtual result<std::vector<audit_entry>> audit(const record_id& id) = 0;

    // One page of the records that fit (see `matches`, with the store's clock), in no particular
    // order. Blocking. It looks at a bounded number of records, so a page may have fewer than
    // records_max records, or none, and still a cursor: go on until the cursor is empty. Every
    // record that was there all the time and did not change was then in one page (in several pages,
    // if the store's documentation says so). Other records may be missing. errc::invalid_argument:
    // see check(), or the cursor is not from the same search in such a store.
    virtual result<record_page> search(const record_query& query) = 0;

    [[nodiscard]] virtual store_traits traits() const = 0;

    // Calls `news` soon after an attempt on this record has ended, in any process. Null: this store
    // does not hear of that. `news` may come more than once or for nothing, and does not come if
    // the message is lost, so callers poll all the same. It runs on a thread of the store, must be
    // short, and may still run when the watch has been destroyed. The store outlives the watch.
    [[nodiscard]] virtual std::unique_ptr<record_watch> watch(const record_id& id,
                                                              unique_function<void()> news);
};

} // namespace semel
