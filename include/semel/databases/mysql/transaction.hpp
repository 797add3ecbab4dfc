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
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "semel/databases/mysql.hpp"
#include "semel/transaction.hpp"

struct st_mysql; // MYSQL

namespace semel {

struct mysql_transaction_options {
    std::string table_prefix = "semel_";
    // How long a caller waits for another transaction that holds its key. Then errc::timed_out.
    // MySQL waits in whole seconds, rounded up.
    duration lock_wait = std::chrono::seconds{10};
    // If the connection breaks during COMMIT: how long to try to connect again (mariadb_reconnect),
    // in order to find out what became of the COMMIT.
    duration doubt_wait = std::chrono::seconds{5};
    mysql_dialect dialect = mysql_dialect::automatic;
};

// Use it on one thread at a time, like the connection. The connection must outlive it. Character
// set, SQL mode and several statements at once do not matter, and settings are as before after each
// call. Only a time that was SET is refused (errc::unsupported), because times of records are
// compared with the server's time. (A server with --sysdate-is-now hides such a time from semel.)
//
// The record's row is the lock of the key: it is inserted, or locked, before the work runs, and its
// lock ends with the transaction. Other transactions and claims without a transaction wait for it.
//
// transact() owns BEGIN … COMMIT, in READ COMMITTED. On MariaDB it takes two round trips beside the
// work's own. From the second transaction on, the session keeps three prepared statements for it,
// if the server tells the client of a USE (session_track_schema, which is on by default; do not
// turn it off later). On MySQL each statement is a round trip of its own. With autocommit=0, too,
// the connection must not be in a transaction: commit what you have read.
//
// execute_in() joins a transaction of the caller, in any isolation level except READ UNCOMMITTED
// (errc::unsupported), which shows what other transactions have not committed. It holds the key
// until that transaction ends; a repeat that finds a finished record locks nothing. If the outcome
// is errc::conflict or errc::timed_out, roll back and begin again: after a deadlock (1213) the
// server has rolled back the whole transaction, after a time-out (1205) one statement. Until you
// roll back, the answer is errc::invalid_argument; without autocommit the next transaction has
// begun and is joined. If a record cannot be written, its work is undone (ROLLBACK TO SAVEPOINT).
//
// The work may use savepoints of its own. It must not end the transaction (DDL commits, too), roll
// back to a savepoint from before the work, or leave the connection with another default database
// (USE): errc::transaction_broken, and no record is kept. What such work has committed includes the
// row of its key: without a record in it, as if its retention were over. If the work ignores an
// error 1205, its other statements stand.
class mysql_transaction : public transaction {
public:
    using connection_type = st_mysql*; // what the work may take
    static constexpr bool suspends = false;

    explicit mysql_transaction(st_mysql* connection, mysql_transaction_options options = {});
};

// ---- a few connections for many callers ---------------------------------------------------------

namespace sql {
class pool;
}

struct mysql_pool_options {
    mysql_transaction_options transaction = {};
    // How long a caller waits for a connection: then errc::timed_out.
    duration wait_max = std::chrono::seconds{10};
    // How many callers may wait for a connection. One more is refused at once: errc::overloaded.
    std::size_t waiting_max = 10'000;
    // The pool reconnects a lost connection (mariadb_reconnect) when a caller needs it, within
    // doubt_wait. What was set in its session is gone then. The pool calls this function with the
    // connection, so that it can set it again.
    std::function<void(st_mysql*)> on_reconnect = {};
};

// One call's way through the pool, made by mysql_pool::transaction(). A pool has no transaction
// that a call could join.
class mysql_pool_transaction : public transaction {
public:
    using connection_type = st_mysql*; // what the work may take
    static constexpr bool suspends = false;
    static constexpr bool joins = false;

private:
    friend class mysql_pool;
    explicit mysql_pool_transaction(std::shared_ptr<sql::pool> in);
};

// Connections that callers on several threads share: each transaction runs on a connection that is
// free. Thread-safe. Keep the connections longer than the pool, and use them for nothing else
// meanwhile. Keep the pool longer than its calls.
//
// Callers get a connection in the order in which they ask. A caller that has had a connection and
// needs one again (to repeat its transaction, to keep a final failure, to find out what became of a
// COMMIT) goes first.
class mysql_pool {
public:
    // Throws std::invalid_argument if `connections` is empty.
    explicit mysql_pool(const std::vector<st_mysql*>& connections,
                        const mysql_pool_options& options = {});

    // For one call: `engine.transact<order>(pool.transaction(), request, work)`.
    [[nodiscard]] mysql_pool_transaction transaction();

    [[nodiscard]] pool_counts count() const;

private:
    std::shared_ptr<sql::pool> in_; // shared with the calls that are under way
};

} // namespace semel
