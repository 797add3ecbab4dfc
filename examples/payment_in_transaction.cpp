// A payment in the application's own database: the money moves and the record is written in one
// transaction, so there is never one without the other, whatever crashes.
#include <sqlite3.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <semel/databases/sqlite/transaction.hpp>
#include <semel/engine.hpp>
#include <semel/open.hpp>

#include "support.hpp"

namespace {

struct closer {
    void operator()(sqlite3* it) const { sqlite3_close(it); }
};
using connection = std::unique_ptr<sqlite3, closer>;

connection connect(const std::string& file) {
    sqlite3* opened = nullptr;
    if (sqlite3_open(file.c_str(), &opened) != SQLITE_OK) throw std::runtime_error{"cannot open"};
    return connection{opened};
}

void run(const connection& on, const std::string& sql) {
    if (sqlite3_exec(on.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
        throw std::runtime_error{sqlite3_errmsg(on.get())};
    }
}

int balance(const connection& on, const std::string& account) {
    const auto keep = [](void* into, int, char** values, char**) {
        *static_cast<int*>(into) = std::stoi(values[0]);
        return 0;
    };
    int found = 0;
    const std::string sql = "SELECT balance FROM account WHERE name = '" + account + "'";
    sqlite3_exec(on.get(), sql.c_str(), keep, &found, nullptr);
    return found;
}

void move_ten(const connection& on) {
    run(on, "UPDATE account SET balance = balance - 10 WHERE name = 'ada'");
    run(on, "UPDATE account SET balance = balance + 10 WHERE name = 'bob'");
}

} // namespace

int main() {
    const example::scratch folder;
    // The store makes its tables in the file that holds the accounts.
    semel::engine engine{semel::open_store(folder.url()).value()};
    const connection db = connect(folder.file("records.db"));
    run(db, "CREATE TABLE account (name TEXT PRIMARY KEY, balance INTEGER NOT NULL)");
    run(db, "INSERT INTO account VALUES ('ada', 100), ('bob', 0)");

    semel::sqlite_transaction here{db.get()};
    const semel::request payment{.tenant = "bank", .operation = "PAYMENT", .key = "transfer-1"};
    bool power_fails = true;
    const auto pay = [&] {
        return engine.transact<std::string>(here, payment, [&] {
            move_ten(db);
            if (power_fails) throw std::runtime_error{"the power failed"};
            return std::string{"ada paid bob 10"};
        });
    };

    try {
        pay().value();
    } catch (const std::runtime_error&) {
        power_fails = false;
    }
    example::claim(balance(db, "ada") == 100, "what failed in the middle left nothing behind");

    const auto paid = pay();
    const auto again = pay();
    example::claim(paid.executed() && again.replayed(), "the repeat got the first answer");
    example::claim(balance(db, "ada") == 90 && balance(db, "bob") == 10, "the money moved once");

    // The same inside a transaction that the application owns: nothing counts until it commits.
    semel::request joined = payment;
    joined.key = "transfer-2";
    const auto pay_joined = [&] {
        return engine.execute_in<std::string>(here, joined, [&] {
            move_ten(db);
            return std::string{"ada paid bob another 10"};
        });
    };
    run(db, "BEGIN IMMEDIATE");
    const auto provisional = pay_joined();
    run(db, "ROLLBACK");
    run(db, "BEGIN IMMEDIATE");
    const auto final = pay_joined();
    run(db, "COMMIT");
    example::claim(provisional.executed() && final.executed(), "a rolled back payment runs again");
    example::claim(balance(db, "bob") == 20, "the money moved once more, and only once");
    return 0;
}
