// Payments in a table of the application, and their records, in one transaction.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>

#include "database.hpp"
#include "semel/engine.hpp"

namespace semel {

struct refused_payment : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class SqlTransaction : public database_test {
protected:
    SqlTransaction() { run("CREATE TABLE " + payment_table() + " (amount INT)"); }
    ~SqlTransaction() override {
        here_ = database_transaction{mine_.native()};
        if (in_transaction()) run("ROLLBACK");
        run("DROP TABLE " + payment_table());
    }

    std::string payment_table() { return prefix() + "payment"; }
    // Statements separated by semicolons, one after the other.
    void run(const std::string& text) {
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t end = std::min(text.find(';', at), text.size());
            mine_.sql(text.substr(at, end - at));
            at = end + 1;
        }
    }
    std::string pay(std::string answer = {}) {
        run("INSERT INTO " + payment_table() + " VALUES (5)");
        return answer;
    }
    // As others see it.
    std::string payments() { return sql("SELECT count(*) FROM " + payment_table()); }
    std::string recorded() { return sql("SELECT count(*) FROM " + record_table()); }
    bool in_transaction() { return is_in_transaction(mine_); }

    static request payment(std::string key = "p1") {
        return {.tenant = "acme", .operation = "PAY", .key = std::move(key)};
    }
    outcome<std::string> transact(const std::function<std::string()>& work,
                                  request what = payment()) {
        return engine_.transact<std::string>(here_, std::move(what), work);
    }
    outcome<std::string> join(const std::function<std::string()>& work, request what = payment()) {
        return engine_.execute_in<std::string>(here_, std::move(what), work);
    }
    static errc why(const outcome<std::string>& of) {
        return of.why() ? of.why()->code : errc::internal;
    }
    database_transaction port_on(database_client& client) {
        return database_transaction{client.native(), {.table_prefix = prefix()}};
    }

    database_client mine_;
    database_engine engine_{
        open(), {.failures = {when<refused_payment>(exception_class::final)}}, {.sweep = {}}};
    database_transaction here_ = port_on(mine_);
};

} // namespace semel
