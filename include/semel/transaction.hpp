// The port between the engine and a database transaction on the caller's own connection.
//
// The record, the business rows and the outbox events commit together: there is never a record
// without its effect, nor an effect without its record, whatever crashes. Applications do not call
// the port: they use the headers in semel/transaction/, one per database.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "semel/base/function.hpp"
#include "semel/base/result.hpp"
#include "semel/base/task.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"
#include "semel/core/record_machine.hpp"

namespace semel {

// The record as this transaction sees it. The key is locked against all other transactions.
struct locked_record {
    std::optional<record> stored = {}; // an expired record, too: its fence counts
    instant at = {};
};

// What the database has added to a record of blind work (see begin_blind()).
struct record_stamp {
    std::uint64_t fence = 0;
    time_point expires_at = {};
};

// What begin() and lock() do while another transaction holds the key.
enum class on_locked : std::uint8_t {
    wait,   // wait, up to the connection's own lock time-out
    answer, // return errc::conflict at once: the engine answers "in progress"
};

// One connection, used by one thread; a child that was forked later is refused (errc::unsupported).
// Every call maps native errors to a failure; errc::conflict means that the whole transaction may
// be repeated.
class transaction_port {
public:
    virtual ~transaction_port() = default;

    // Starts a transaction that the engine will end. errc::invalid_argument if the connection is
    // already in a transaction; errc::unsupported if its settings cannot keep the promise.
    virtual result<void> begin(on_locked locked) = 0;

    // Joins the caller's open transaction. errc::invalid_argument if no transaction is open.
    virtual result<void> join() = 0;

    // Locks the key until the end of the transaction and reads the record.
    virtual result<locked_record> lock(const record_id& id) = 0;

    // Writes the record, once, at the end. The write is an upsert that succeeds only if the stored
    // record still has the fence that lock() saw (0: there was no record). A lapsed claim still
    // belongs to its owner, and the owner may complete it meanwhile: then errc::conflict, from
    // save() or from commit().
    // errc::transaction_broken if the work has meanwhile rolled back, committed or run DDL: then
    // nothing was written.
    virtual result<void> save(const record_id& id, const record& after,
                              std::uint64_t seen_fence) = 0;

    // Called instead of save() if no record is written, as after a repeat. The key stays locked.
    virtual void leave(const record_id& id) { static_cast<void>(id); }

    // A failure with effect::unknown: the transaction may have been committed, so the engine reads
    // the record again.
    virtual result<void> commit() = 0;

    // Blind work travels in one round trip with its record, before the state of its key is known.
    // After begin_blind() the work queues its statements on the connection. commit_blind() sends
    // these statements and the record. The record's times and fence are relative to zero: the
    // database adds its own time and the next fence.
    // errc::conflict: the key has a record, or another transaction holds the key; nothing was kept.
    // errc::unsupported: this database cannot do it.
    virtual result<void> begin_blind(const record_id& id) {
        static_cast<void>(id);
        return failure{.code = errc::unsupported, .possible = effect::none};
    }
    virtual result<record_stamp> commit_blind(const record_id& id, const record& made) {
        static_cast<void>(id), static_cast<void>(made);
        return failure{.code = errc::unsupported, .possible = effect::none};
    }

    // Called before blind work runs in a transaction of begin() and lock(): puts the connection
    // into the state in which begin_blind() leaves it.
    virtual result<void> expect_blind() { return {}; }

    // True if a statement of the work has failed, and the database asks for the whole transaction
    // once more: after a deadlock, or a conflict with another transaction's commit.
    [[nodiscard]] virtual bool asks_to_repeat() const { return false; }

    // Rolls back an open transaction, also one that the work has broken. Never fails.
    virtual void rollback() = 0;

    // Called when even rollback() failed (out of memory). If a transaction may be open, closes the
    // socket, so that the server rolls the transaction back.
    virtual void abandon() noexcept {}

    // Identity of the connection and of semel's tables there. The engine uses both to notice work
    // that executes its own key again. The same key in other tables is another key.
    [[nodiscard]] virtual const void* connection() const = 0;
    [[nodiscard]] virtual std::string_view tables() const { return {}; }
};

// ---- for callers that do not block --------------------------------------------------------------

// A connection's socket. The number alone does not identify it: after a reconnect the new socket
// may have the old number.
struct watched_socket {
    int number = -1;
    std::int64_t connection = 0; // never the same for two connections
    friend bool operator==(const watched_socket&, const watched_socket&) = default;
};

// Waits for a connection's socket on the caller's own loop: semel/asio/waiter.hpp has a
// waiter for Asio. Each connection needs its own waiter. A waiter has one wait at a time.
class socket_waiter {
public:
    enum class interest : std::uint8_t { time, read, write, read_and_write };
    enum class woken : std::uint8_t { ready, deadline };

    virtual ~socket_waiter() = default;

    // Calls `then` once: when the socket is ready (interest::time: never) or at the deadline, on
    // any thread, perhaps before wait() returns. A waiter whose loop has stopped destroys `then`
    // without calling it: that ends the transaction that waits.
    virtual void wait(const watched_socket& socket, interest what, local_time deadline,
                      unique_function<void(woken)> then) = 0;

    // Stops watching the socket and frees what belongs to it.
    virtual void forget() = 0;
};

// transaction_port for callers that do not block. What is passed by reference outlives the task.
class async_transaction_port {
public:
    virtual ~async_transaction_port() = default;

    virtual task<result<void>> begin(on_locked locked) = 0;
    virtual task<result<void>> join() = 0;
    virtual task<result<void>> lock(const record_id& id, locked_record& to) = 0;
    virtual task<result<void>> save(const record_id& id, const record& after,
                                    std::uint64_t seen_fence) = 0;
    virtual void leave(const record_id& id) = 0;
    virtual task<result<void>> commit() = 0;
    virtual task<result<void>> begin_blind(const record_id& id) = 0;
    virtual task<result<record_stamp>> commit_blind(const record_id& id, const record& made) = 0;
    virtual result<void> expect_blind() = 0;
    [[nodiscard]] virtual bool asks_to_repeat() const = 0;
    virtual task<result<void>> rollback() = 0; // never fails
    // Announces that the next rollback() is not the end of the call: another transaction of the
    // same call follows at once.
    virtual void stay() {}
    virtual void abandon() noexcept = 0;
    [[nodiscard]] virtual const void* connection() const = 0;
    [[nodiscard]] virtual std::string_view tables() const = 0;
};

} // namespace semel
