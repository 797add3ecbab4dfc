// What the engine asks of a database transaction. Drivers implement it behind their handles.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "semel/base/result.hpp"
#include "semel/base/task.hpp"
#include "semel/core/record.hpp"
#include "semel/core/record_machine.hpp"
#include "semel/transaction.hpp"

namespace semel {

// The record as this transaction sees it. The key is locked against all other transactions.
struct locked_record {
    std::optional<record> stored = {}; // an expired record, too: its fence counts
    instant at = {};
};

// What begin() and lock() do while another transaction holds the key.
enum class on_locked : std::uint8_t {
    wait,   // wait, up to the connection's own lock time-out
    answer, // return errc::conflict at once: the engine answers "in progress"
};

// One connection, used by one thread at a time; a child that was forked later is refused
// (errc::unsupported). Every call maps native errors to a failure; errc::conflict means that the
// whole transaction may be repeated. What is passed by reference outlives the task.
class transaction_port {
public:
    using done = task<result<void>>;
    // A driver that waits in place gives tasks that have ended.
    [[nodiscard]] static done ready(result<void> with = {}) { return done{std::move(with)}; }

    [[nodiscard]] static transaction_port& of(transaction& handle);

    virtual ~transaction_port() = default;

    // Whether tasks of this port wait in place, so that a caller that blocks can use it, or suspend
    // the coroutine that awaits them.
    [[nodiscard]] virtual bool blocks() const { return true; }
    [[nodiscard]] virtual bool suspends() const { return false; }

    // Starts a transaction that the engine will end. errc::invalid_argument if the connection is
    // already in a transaction; errc::unsupported if its settings cannot keep the promise.
    virtual done begin(on_locked locked) = 0;

    // Joins the caller's open transaction. errc::invalid_argument if no transaction is open.
    virtual done join() = 0;

    // Locks the key until the end of the transaction and reads the record.
    virtual done lock(const record_id& id, locked_record& to) = 0;

    // Writes the record, once, at the end. The write is an upsert that succeeds only if the stored
    // record still has the fence that lock() saw (0: there was no record). A lapsed claim still
    // belongs to its owner, and the owner may complete it meanwhile: then errc::conflict, from
    // save() or from commit().
    // errc::transaction_broken if the work has meanwhile rolled back, committed or run DDL: then
    // nothing was written.
    virtual done save(const record_id& id, const record& after, std::uint64_t seen_fence) = 0;

    // Called instead of save() if no record is written, as after a repeat. The key stays locked.
    virtual void leave(const record_id& id) { static_cast<void>(id); }

    // A failure with effect::unknown: the transaction may have been committed, so the engine reads
    // the record again.
    virtual done commit() = 0;

    // True if a statement of the work has failed, and the database asks for the whole transaction
    // once more: after a deadlock, or a conflict with another transaction's commit.
    [[nodiscard]] virtual bool asks_to_repeat() const { return false; }

    // Rolls back an open transaction, also one that the work has broken. Never fails.
    virtual done rollback() = 0;

    // Announces that the next rollback() is not the end of the call: another transaction of the
    // same call follows at once.
    virtual void stay() {}

    // Called when even rollback() failed (out of memory). If a transaction may be open, closes the
    // socket, so that the server rolls the transaction back.
    virtual void abandon() noexcept {}

    // Identity of the connection and of semel's tables there. The engine uses both to notice work
    // that executes its own key again. The same key in other tables is another key.
    [[nodiscard]] virtual const void* connection() const = 0;
    [[nodiscard]] virtual std::string_view tables() const { return {}; }

    // While the work runs: what the handle's `connection_type` refers or points to.
    [[nodiscard]] virtual void* for_work() { return nullptr; }
};

} // namespace semel
