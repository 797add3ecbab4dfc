// Execution inside a transaction on the caller's own MySQL or MariaDB connection.
//
//   semel::mysql_transaction here{connection};                   // MYSQL* of the application
//   auto out = engine.transact<order>(here, request, [&](semel::execution&) {
//       return insert_order(connection);                         // committed with its record
//   });
//
// The application's rows and the record lie in one database, so they are committed together or not
// at all; the application's tables must be of a transactional engine (InnoDB). The tables of semel
// must be there: `semel migrate --store URL`.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "semel/stores/mysql.hpp"
#include "semel/transaction.hpp"

struct st_mysql; // MYSQL

namespace semel {

struct mysql_transaction_options {
    std::string table_prefix = "semel_";
    // How long a repeat waits for the transaction that executes its key: then errc::timed_out. In
    // whole seconds on MySQL, rounded up.
    duration lock_wait = std::chrono::seconds{10};
    // When the connection breaks during COMMIT, how long it is tried to connect again
    // (mariadb_reconnect) to find out what became of it.
    duration doubt_wait = std::chrono::seconds{5};
    mysql_dialect dialect = mysql_dialect::automatic;
};

// Used by one thread at a time, like the connection, which must outlive it. Nothing of the
// connection's settings is changed, and it needs none: character set, SQL mode and several
// statements at once do not matter. Only a time that was SET is refused (errc::unsupported), since
// times of records are compared with the server's; with --sysdate-is-now it is not noticed. On
// MySQL each statement is a round trip of its own.
//
// transact() owns BEGIN … COMMIT, in READ COMMITTED. A named lock (GET_LOCK), BEGIN and the look-up
// travel together, and so do the record, COMMIT and the release of the lock: two round trips beside
// the work's own. With autocommit=0 the connection must not be in a transaction either: commit what
// you have read.
//
// execute_in() joins a transaction of the caller, in any isolation level that does not show what
// others have not committed (READ UNCOMMITTED: errc::unsupported). It takes no lock: two
// that execute the same key at the same time both run, and the second one to write is told
// errc::conflict. Its work is undone then (ROLLBACK TO SAVEPOINT), but the transaction may wait for
// locks or have been rolled back by the server: roll it back, begin again, and the repeat replays.
// After errc::timed_out (1205) as well: the server has undone one statement, not the transaction. A
// deadlock (1213) has undone all of it: until you roll back, errc::invalid_argument; without
// autocommit the next transaction has begun and is joined.
//
// The work may use savepoints of its own. It must not end the transaction, also not by DDL, which
// commits, nor roll back to a savepoint from before, nor leave the connection with another default
// database (USE): errc::transaction_broken, and no record is kept. An error 1205 that the work
// swallows is its own business: its other statements stand.
class mysql_transaction final : public transaction_port {
public:
    explicit mysql_transaction(st_mysql* connection, mysql_transaction_options options = {});
    mysql_transaction(mysql_transaction&&) noexcept;
    mysql_transaction& operator=(mysql_transaction&&) noexcept;
    ~mysql_transaction() override;

    result<void> begin(on_locked locked) override;
    result<void> join() override;
    result<locked_record> lock(const record_id& id) override;
    result<void> save(const record_id& id, const record& after, std::uint64_t seen_fence) override;
    void leave(const record_id& id) override;
    result<void> commit() override;
    [[nodiscard]] bool asks_to_repeat() const override;
    void rollback() override;
    void abandon() noexcept override;
    [[nodiscard]] const void* connection() const override;
    [[nodiscard]] std::string_view tables() const override;

private:
    class state;
    std::unique_ptr<state> state_;
};

} // namespace semel
