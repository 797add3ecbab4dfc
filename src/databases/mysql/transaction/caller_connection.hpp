// A caller's MYSQL*: statements that travel together, whatever the connection's settings are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "databases/mysql/client/connection.hpp"
#include "databases/mysql/client/errors.hpp"
#include "databases/mysql/transaction/kept_statement.hpp"
#include "databases/mysql/transaction/statement.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/databases/mysql.hpp"

namespace semel::mysql {

// What an error says about a COMMIT that was sent along.
enum class commit { none, sent };

// Savepoints of one name replace each other, so no two of ours have the same in a session.
[[nodiscard]] std::string new_savepoint();

// In front of what must not commit by itself: errc::transaction_broken (1305) where the server is
// in no transaction. The client does not know: it remembers what the last answer has said, and an
// error says nothing. Without autocommit the next transaction has begun, and that is fine.
void add_transaction_check(std::vector<statement>& to);
inline constexpr const char* no_transaction_any_more =
    "the connection is in no transaction any more: an error has ended it, as a deadlock does; roll "
    "back and begin again";

// One thread at a time. Waits as long as the connection's own time-outs say.
class caller_connection {
public:
    explicit caller_connection(st_mysql* handle, mysql_dialect dialect = mysql_dialect::automatic)
        : it_(handle), dialect_(dialect) {}

    // No result waits to be fetched.
    [[nodiscard]] bool idle() const;
    [[nodiscard]] bool in_transaction() const; // as far as the client knows
    [[nodiscard]] bool autocommits() const;
    // The connection was lost, and the caller has not reconnected it since.
    [[nodiscard]] bool lost() const;
    // As asked for. Else what the server's greeting lets expect, until it has shown otherwise.
    [[nodiscard]] mysql_dialect dialect() const;
    // How the server calls the isolation level of the session, as far as it is known.
    [[nodiscard]] std::string_view isolation_variable();
    // The last statement was refused for its name. → it has another one, to be tried now.
    [[nodiscard]] bool renames_isolation_variable();
    // Of the last statement, also one of the caller's; 0 if it has not failed.
    [[nodiscard]] unsigned last_error() const;
    // Of the last run; 0 if it has not failed.
    [[nodiscard]] unsigned failed_with() const { return failed_with_; }

    // The default database, if the server tells the client of each change.
    [[nodiscard]] std::optional<std::string_view> told_database() const;

    // One round trip where the server knows compound statements: no setting of the connection is
    // needed for that. Stops at the first error, or where a statement does not do what it must; the
    // rows of those that give any.
    [[nodiscard]] result<std::vector<rows>> run(const std::vector<statement>& all,
                                                commit with = commit::none);
    // The same, and row locks are waited for that long. MySQL counts in seconds, rounds up, and
    // waits one at least; it takes two round trips more.
    [[nodiscard]] result<std::vector<rows>> run_waiting(const std::vector<statement>& all,
                                                        duration patience);

    // For a server that knows compound statements. Not ready where it cannot be kept.
    [[nodiscard]] kept_statement keep(std::vector<statement> all);
    [[nodiscard]] kept_statement keep_waiting(std::vector<statement> all, duration patience);
    [[nodiscard]] result<kept_statement::numbers>
    run(kept_statement& one, std::span<const kept_value> values, commit with = commit::none);

    // A statement of ours was the victim of a deadlock since.
    [[nodiscard]] bool met_deadlock() const { return met_deadlock_; }
    void forget_deadlock() { met_deadlock_ = false; }

    // Reconnects a lost connection, with the settings with which it was made.
    [[nodiscard]] bool reconnect(local_time deadline);

    // Chooses the default database. The connection is closed where that fails.
    void use(const std::string& database);

    // Fetches what the work has left behind. If that is not ours to fetch the connection is closed.
    void clear();

    // The end of the connection is a rollback, and the end of its locks.
    void close() noexcept;

private:
    // → rows that its last statement has changed.
    [[nodiscard]] result<std::uint64_t> send(const std::string& text, commit with,
                                             std::vector<rows>& to);
    [[nodiscard]] std::optional<result<std::vector<rows>>>
    run_compound(const std::string& text, const std::vector<statement>& all, commit with);
    [[nodiscard]] result<std::vector<rows>> run_each(const std::vector<statement>& all,
                                                     commit with);
    [[nodiscard]] result<void> run_one(const statement& it, commit with, std::vector<rows>& to);
    // The one that did not do what it must, if that is why a compound statement has failed.
    [[nodiscard]] static const statement* unmet(unsigned code, const std::vector<statement>& all);
    [[nodiscard]] failure failed(commit with);
    [[nodiscard]] failure failed(const native_error& why, commit with);

    st_mysql* const it_;
    mysql_dialect dialect_;
    std::string_view isolation_; // none before it is asked for
    bool renamed_ = false;       // it was the wrong one
    bool lost_ = false;          // it was lost; the caller may have reconnected it
    bool met_deadlock_ = false;
    unsigned failed_with_ = 0;
};

} // namespace semel::mysql
