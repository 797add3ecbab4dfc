// The statements around the work of a transaction that semel begins and commits.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "databases/mysql/transaction/caller_connection.hpp"
#include "databases/mysql/transaction/transaction_texts.hpp"
#include "semel/base/result.hpp"

namespace semel::mysql {

// Of such a transaction: a connection has one at a time.
inline constexpr const char* own_savepoint = "semel_own";

// First in a transaction: nothing has been waited for since the statement began.
[[nodiscard]] statement clock_check();
void add_begin(std::vector<statement>& to, bool autocommits);
void add_commit(std::vector<statement>& to, bool autocommits);

// The usual transaction as two statements that the session keeps, where the server is MariaDB: the
// record is new, and will be as the last one was. They mean the tables of the default database in
// which they were prepared.
class own_statements {
public:
    own_statements(caller_connection& on, const transaction_texts& texts, duration lock_wait)
        : on_(on), texts_(texts), lock_wait_(lock_wait) {}

    // Prepares them if they are not kept. Not the first time: a handle that has one transaction
    // would pay for the preparation and have nothing of it.
    [[nodiscard]] bool prepare(bool autocommits);
    [[nodiscard]] bool ready() const { return kept_ && kept_->ready(); }
    [[nodiscard]] const std::string& database() const { return kept_->database; }

    // Begins, and inserts the row. Values as transaction_texts::claim() says → now, floor, schema
    [[nodiscard]] result<kept_statement::numbers> claim(std::span<const kept_value> values,
                                                        bool waits);
    // Updates the row, and commits. Values as transaction_texts::finish() says.
    [[nodiscard]] result<void> finish(std::span<const kept_value> values);
    // The session had forgotten the last one, and has executed nothing. They are kept no more.
    [[nodiscard]] bool was_forgotten();

private:
    struct statements {
        std::string database;
        bool autocommits;
        kept_statement claim;
        kept_statement claim_at_once;
        kept_statement finish;
        [[nodiscard]] bool ready() const {
            return claim.ready() && claim_at_once.ready() && finish.ready();
        }
    };
    [[nodiscard]] bool fits(bool autocommits) const;
    [[nodiscard]] std::optional<statements> make(bool autocommits);

    caller_connection& on_;
    const transaction_texts& texts_;
    const duration lock_wait_;
    std::optional<statements> kept_;
    enum class keeping { later, yes, never } keeping_ = keeping::later;
};

} // namespace semel::mysql
