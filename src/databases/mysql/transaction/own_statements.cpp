#include "databases/mysql/transaction/own_statements.hpp"

#include <string_view>
#include <utility>

#include "databases/mysql/store/statements.hpp"
#include "databases/mysql/transaction/failures.hpp"

namespace semel::mysql {

namespace {

constexpr int claim_values = 10;

} // namespace

statement clock_check() {
    return {transaction_texts::clock_goes(), statement::expects::truth,
            refused(errc::unsupported, "the time of this session was set, and would be the "
                                       "record's: SET timestamp = DEFAULT first")};
}

void add_begin(std::vector<statement>& to, bool autocommits) {
    to.push_back(clock_check());
    // A deadlock ends the transaction, and work that goes on all the same would commit.
    if (autocommits) to.push_back({"SET autocommit=0"});
    to.push_back({"SET TRANSACTION ISOLATION LEVEL READ COMMITTED"});
    to.push_back({"START TRANSACTION READ WRITE"});
    to.push_back({std::string{"SAVEPOINT "} + own_savepoint});
}

void add_commit(std::vector<statement>& to, bool autocommits) {
    to.push_back({"COMMIT AND NO CHAIN NO RELEASE"});
    if (autocommits) to.push_back({"SET autocommit=1"});
}

bool own_statements::fits(bool autocommits) const {
    return ready() && kept_->autocommits == autocommits &&
           on_.told_database() == std::optional<std::string_view>{kept_->database};
}

bool own_statements::prepare(bool autocommits) {
    if (keeping_ == keeping::never || on_.dialect() != mysql_dialect::mariadb) return false;
    if (std::exchange(keeping_, keeping::yes) == keeping::later) return false;
    if (!fits(autocommits)) kept_ = make(autocommits);
    if (!kept_) keeping_ = keeping::never;
    return kept_.has_value();
}

// The client must hear of every USE.
std::optional<own_statements::statements> own_statements::make(bool autocommits) {
    auto got = on_.run({{transaction_texts::default_database_if_told()}});
    if (!got || !got->front().next() || got->front().is_null(0)) return std::nullopt;
    std::string database{got->front().bytes(0)};
    if (on_.told_database() != std::optional<std::string_view>{database}) return std::nullopt;

    row_buffer any;
    any.add_row();
    for (int i = 0; i < claim_values; ++i) any.add_sql("?");
    // A variable: the record has one time.
    std::vector<statement> in{
        {"DECLARE semel_now BIGINT DEFAULT " + std::string{clock_expression}}};
    add_begin(in, autocommits);
    in.push_back({texts_.claim(any, "semel_now")});
    in.push_back({texts_.facts("semel_now")});
    std::vector<statement> out{{std::string{"RELEASE SAVEPOINT "} + own_savepoint}};
    out.push_back({texts_.finish(), statement::expects::one_row, row_is_gone()});
    add_commit(out, autocommits);

    statements made{.database = std::move(database),
                    .autocommits = autocommits,
                    .claim = on_.keep_waiting(in, lock_wait_),
                    .claim_at_once = on_.keep_waiting(in, duration{}),
                    .finish = on_.keep(std::move(out))};
    if (!made.ready()) return std::nullopt;
    return made;
}

result<kept_statement::numbers> own_statements::claim(std::span<const kept_value> values,
                                                      bool waits) {
    return on_.run(waits ? kept_->claim : kept_->claim_at_once, values);
}

// The work may have left the database, which these statements would not notice.
result<void> own_statements::finish(std::span<const kept_value> values) {
    if (on_.told_database() != std::optional<std::string_view>{kept_->database}) return moved();
    auto done = on_.run(kept_->finish, values, commit::sent);
    if (!done) return std::move(done).error();
    return {};
}

bool own_statements::was_forgotten() {
    if (on_.failed_with() != number::forgotten) return false;
    kept_.reset();
    return true;
}

} // namespace semel::mysql
