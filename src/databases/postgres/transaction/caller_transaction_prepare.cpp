// Statements of the session, whose owner may forget them or move to other tables.
#include <libpq-fe.h>

#include "databases/postgres/client/schema.hpp"
#include "databases/postgres/transaction/caller_transaction.hpp"
#include "databases/postgres/transaction/transaction_failures.hpp"

namespace semel::postgres {

task<result<void>> caller_transaction::check_tables() {
    std::int64_t version = 0;
    auto there = co_await on_.query(tables_there_text(options_.table_prefix));
    if (!there) co_return std::move(there).error();
    if (number_in(*there) != 0) {
        auto found = co_await on_.query(version_text(options_.table_prefix));
        if (!found) co_return std::move(found).error();
        version = number_in(*found);
    }
    co_return check_version(version, options_.table_prefix);
}

bool caller_transaction::must_prepare_again(const native_failure& why) {
    outdated_ = knows_other_tables(why);
    if (!outdated_ && !has_forgotten(why)) return false;
    prepared_ = false;
    return true;
}

// Another port may have prepared the same on this connection before.
task<result<void>> caller_transaction::prepare() {
    if (!valid_prefix(options_.table_prefix)) {
        co_return refused(errc::invalid_argument,
                          "'" + options_.table_prefix + "' is not a table prefix");
    }
    auto there = co_await check_tables();
    if (!there) co_return there;
    const auto known = co_await on_.query("SELECT name FROM pg_prepared_statements WHERE name LIKE "
                                          "'semel\\_t.%'");
    if (!known) co_return known.error();
    std::vector<preparation> missing;
    std::string old;
    for (const auto& one : texts_.all()) {
        bool is_known = false;
        for (int row = 0; row < known->count(); ++row) is_known |= known->bytes(row, 0) == one.name;
        if (is_known && outdated_) old += "DEALLOCATE \"" + one.name + "\";";
        if (!is_known || outdated_) missing.push_back(one);
    }
    if (!old.empty()) {
        auto gone = co_await on_.query(std::move(old));
        if (!gone) co_return std::move(gone).error();
    }
    auto done = co_await on_.prepare(missing);
    if (!done) co_return done;
    prepared_ = true;
    outdated_ = false;
    co_return result<void>{};
}

task<result<std::vector<rows>>> caller_transaction::prepare_way_in(const held_key& key,
                                                                   const number& of) {
    // BEGIN may be known where the look is not.
    if (PQtransactionStatus(handle_) == PQTRANS_INERROR) {
        auto back = co_await on_.query("ROLLBACK");
        if (!back) co_return std::move(back).error();
    }
    auto ready = co_await prepare();
    if (!ready) co_return std::move(ready).error();
    auto asked = ask_way_in(key, of);
    auto got = co_await asked;
    co_return got;
}

} // namespace semel::postgres
