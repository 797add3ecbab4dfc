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
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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
// transact_blind() sends everything at once: BEGIN, the lock, the statements that the work has
// queued (the connection is in pipeline mode), the record and COMMIT. That is one round trip. A
// repeat is rolled back and costs three.
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
class postgres_transaction final : public transaction_port {
public:
    explicit postgres_transaction(pg_conn* connection, postgres_transaction_options options = {});
    postgres_transaction(postgres_transaction&&) noexcept;
    postgres_transaction& operator=(postgres_transaction&&) noexcept;
    ~postgres_transaction() override;

    result<void> begin(on_locked locked) override;
    result<void> join() override;
    result<locked_record> lock(const record_id& id) override;
    result<void> save(const record_id& id, const record& after, std::uint64_t seen_fence) override;
    void leave(const record_id& id) override;
    result<void> commit() override;
    result<void> begin_blind(const record_id& id) override;
    result<record_stamp> commit_blind(const record_id& id, const record& made) override;
    result<void> expect_blind() override;
    [[nodiscard]] bool asks_to_repeat() const override;
    void rollback() override;
    void abandon() noexcept override;
    [[nodiscard]] const void* connection() const override;
    [[nodiscard]] std::string_view tables() const override;

private:
    std::unique_ptr<async_transaction_port> state_;
};

// The same for callers that do not block (engine::async_transact). It waits for the server on the
// caller's own loop, see semel/asio/postgres.hpp. Connection and waiter must outlive
// it. It puts the connection into libpq's nonblocking mode and leaves it there. Do not block in the
// work (PQexec …): that would stop the whole loop.
//
// Two things block all the same: looking up the server's name for a reconnect after a connection
// was lost during COMMIT, and cancelling a query that the work has left under way.
[[nodiscard]] std::unique_ptr<async_transaction_port>
make_async_postgres_transaction(pg_conn* connection, socket_waiter& waits,
                                postgres_transaction_options options = {});

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

} // namespace semel
