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
#include <string>

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

} // namespace semel
