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
    // How long a repeat waits for the transaction that executes its key: then errc::timed_out. The
    // connection's own lock_timeout is in force again when the work runs.
    duration lock_wait = std::chrono::seconds{10};
    // When the connection breaks during COMMIT, how long it is tried to connect again (PQreset) to
    // find out what became of it.
    duration doubt_wait = std::chrono::seconds{5};
};

// Used by one thread at a time, like the connection, which must outlive it. Cheaper when it is kept
// for many transactions: its statements are prepared once.
//
// transact() owns BEGIN … COMMIT, in READ COMMITTED. BEGIN, the lock of the key and the look-up
// travel together, and so do the record and COMMIT: two round trips beside the work's own.
//
// Work that needs nothing of what its last statements give saves their round trip, too: it leaves
// them in libpq's pipeline (PQenterPipelineMode, then PQsendQueryParams or PQsendQueryPrepared),
// and they travel with the record and COMMIT. Afterwards the connection is out of pipeline mode. If
// one of them fails, and the work has not rolled back to a savepoint of its own behind it, nothing
// is kept: errc::transaction_broken with the server's words, or, after a deadlock, transact()
// begins again. A COPY cannot be queued: libpq cannot go on behind it, and the connection is lost.
//
// transact_blind() sends all of it at once: BEGIN, the lock, what the work has queued in the
// pipeline (it finds the connection in pipeline mode), the record and COMMIT. One round trip; of
// repeats, which are rolled back, three.
//
// execute_in() joins a transaction of the caller, which must be READ COMMITTED (errc::unsupported
// otherwise: in the others a look-up may miss what was committed meanwhile). Its outcome counts
// when the caller has committed. After a failure the transaction is aborted and can only be rolled
// back.
//
// The work may run DDL, which PostgreSQL rolls back like anything else, and use savepoints of its
// own. It must not end the transaction, nor roll back to a savepoint from before, nor change the
// search_path to where other tables of semel are: errc::transaction_broken, and neither record nor
// effect is kept by us. If somebody without a transaction has claimed the same key meanwhile:
// errc::conflict, and transact() begins again.
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

// The same for callers who do not block (engine::async_transact): what is said on the connection is
// waited for on the caller's own loop, see semel/transaction/postgres_asio.hpp. Connection and
// waiter must outlive it. The connection is put into libpq's nonblocking mode and left there; a
// statement of the work that waits in place (PQexec …) would hold up the whole loop.
//
// Two things are done in place all the same: looking up the server's name when a connection that
// was lost during COMMIT is made anew, and cancelling a query that the work has left under way.
[[nodiscard]] std::unique_ptr<async_transaction_port>
make_async_postgres_transaction(pg_conn* connection, socket_waiter& waits,
                                postgres_transaction_options options = {});

struct postgres_result_deleter {
    void operator()(pg_result* it) const; // PQclear
};
using postgres_result = std::unique_ptr<pg_result, postgres_result_deleter>;

// For work that does not block: flushes what was sent and waits for all that it gives, up to where
// PQgetResult() gives null or a COPY begins. The connection must be in nonblocking mode, which it
// is in the work. In a pipeline that is one statement, and nothing comes before PQpipelineSync or
// PQsendFlushRequest.
[[nodiscard]] task<std::vector<postgres_result>> all_results(pg_conn* connection,
                                                             socket_waiter& waits);

} // namespace semel
