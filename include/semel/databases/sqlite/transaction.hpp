// Execution inside a transaction on the caller's own SQLite connection.
//
//   semel::sqlite_transaction here{db};                          // sqlite3* of the application
//   auto out = engine.transact<order>(here, request, [&](semel::execution&) {
//       return insert_order(db);                                 // committed with its record
//   });
//
// The application's rows and the record lie in one file, so they are committed together or not at
// all. The tables must be there: open the file once as a store (`sqlite:path`).
#pragma once

#include <chrono>
#include <string>

#include "semel/transaction.hpp"

struct sqlite3;

namespace semel {

struct sqlite_transaction_options {
    std::string table_prefix = "semel_";
    // How long transact() waits for other writers. SQLite locks the whole file, not the key.
    duration lock_wait = std::chrono::seconds{5};
    // The same for requests with wait_mode::answer. Long enough for one or two commits of other
    // writers, so that only a writer that stays in its transaction leads to "in progress".
    duration lock_answer = std::chrono::milliseconds{250};
};

// Use it on one thread at a time, like the connection. The connection must outlive it. Keep it for
// many transactions: its statements are then prepared only once.
//
// Settings that cannot keep the promise are refused (errc::unsupported): synchronous below FULL, a
// journal in memory or switched off, further files attached. Start a transaction for execute_in()
// with BEGIN IMMEDIATE. If a transaction has only read so far, execute_in() turns it into one that
// writes. That fails (errc::conflict: roll back, begin again) if another connection has written
// meanwhile.
//
// SQLite rolls DDL back like anything else, so the work may run it. The work must not end the
// transaction or roll back to a savepoint from before the work: errc::transaction_broken.
class sqlite_transaction : public transaction {
public:
    using connection_type = sqlite3*; // what the work may take
    static constexpr bool suspends = false;

    explicit sqlite_transaction(sqlite3* connection, sqlite_transaction_options options = {});
};

} // namespace semel
