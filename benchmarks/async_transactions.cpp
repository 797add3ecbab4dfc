#include "async_transactions.hpp"

#include "semel/asio/transaction.hpp"

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

asio::awaitable<std::string> order_on(postgres_connection& at) {
    PGconn* const on = at.native();
    require(PQsendQueryPrepared(on, "order", 0, nullptr, nullptr, nullptr, 0) == 1,
            PQerrorMessage(on));
    auto op = async_results(at);
    const auto got = co_await std::move(op);
    require(PQresultStatus(got.at(0).get()) == PGRES_COMMAND_OK, PQerrorMessage(on));
    co_return answer_body();
}

std::string queue_order(PGconn* on) {
    require(PQenterPipelineMode(on) == 1, PQerrorMessage(on));
    require(PQsendQueryPrepared(on, "order", 0, nullptr, nullptr, nullptr, 0) == 1,
            PQerrorMessage(on));
    return answer_body();
}

// An application's connection with a statement of its own, and its place on a loop.
struct desk {
    desk(const std::string& url, asio::io_context& loop)
        : on(url), waits(loop.get_executor()), here(on.native(), waits) {
        on.prepare_order();
    }

    postgres_client on;
    asio_waiter waits;
    postgres_transaction here;
};

// Connections that the callers of one loop take turns on.
class shared_desks {
public:
    shared_desks(const std::string& url, asio::io_context& loop, std::size_t connections)
        : on_(connect(url, connections)), pool_(handles(), asio_waiters{loop.get_executor()}) {}

    postgres_pool& pool() { return pool_; }

private:
    using clients = std::vector<std::unique_ptr<postgres_client>>;

    static clients connect(const std::string& url, std::size_t connections) {
        clients made;
        for (std::size_t i = 0; i < connections; ++i) {
            made.push_back(std::make_unique<postgres_client>(url));
            made.back()->prepare_order();
        }
        return made;
    }
    std::vector<PGconn*> handles() const {
        std::vector<PGconn*> made;
        for (const auto& one : on_) made.push_back(one->native());
        return made;
    }

    const clients on_;
    postgres_pool pool_;
};

} // namespace

class async_transactions::state {
public:
    state(engine& on, const std::string& url, std::size_t callers,
          std::function<std::uint64_t()> next_key)
        : engine_(on), next_key_(std::move(next_key)) {
        for (std::size_t i = 0; i < threads; ++i) {
            loops_.push_back(std::make_unique<asio::io_context>(1));
            pools_.push_back(
                std::make_unique<shared_desks>(url, *loops_[i], pooled_connections / threads));
        }
        for (std::size_t i = 0; i < callers; ++i) {
            desks_.push_back(std::make_unique<desk>(url, *loops_[i % threads]));
        }
    }

    std::size_t run(work how, seconds most) {
        std::atomic<std::size_t> done = 0;
        const stopwatch watch;
        for (std::size_t i = 0; i < desks_.size(); ++i) {
            asio::co_spawn(*loops_[i % threads],
                           call(*desks_[i], pools_[i % threads]->pool(), how, watch, most, done),
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
    asio::awaitable<void> call(desk& at, postgres_pool& in, work how, const stopwatch& watch,
                               seconds most, std::atomic<std::size_t>& done) {
        const bool pooled = how == work::pooled || how == work::pooled_queued;
        for (; watch.elapsed() < most; ++done) {
            auto op = pooled ? transact<postgres_pool_transaction>(in.transaction(), how)
                             : transact<postgres_transaction&>(at.here, how);
            const auto out = co_await std::move(op);
            require(out, "semel: not executed");
        }
    }

    // On a handle of its own, or on one that outlives it.
    template <class Handle> asio::awaitable<bool> transact(Handle on, work how);

    engine& engine_;
    const std::function<std::uint64_t()> next_key_;
    std::vector<std::unique_ptr<asio::io_context>> loops_;
    std::vector<std::unique_ptr<desk>> desks_;
    std::vector<std::unique_ptr<shared_desks>> pools_;
};

template <class Handle>
asio::awaitable<bool> async_transactions::state::transact(Handle on, work how) {
    request what = request_for(key_of(next_key_()));
    if (how == work::waits || how == work::pooled) {
        auto waiting = [](postgres_connection& at) { return order_on(at); };
        auto op =
            engine_.async_transact<std::string>(std::forward<Handle>(on), std::move(what), waiting);
        const auto out = co_await std::move(op);
        co_return out.executed();
    }
    auto queueing = [](postgres_connection& at) { return queue_order(at.native()); };
    auto op =
        engine_.async_transact<std::string>(std::forward<Handle>(on), std::move(what), queueing);
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
