// An order and the event that tells the warehouse about it, in one transaction: there is never one
// without the other. A relay carries the event on; the warehouse gets it under one id, however
// often the order was asked for.
#include <sqlite3.h>

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <semel/databases/sqlite/outbox.hpp>
#include <semel/databases/sqlite/transaction.hpp>
#include <semel/engine.hpp>
#include <semel/open.hpp>
#include <semel/outbox.hpp>
#include <semel/outbox/open.hpp>
#include <semel/outbox/relay.hpp>
#include <semel/outbox/table.hpp>

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

// A sink is one function: this one is the warehouse itself.
class warehouse final : public semel::outbox::sink {
public:
    explicit warehouse(std::vector<semel::outbox::message>& shelf) : shelf_(shelf) {}

    void deliver(std::span<const semel::outbox::message> batch, semel::outbox::order,
                 std::span<semel::outbox::delivery> answers) override {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            shelf_.push_back(batch[i]);
            answers[i].how = semel::outbox::delivered::yes;
        }
    }

private:
    std::vector<semel::outbox::message>& shelf_;
};

} // namespace

int main() {
    const example::scratch folder;
    semel::engine engine{semel::open_store(folder.url()).value()};
    const connection db = connect(folder.file("records.db"));
    run(db, "CREATE TABLE orders (id TEXT PRIMARY KEY)");

    semel::sqlite_transaction here{db.get()};
    const semel::outbox::appender outbox;
    semel::outbox::sqlite_writer tx{db.get()};
    bool power_fails = true;
    const auto order = [&] {
        return engine.transact<std::string>(
            here, {.tenant = "shop", .operation = "ORDER_CREATE", .key = "order-1"},
            [&](semel::execution& its) {
                run(db, "INSERT INTO orders VALUES ('order-1')");
                outbox
                    .append(tx,
                            {.topic = "orders", .key = "order-1", .payload = R"({"item":"pen"})"},
                            semel::outbox::origin_of(its))
                    .value();
                if (power_fails) throw std::runtime_error{"the power failed"};
                return std::string{"ordered"};
            });
    };
    try {
        order().value();
    } catch (const std::runtime_error&) {
        power_fails = false;
    }
    const auto first = order();
    const auto repeat = order();

    std::vector<semel::outbox::message> shelf;
    const auto relay =
        semel::outbox::open_relay({[&] { return semel::outbox::open_table(folder.url()); }},
                                  [&]() -> semel::result<std::unique_ptr<semel::outbox::sink>> {
                                      return std::unique_ptr<semel::outbox::sink>{
                                          std::make_unique<warehouse>(shelf)};
                                  },
                                  {.until = semel::outbox::relay_until::empty, .workers = 1})
            .value();
    relay->wait();

    example::claim(first.executed() && repeat.replayed(), "the order was made once");
    example::claim(shelf.size() == 1, "and the warehouse was told once");
    example::claim(shelf.at(0).event.headers.at(0).value == "order-1",
                   "the event carries the key of the request");
    return 0;
}
