// The port between the engine and a database transaction on the caller's own connection.
//
// The record, the business rows and the outbox events commit together: there is never a record
// without its effect, nor an effect without its record, whatever crashes. Users see it through the
// headers in semel/transaction/, one per database.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "semel/function.hpp"
#include "semel/record.hpp"
#include "semel/record_machine.hpp"
#include "semel/result.hpp"
#include "semel/task.hpp"
#include "semel/time.hpp"

namespace semel {

// The record as this transaction sees it, with the key locked against every other one.
struct locked_record {
    std::optional<record> stored = {}; // expired ones too: their fence counts
    instant at = {};
};

// What the database has added to a record that was sent blind.
struct record_stamp {
    std::uint64_t fence = 0;
    time_point expires_at = {};
};

// Who wins when another transaction holds the key.
enum class on_locked : std::uint8_t {
    wait,   // up to the connection's own lock time-out
    answer, // errc::conflict at once: the engine answers "in progress"
};

// One connection, used by one thread. Every call maps native errors to a failure; errc::conflict
// means that the whole transaction may be repeated.
class transaction_port {
public:
    virtual ~transaction_port() = default;

    // Starts a transaction of our own. errc::invalid_argument if the connection is already in one,
    // or its settings cannot keep the promise (errc::unsupported).
    virtual result<void> begin(on_locked locked) = 0;

    // Joins the caller's open transaction: errc::invalid_argument if there is none.
    virtual result<void> join() = 0;

    // Locks the key until the end of the transaction and reads the record.
    virtual result<locked_record> lock(const record_id& id) = 0;

    // The one record write, at the end: an upsert guarded by what lock() saw, whose fence is given
    // (0: none). A claim that has lapsed is still its owner's, who may complete it meanwhile:
    // errc::conflict, here or from commit().
    // errc::transaction_broken if the work has meanwhile rolled back, committed or run DDL: then
    // nothing was written.
    virtual result<void> save(const record_id& id, const record& after,
                              std::uint64_t seen_fence) = 0;

    // Instead of save(): nothing is to be written, as after a repeat. The key stays locked.
    virtual void leave(const record_id& id) { static_cast<void>(id); }

    // A failure with effect::unknown is in doubt: the engine reads again.
    virtual result<void> commit() = 0;

    // Blind work is sent before anything is known of its key, in one round trip with its record.
    // After begin_blind() it queues its statements on the connection; commit_blind() sends them and
    // the record, whose times and fence count from nothing: the database adds its own.
    // errc::conflict: somebody has the key, or holds it, and nothing was kept. errc::unsupported:
    // not with this database.
    virtual result<void> begin_blind(const record_id& id) {
        static_cast<void>(id);
        return failure{.code = errc::unsupported, .possible = effect::none};
    }
    virtual result<record_stamp> commit_blind(const record_id& id, const record& made) {
        static_cast<void>(id), static_cast<void>(made);
        return failure{.code = errc::unsupported, .possible = effect::none};
    }

    // Blind work runs next, in a transaction that was begun the ordinary way and whose key is
    // locked: it is to find the connection as begin_blind() leaves it.
    virtual result<void> expect_blind() { return {}; }

    // A statement of the work has failed, and the database asks for the whole transaction once
    // more: a deadlock, or a conflict with what others have committed.
    [[nodiscard]] virtual bool asks_to_repeat() const { return false; }

    // Ends the transaction if one is open; also after the work has broken it. Never fails.
    virtual void rollback() = 0;

    // Not even that could be done: there is no memory left. Rather no connection than a transaction
    // that stays open.
    virtual void abandon() noexcept {}

    // Identity of the connection, to notice work that nests the same key; and of the tables there:
    // the same key in others is another one.
    [[nodiscard]] virtual const void* connection() const = 0;
    [[nodiscard]] virtual std::string_view tables() const { return {}; }
};

// ---- for callers who do not block ---------------------------------------------------------------

// A connection's socket. The number alone would not do: a connection that was made anew may have
// the old one.
struct watched_socket {
    int number = -1;
    std::int64_t connection = 0; // never the same for two of them
    friend bool operator==(const watched_socket&, const watched_socket&) = default;
};

// Waits for a connection's socket on the caller's own loop: semel/transaction/asio.hpp has one for
// Asio. For one connection, and one wait at a time.
class socket_waiter {
public:
    enum class interest : std::uint8_t { time, read, write, read_and_write };
    enum class woken : std::uint8_t { ready, deadline };

    virtual ~socket_waiter() = default;

    // Calls `then` once, when the socket is ready (interest::time: never) or the deadline is over;
    // on any thread, also before this returns. Destroying it instead ends what it belongs to.
    virtual void wait(const watched_socket& socket, interest what, local_time deadline,
                      unique_function<void(woken)> then) = 0;

    // The socket is not waited for any more.
    virtual void forget() = 0;
};

// transaction_port for callers who do not block. What is passed by reference outlives the task.
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
    // The next rollback() is not the end: another transaction of the same call follows at once.
    virtual void stay() {}
    virtual void abandon() noexcept = 0;
    [[nodiscard]] virtual const void* connection() const = 0;
    [[nodiscard]] virtual std::string_view tables() const = 0;
};

} // namespace semel
