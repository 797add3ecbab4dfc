// Transactions for Boost.Asio programs: nothing blocks, and many connections share a few threads.
//
//   semel::asio_waiter waits{context.get_executor()};                  // one for each connection
//   const auto here = semel::make_async_postgres_transaction(connection, waits);
//   auto op  = engine.async_transact<order>(*here, std::move(request), std::move(work));
//   auto out = co_await std::move(op);
//
// The work is a plain function or a coroutine. A plain function queues its statements in libpq's
// pipeline, so that they travel with the record. (It calls PQenterPipelineMode first; blind work
// need not.) A coroutine waits for the answers of its statements:
//
//   auto work = [&](semel::execution&) -> boost::asio::awaitable<order> {
//       PQsendQueryParams(connection, …);
//       auto op  = semel::async_results(connection, waits);            // postgres_asio.hpp
//       auto got = co_await std::move(op);
//       …
//   };
//
// Keep op and co_await apart, and name request and work first: g++ 12 destroys some temporaries
// twice inside a co_await expression. Engine, port, waiter and connection outlive the operation. An
// executor of several threads needs no strand.
//
// If the work throws, the outcome keeps the exception, and value() throws it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <utility>

#include "semel/asio.hpp"
#include "semel/asio/waiter.hpp"

namespace semel {

namespace detail {

template <class T> using task_ended = std::pair<std::exception_ptr, T>;

template <class T, class Done> detached run_to_end(task<T> what, Done done) {
    task_ended<T> end;
    try {
        auto got = co_await what;
        end.second = std::move(got);
    } catch (...) {
        end.first = std::current_exception();
    }
    done(std::move(end));
}

} // namespace detail

// Runs a task in a coroutine of Asio: `auto op = semel::async_run(std::move(task)); auto got =
// co_await std::move(op);` If the task throws, co_await throws. T must be default-constructible.
template <class T> boost::asio::awaitable<T> async_run(task<T> what) {
    using ended = detail::task_ended<T>;
    auto initiate = [](auto handler, task<T> started) {
        auto executor = boost::asio::get_associated_executor(handler);
        auto guard = boost::asio::make_work_guard(executor);
        auto done = [handler = std::move(handler), executor,
                     guard = std::move(guard)](ended end) mutable {
            boost::asio::post(executor, [handler = std::move(handler), end = std::move(end),
                                         guard = std::move(guard)]() mutable {
                std::move(handler)(std::move(end));
            });
        };
        detail::run_to_end(std::move(started), std::move(done));
    };
    auto op = boost::asio::async_initiate<const boost::asio::deferred_t, void(ended)>(
        initiate, boost::asio::deferred, std::move(what));
    ended end = co_await std::move(op);
    if (end.first) std::rethrow_exception(end.first);
    co_return std::move(end.second);
}

namespace detail {

template <class T, class Work> class async_transaction {
public:
    async_transaction(engine& on, async_transaction_port& port, transacting how)
        : on_(&on), port_(&port), how_(how) {}

    template <class Handler> void operator()(Handler&& handler, request what, Work work) {
        const auto executor = boost::asio::get_associated_executor(handler);
        auto state = std::make_shared<asio_state<T, Work>>(std::move(work));
        auto starter = [state, executor](execution& run, unique_function<void(work_end)> done) {
            start_on<T, Work>(executor, state, run, std::move(done));
        };
        on_->start_transaction(*port_, std::move(what), std::move(starter), how_,
                               completion_of<T>(std::forward<Handler>(handler), state));
    }

private:
    engine* on_;
    async_transaction_port* port_;
    transacting how_;
};

template <class T, class Work>
auto start_transaction(engine& on, async_transaction_port& port, transacting how, request what,
                       Work work) {
    return boost::asio::async_initiate<const boost::asio::deferred_t, void(outcome<T>)>(
        async_transaction<T, Work>{on, port, how}, boost::asio::deferred, std::move(what),
        std::move(work));
}

} // namespace detail

template <class T, class Work>
auto engine::async_transact(async_transaction_port& connection, request what, Work work) {
    return detail::start_transaction<T>(*this, connection, transacting::own, std::move(what),
                                        std::move(work));
}

template <class T, class Work>
auto engine::async_transact_blind(async_transaction_port& connection, request what, Work work) {
    static_assert(std::is_invocable_v<Work&>, "blind work runs before there is an execution");
    return detail::start_transaction<T>(*this, connection, transacting::blind, std::move(what),
                                        std::move(work));
}

template <class T, class Work>
auto engine::async_execute_in(async_transaction_port& transaction, request what, Work work) {
    return detail::start_transaction<T>(*this, transaction, transacting::joined, std::move(what),
                                        std::move(work));
}

} // namespace semel
