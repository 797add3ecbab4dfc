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
    // How long a repeat waits for the transaction that executes its key. Then errc::timed_out.
    // MySQL waits in whole seconds, rounded up.
    duration lock_wait = std::chrono::seconds{10};
    // If the connection breaks during COMMIT: how long to try to connect again (mariadb_reconnect),
    // in order to find out what became of the COMMIT.
    duration doubt_wait = std::chrono::seconds{5};
    mysql_dialect dialect = mysql_dialect::automatic;
};

// Use it on one thread at a time, like the connection. The connection must outlive it. It changes
// none of the connection's settings and needs none of them: character set, SQL mode and several
// statements at once do not matter. Only a time that was SET is refused (errc::unsupported),
// because times of records are compared with the server's time. (A server with --sysdate-is-now
// hides such a time from semel.) On MySQL each statement is a round trip of its own.
//
// transact() owns BEGIN … COMMIT, in READ COMMITTED. A named lock (GET_LOCK), BEGIN and the look-up
// travel together, and so do the record, COMMIT and the release of the lock: two round trips beside
// the work's own. With autocommit=0, too, the connection must not be in a transaction: commit what
// you have read.
//
// execute_in() joins a transaction of the caller, in any isolation level except READ UNCOMMITTED
// (errc::unsupported), which shows what other transactions have not committed. It takes no lock: if
// two transactions execute the same key at the same time, both run, and the second one to write
// gets errc::conflict. Its work is undone then (ROLLBACK TO SAVEPOINT), but the transaction may
// wait for locks, or the server may have rolled it back: roll it back, begin again, and the repeat
// replays. Do the same after errc::timed_out (1205): the server has undone one statement, not the
// transaction. A deadlock (1213) has undone the whole transaction. Until you roll back, the answer
// is errc::invalid_argument; without autocommit the next transaction has begun and is joined.
//
// The work may use savepoints of its own. It must not end the transaction (DDL commits, too), roll
// back to a savepoint from before the work, or leave the connection with another default database
// (USE): errc::transaction_broken, and no record is kept. If the work ignores an error 1205, its
// other statements stand.
class mysql_transaction : public transaction {
public:
    using connection_type = st_mysql*; // what the work may take
    static constexpr bool suspends = false;

    explicit mysql_transaction(st_mysql* connection, mysql_transaction_options options = {});
};

} // namespace semel
