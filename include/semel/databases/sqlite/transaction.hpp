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
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

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
// begin() and join() refuse what cannot keep the promise (errc::unsupported): synchronous below
// FULL, a journal in memory or switched off, further files attached. Start a transaction for join()
// with BEGIN IMMEDIATE. If a transaction has only read so far, lock() turns it into one that
// writes. That fails (errc::conflict: roll back, begin again) if another connection has written
// meanwhile.
//
// SQLite rolls DDL back like anything else, so the work may run it. The work must not end the
// transaction or roll back to a savepoint from before the work: errc::transaction_broken.
class sqlite_transaction final : public transaction_port {
public:
    explicit sqlite_transaction(sqlite3* connection, sqlite_transaction_options options = {});
    sqlite_transaction(sqlite_transaction&&) noexcept;
    sqlite_transaction& operator=(sqlite_transaction&&) noexcept;
    ~sqlite_transaction() override;

    result<void> begin(on_locked locked) override;
    result<void> join() override;
    result<locked_record> lock(const record_id& id) override;
    result<void> save(const record_id& id, const record& after, std::uint64_t seen_fence) override;
    void leave(const record_id& id) override;
    result<void> commit() override;
    void rollback() override;
    [[nodiscard]] const void* connection() const override;
    [[nodiscard]] std::string_view tables() const override;

private:
    class state;
    std::unique_ptr<state> state_;
};

} // namespace semel
