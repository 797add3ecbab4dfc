// The engine in a program of coroutines: fifty repeats wait without holding a thread.
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <future>
#include <string>
#include <vector>

#include <semel/asio.hpp>
#include <semel/open.hpp>

#include "support.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

namespace {

asio::awaitable<std::string> ask_the_warehouse(std::atomic<int>& orders) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer answer{executor, 20ms};
    co_await answer.async_wait(asio::use_awaitable);
    co_return "order-" + std::to_string(++orders);
}

// Request and work are named first, and the operation stands alone in its co_await: g++ 12 destroys
// some temporaries of a co_await expression twice.
asio::awaitable<std::string> create(semel::engine& engine, std::atomic<int>& orders) {
    semel::request request{.tenant = "acme", .operation = "ORDER_CREATE", .key = "cart-17"};
    auto work = [&orders](semel::execution&) { return ask_the_warehouse(orders); };
    auto op = engine.async_execute<std::string>(std::move(request), std::move(work));
    auto outcome = co_await std::move(op);
    co_return outcome.value();
}

} // namespace

int main() {
    const example::scratch folder;
    semel::engine engine{semel::open_store(folder.url()).value()};
    asio::thread_pool pool{2};
    std::atomic<int> orders = 0;

    std::vector<std::future<std::string>> answers;
    for (int i = 0; i < 50; ++i) {
        answers.push_back(asio::co_spawn(pool, create(engine, orders), asio::use_future));
    }
    bool same = true;
    for (auto& one : answers) same = one.get() == "order-1" && same;

    example::claim(same, "all fifty got the same answer");
    example::claim(orders == 1, "there is one order");
    return 0;
}
