// Transactions that wait for each other, on databases that lock rows.
#pragma once

#include <chrono>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>

#include "stores/sql/payments.hpp"

namespace semel {

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

    // The work's first half is done: now the survivor waits for it, and the
    // transaction that runs the second half then waits for the survivor.
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
