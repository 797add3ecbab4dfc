// Orders in PostgreSQL: each order and its record are one transaction on the application's own
// connection.
#include <string>

#include <semel/databases/postgres/transaction.hpp>
#include <semel/engine.hpp>
#include <semel/open.hpp>

#include "postgres_connection.hpp"
#include "support.hpp"

namespace {

semel::request order(std::string key) {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key)};
}

} // namespace

int main() {
    if (example::server() == nullptr) return example::skipped;
    example::tables all{"semel_example_transaction"};
    semel::engine engine{semel::open_store(example::server()).value()};
    const auto db = example::connect();
    semel::postgres_transaction here{db.get()}; // keep it for many transactions

    const auto create = [&](const char* item) {
        return engine.transact<std::string>(here, order("cart-17"), [&] {
            return example::run(db.get(), std::string{"INSERT INTO orders (item) VALUES ('"} +
                                              item + "') RETURNING id");
        });
    };
    const auto first = create("book");
    const auto again = create("book");
    example::claim(first.executed() && again.replayed() && first.value() == again.value(),
                   "the repeat got the first order's number");
    example::claim(all.orders() == "1", "there is one order");

    // The work needs no answer of this statement, so it travels with the record and COMMIT.
    const auto queued =
        engine.transact<std::string>(here, order("cart-18"), [](semel::postgres_connection& on) {
            PQenterPipelineMode(on.native());
            const int sent =
                PQsendQueryParams(on.native(), "INSERT INTO orders (item) VALUES ('pen')", 0,
                                  nullptr, nullptr, nullptr, nullptr, 0);
            if (sent != 1) throw std::runtime_error{PQerrorMessage(on.native())};
            return std::string{"a pen is on its way"};
        });
    example::claim(queued.executed() && all.orders() == "2", "a queued statement counts, too");

    // In a transaction of the application nothing counts before it commits.
    const auto join = [&] {
        return engine.execute_in<void>(here, order("cart-19"), [&] {
            example::run(db.get(), "INSERT INTO orders (item) VALUES ('lamp')");
        });
    };
    example::run(db.get(), "BEGIN");
    const auto provisional = join();
    example::run(db.get(), "ROLLBACK");
    example::run(db.get(), "BEGIN");
    const auto final = join();
    example::run(db.get(), "COMMIT");
    example::claim(provisional.executed() && final.executed() && all.orders() == "3",
                   "a rolled back order runs again, and once");
    return 0;
}
