// Many callers on two connections, without a thread for each: coroutines of Boost.Asio.
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include <semel/asio/transaction.hpp>
#include <semel/engine.hpp>
#include <semel/open.hpp>

#include "postgres_connection.hpp"
#include "support.hpp"

namespace {

namespace asio = boost::asio;

// Work that waits for the answer of its statement.
asio::awaitable<std::string> create_order(semel::execution&, semel::postgres_connection& on) {
    if (PQsendQuery(on.native(), "INSERT INTO orders (item) VALUES ('book') RETURNING id") != 1) {
        throw std::runtime_error{PQerrorMessage(on.native())};
    }
    auto sent = semel::async_results(on);
    const auto got = co_await std::move(sent);
    if (PQresultStatus(got.at(0).get()) != PGRES_TUPLES_OK) {
        throw std::runtime_error{PQerrorMessage(on.native())};
    }
    co_return PQgetvalue(got.at(0).get(), 0, 0);
}

asio::awaitable<void> call(semel::engine& engine, semel::postgres_pool& pool, std::string key,
                           std::vector<std::string>& answers) {
    semel::request request{
        .tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key), .content = {}};
    auto op =
        engine.async_transact<std::string>(pool.transaction(), std::move(request), create_order);
    const auto out = co_await std::move(op);
    answers.push_back(out.value());
}

} // namespace

int main() {
    if (example::server() == nullptr) return example::skipped;
    example::tables all{"semel_example_pool"};
    semel::engine engine{semel::open_store(example::server()).value()};
    const example::connection connections[]{example::connect(), example::connect()};
    asio::io_context loop{1};
    semel::postgres_pool pool{{connections[0].get(), connections[1].get()},
                              semel::asio_waiters{loop.get_executor()}};

    std::vector<std::string> answers;
    for (int i = 0; i < 20; ++i) { // each key comes twice
        asio::co_spawn(loop, call(engine, pool, "cart-" + std::to_string(i % 10), answers),
                       [](const std::exception_ptr& thrown) {
                           if (thrown) std::rethrow_exception(thrown);
                       });
    }
    loop.run();

    example::claim(answers.size() == 20, "every caller got an answer");
    example::claim(all.orders() == "10", "there are ten orders, although each was asked for twice");
    example::claim(pool.count().handed_over > 0,
                   "the end of one transaction travelled with the beginning of the next");
    return 0;
}
