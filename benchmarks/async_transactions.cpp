#include "async_transactions.hpp"

#include "semel/transaction/postgres_asio.hpp"

#include <libpq-fe.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include <atomic>
#include <exception>
#include <utility>
#include <vector>

#include "postgres_client.hpp"
#include "workload.hpp"

// g++ 12 inlines only one half of how Asio's coroutines get their memory and give it back.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

namespace semel::bench {

namespace {

namespace asio = boost::asio;
constexpr std::size_t threads = 2;

// An application's connection with a statement of its own, and its place on a loop.
struct desk {
    desk(const std::string& url, asio::io_context& loop)
        : on(url),
          waits(loop.get_executor()),
          port(make_async_postgres_transaction(on.native(), waits)) {
        on.prepare_order();
    }

    asio::awaitable<std::string> order() {
        require(PQsendQueryPrepared(on.native(), "order", 0, nullptr, nullptr, nullptr, 0) == 1,
                PQerrorMessage(on.native()));
        auto op = async_results(on.native(), waits);
        const auto got = co_await std::move(op);
        require(PQresultStatus(got.at(0).get()) == PGRES_COMMAND_OK, PQerrorMessage(on.native()));
        co_return answer_body();
    }

    postgres_client on;
    asio_waiter waits;
    std::unique_ptr<async_transaction_port> port;
};

} // namespace

class async_transactions::state {
public:
    state(engine& on, const std::string& url, std::size_t callers,
          std::function<std::uint64_t()> next_key)
        : engine_(on), next_key_(std::move(next_key)) {
        for (std::size_t i = 0; i < threads; ++i) {
            loops_.push_back(std::make_unique<asio::io_context>(1));
        }
        for (std::size_t i = 0; i < callers; ++i) {
            desks_.push_back(std::make_unique<desk>(url, *loops_[i % threads]));
        }
    }

    std::size_t run(work how, seconds most) {
        std::atomic<std::size_t> done = 0;
        const stopwatch watch;
        for (std::size_t i = 0; i < desks_.size(); ++i) {
            asio::co_spawn(*loops_[i % threads], call(*desks_[i], how, watch, most, done),
                           [](const std::exception_ptr& thrown) {
                               if (thrown) std::rethrow_exception(thrown);
                           });
        }
        static_cast<void>(time_threads(threads, [&](std::size_t i) {
            loops_[i]->restart();
            loops_[i]->run();
        }));
        return done;
    }

private:
    asio::awaitable<void> call(desk& at, work how, const stopwatch& watch, seconds most,
                               std::atomic<std::size_t>& done) {
        for (; watch.elapsed() < most; ++done) {
            const auto out = co_await transact(at, how);
            require(out, "semel: not executed");
        }
    }

    asio::awaitable<bool> transact(desk& at, work how);

    engine& engine_;
    const std::function<std::uint64_t()> next_key_;
    std::vector<std::unique_ptr<asio::io_context>> loops_;
    std::vector<std::unique_ptr<desk>> desks_;
};

asio::awaitable<bool> async_transactions::state::transact(desk& at, work how) {
    request what = request_for(key_of(next_key_()));
    if (how == work::waits) {
        auto waiting = [&at] { return at.order(); };
        auto op = engine_.async_transact<std::string>(*at.port, std::move(what), waiting);
        const auto out = co_await std::move(op);
        co_return out.executed();
    }
    auto queueing = [&at] {
        at.on.queue("order");
        return answer_body();
    };
    if (how == work::queued) {
        auto op = engine_.async_transact<std::string>(*at.port, std::move(what), queueing);
        const auto out = co_await std::move(op);
        co_return out.executed();
    }
    auto op = engine_.async_transact_blind<std::string>(*at.port, std::move(what), queueing);
    const auto out = co_await std::move(op);
    co_return out.executed();
}

async_transactions::async_transactions(engine& on, const std::string& url, std::size_t callers,
                                       std::function<std::uint64_t()> next_key)
    : state_(std::make_unique<state>(on, url, callers, std::move(next_key))) {}
async_transactions::~async_transactions() = default;

std::size_t async_transactions::run(work how, seconds most) {
    return state_->run(how, most);
}

} // namespace semel::bench
