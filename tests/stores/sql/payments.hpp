// Payments in a table of the application, and their records, in one transaction.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
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

// Two accounts, and a transaction that takes them in the other order than the work does.
class SqlDeadlock : public SqlTransaction {
protected:
    SqlDeadlock() {
        sql("CREATE TABLE " + account_table() + " (id INT PRIMARY KEY, money INT)");
        sql("INSERT INTO " + account_table() + " VALUES (1, 0), (2, 0)");
    }
    ~SqlDeadlock() override { sql("DROP TABLE " + account_table()); }

    std::string account_table() { return prefix() + "account"; }
    std::string add_to(int account) {
        return "UPDATE " + account_table() +
               " SET money = money + 1 WHERE id = " + std::to_string(account);
    }
    std::string money() { return sql("SELECT sum(money) FROM " + account_table()); }

    // The work's first half is done: now the survivor waits for it, and whoever runs the second
    // half then waits for the survivor.
    void run_first_half() {
        run(add_to(1));
        first_half_.count_down();
        const local_time patience = local_clock::now() + std::chrono::seconds{30};
        while (!waits_for_lock(account_table())) {
            if (local_clock::now() > patience) throw std::runtime_error{"the survivor waits not"};
            std::this_thread::sleep_for(std::chrono::milliseconds{10});
        }
    }
    void run_into_deadlock() {
        run_first_half();
        run(add_to(2));
    }
    std::jthread start_survivor() {
        return std::jthread{[this] {
            EXPECT_NO_THROW({
                database_client other;
                begin_as_survivor(other);
                other.sql(add_to(2));
                first_half_.wait();
                other.sql(add_to(1));
                other.sql("COMMIT");
            });
        }};
    }

    std::latch first_half_{1};
};

} // namespace semel
