// Execution inside a transaction on the caller's own PostgreSQL connection.
//
//   semel::postgres_transaction here{connection};                // PGconn* of the application
//   auto out = engine.transact<order>(here, request, [&](semel::execution&) {
//       return insert_order(connection);                         // committed with its record
//   });
//
// The application's rows and the record lie in one database, so they are committed together or not
// at all. The tables must be there: `semel migrate --store URL`.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "semel/base/task.hpp"
#include "semel/transaction.hpp"

struct pg_conn;   // PGconn
struct pg_result; // PGresult

namespace semel {

struct postgres_transaction_options {
    std::string table_prefix = "semel_";
    // How long a repeat waits for the transaction that executes its key. Then errc::timed_out.
    // While the work runs, the connection's own lock_timeout is in force again.
    duration lock_wait = std::chrono::seconds{10};
    // If the connection breaks during COMMIT: how long to try to connect again (PQreset), in order
    // to find out what became of the COMMIT.
    duration doubt_wait = std::chrono::seconds{5};
};

// The connection on which work runs: one of the application's own, or one of a pool. It is the
// work's while the work runs.
class postgres_connection {
public:
    explicit postgres_connection(pg_conn* native, socket_waiter* waits = nullptr)
        : native_(native), waits_(waits) {}

    [[nodiscard]] pg_conn* native() const { return native_; }
    [[nodiscard]] socket_waiter& waits() const; // of callers that do not block; others have none

private:
    pg_conn* native_;
    socket_waiter* waits_;
};

// Use it on one thread at a time, like the connection. The connection must outlive it. Keep it for
// many transactions: its statements are then prepared only once.
//
// transact() owns BEGIN … COMMIT, in READ COMMITTED. BEGIN, the lock of the key and the look-up
// travel together, and so do the record and COMMIT: two round trips beside the work's own.
//
// If the work does not need the answers of its last statements, it can save their round trip, too.
// It leaves these statements in libpq's pipeline (PQenterPipelineMode, then PQsendQueryParams or
// PQsendQueryPrepared), and they travel with the record and COMMIT. Afterwards the connection is
// out of pipeline mode. If one of these statements fails, nothing is kept: errc::transaction_broken
// with the server's words, or, after a deadlock, transact() begins again. (The statement does no
// harm if the work itself rolls back to a savepoint of its own after it.) Do not queue a COPY:
// libpq cannot go on after it, and the connection is lost.
//
// execute_in() joins a transaction of the caller. That transaction must be READ COMMITTED
// (otherwise errc::unsupported), because in other levels a look-up may miss what another
// transaction has just committed. The outcome counts when the caller has committed. After a failure
// the transaction is aborted and can only be rolled back.
//
// The work may run DDL, which PostgreSQL rolls back like anything else, and use savepoints of its
// own. It must not end the transaction, roll back to a savepoint from before the work, or change
// the search_path to where other tables of semel are: errc::transaction_broken, and neither record
// nor effect is kept. If another caller has claimed the same key outside of a transaction
// meanwhile: errc::conflict, and transact() begins again.
//
// With a waiter the handle is for callers that do not block (engine::async_transact): it waits for
// the server on the caller's own loop, see semel/asio/transaction.hpp. Connection and waiter must
// outlive it. It puts the connection into libpq's nonblocking mode and leaves it there. Do not
// block in the work (PQexec …): that would stop the whole loop. Two things block all the same:
// looking up the server's name for a reconnect after a connection was lost during COMMIT, and
// cancelling a query that the work has left under way.
class postgres_transaction : public transaction {
public:
    using connection_type = postgres_connection&; // what the work may take

    explicit postgres_transaction(pg_conn* connection, postgres_transaction_options options = {});
    postgres_transaction(pg_conn* connection, socket_waiter& waits,
                         postgres_transaction_options options = {});
};

struct postgres_result_deleter {
    void operator()(pg_result* it) const; // PQclear
};
using postgres_result = std::unique_ptr<pg_result, postgres_result_deleter>;

// For work that does not block: flushes what was sent and waits for all results, until
// PQgetResult() returns null or a COPY begins. The connection must be in nonblocking mode; it is
// while the work runs. In a pipeline, one call waits for one statement, and the server answers only
// after PQpipelineSync or PQsendFlushRequest.
[[nodiscard]] task<std::vector<postgres_result>> all_results(pg_conn* connection,
                                                             socket_waiter& waits);

// ---- a few connections for many callers ---------------------------------------------------------

struct postgres_pool_options {
    postgres_transaction_options transaction = {};
    // How long a caller waits for a connection: then errc::timed_out.
    duration wait_max = std::chrono::seconds{10};
    // How many callers may wait for a connection. One more is refused at once: errc::overloaded.
    std::size_t waiting_max = 10'000;
    // The pool reconnects a lost connection (PQreset) when a caller needs it, within doubt_wait.
    // What was set and prepared in its session is gone then. The pool calls this function with the
    // connection, so that it can set and prepare again. It runs in place: keep it brief.
    std::function<void(pg_conn*)> on_reconnect = {};
};

namespace sql {
class pool;
}

// One call's way through the pool, made by postgres_pool::transaction(). A pool has no transaction
// that a call could join.
class postgres_pool_transaction : public transaction {
public:
    using connection_type = postgres_connection&; // what the work may take
    static constexpr bool joins = false;

private:
    friend class postgres_pool;
    explicit postgres_pool_transaction(std::shared_ptr<sql::pool> in);
};

// Connections that callers share. While callers wait for a connection, the end of one transaction
// (its record and COMMIT) travels with the beginning of the next (BEGIN, the lock of its key and
// the look-up). So a transaction costs one round trip beside those of its work, instead of two.
//
// Thread-safe. Keep the connections longer than the pool, and use them for nothing else meanwhile.
// Keep the pool longer than its calls; only calls whose loop has stopped for good may be left.
//
// Callers get a connection in the order in which they ask. A caller that has had a connection and
// needs one again (to repeat its transaction, to keep a final failure, to find out what became of a
// COMMIT) goes first.
class postgres_pool {
public:
    // For callers that block, on threads of their own. Throws std::invalid_argument if
    // `connections` is empty.
    explicit postgres_pool(const std::vector<pg_conn*>& connections,
                           const postgres_pool_options& options = {});
    // For callers that do not block. `make_waiter` is called once for each connection and once
    // more, for the time limits; asio_waiters is one. These waiters must not call `then` inside
    // wait(). The pool puts the connections into libpq's nonblocking mode, see
    // postgres_transaction.
    postgres_pool(const std::vector<pg_conn*>& connections,
                  const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
                  const postgres_pool_options& options = {});
    postgres_pool(const postgres_pool&) = delete;
    postgres_pool& operator=(const postgres_pool&) = delete;
    ~postgres_pool();

    // For one call: `engine.transact<order>(pool.transaction(), request, work)`.
    [[nodiscard]] postgres_pool_transaction transaction();

    [[nodiscard]] pool_counts count() const;

private:
    std::shared_ptr<sql::pool> in_; // shared with the calls that are under way
};

} // namespace semel
