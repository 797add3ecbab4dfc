// Payments of an Asio program: one loop, and whatever is spawned on it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "semel/asio/transaction.hpp"
#include "stores/sql/payments.hpp"

namespace semel {

namespace asio = boost::asio;
template <class T> using awaitable = asio::awaitable<T>;

inline awaitable<void> pause(std::chrono::milliseconds how_long) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer{executor, how_long};
    co_await timer.async_wait(asio::use_awaitable);
}

// Sends it and waits for all that it gives; the text of the last one's error, or "".
inline awaitable<std::string> run_on(pg_conn* connection, socket_waiter& waits, std::string text) {
    PQsendQuery(connection, text.c_str());
    auto op = async_results(connection, waits);
    const auto got = co_await std::move(op);
    co_return got.empty() ? "" : PQresultErrorMessage(got.back().get());
}

inline awaitable<std::string> run_on(postgres_connection& on, std::string text) {
    return run_on(on.native(), on.waits(), std::move(text));
}

inline void queue_on(pg_conn* connection, const std::string& text) {
    PQenterPipelineMode(connection);
    PQsendQueryParams(connection, text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
}

class LoopedPayments : public SqlTransaction {
protected:
    using answer = outcome<std::string>;

    std::string paying() { return "INSERT INTO " + payment_table() + " VALUES (5)"; }

    template <class T> static awaitable<void> keep(awaitable<T> what, std::optional<T>& in) {
        auto end = co_await std::move(what);
        in.emplace(std::move(end));
    }
    template <class T> void spawn(awaitable<T> what, std::optional<T>& end) {
        asio::co_spawn(loop_, keep(std::move(what), end), [](const std::exception_ptr& thrown) {
            if (thrown) std::rethrow_exception(thrown);
        });
    }
    template <class T> T run_alone(awaitable<T> what) {
        std::optional<T> end;
        spawn(std::move(what), end);
        loop_.restart();
        loop_.run();
        return std::move(end).value();
    }

    asio::io_context loop_{1};
};

} // namespace semel
