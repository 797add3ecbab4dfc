// Transactions for Boost.Asio programs: nothing blocks, and many connections share a few threads.
//
//   semel::asio_waiter waits{executor};                            // one for each connection
//   semel::postgres_transaction here{connection, waits};
//   auto op  = engine.async_transact<order>(here, std::move(request), std::move(work));
//   auto out = co_await std::move(op);
//
// or, on a few connections that many callers share:
//
//   semel::postgres_pool pool{connections, semel::asio_waiters{executor}};
//   auto op = engine.async_transact<order>(pool.transaction(), std::move(asked), std::move(work));
//
// The work is a plain function or a coroutine. A plain function queues its statements in libpq's
// pipeline, so that they travel with the record (it calls PQenterPipelineMode first). A coroutine
// waits for the answers of its statements:
//
//   auto work = [](semel::execution&, semel::postgres_connection& on)
//       -> boost::asio::awaitable<order> {
//       PQsendQueryParams(on.native(), …);
//       auto op  = semel::async_results(on);
//       auto got = co_await std::move(op);
//       …
//   };
//
// Keep op and co_await apart, and name request and work first: g++ 12 destroys some temporaries
// twice inside a co_await expression. Engine, handle, waiter and connection outlive the operation.
// An executor of several threads needs no strand.
//
// If the work throws, the outcome keeps the exception, and value() throws it.
#pragma once

#include <boost/asio/awaitable.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

#include "semel/asio.hpp"
#include "semel/asio/waiter.hpp"
#include "semel/databases/postgres/transaction.hpp"

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

// all_results() for a coroutine of Asio: `auto op = semel::async_results(on); auto got = co_await
// std::move(op);`
inline auto async_results(pg_conn* connection, socket_waiter& waits) {
    auto all = all_results(connection, waits);
    return async_run(std::move(all));
}
inline auto async_results(const postgres_connection& on) {
    return async_results(on.native(), on.waits());
}

namespace detail {

template <class T, class Handle, class Work> class async_transaction {
public:
    using connected = connected_work<std::shared_ptr<Handle>, Work>;

    async_transaction(engine& with, std::shared_ptr<Handle> on, transaction_owner commits)
        : with_(&with), on_(std::move(on)), commits_(commits) {}

    template <class Handler> void operator()(Handler&& handler, request what, Work work) {
        const auto executor = boost::asio::get_associated_executor(handler);
        auto state = std::make_shared<asio_state<T, connected>>(connected{on_, std::move(work)});
        auto starter = [state, executor](execution& run, unique_function<void(work_end)> done) {
            start_on<T, connected>(executor, state, run, std::move(done));
        };
        transaction_start{*with_, *on_,
                          commits_}(std::move(what), std::move(starter),
                                    completion_of<T>(std::forward<Handler>(handler), state));
    }

private:
    engine* with_;
    std::shared_ptr<Handle> on_; // a temporary handle is the operation's own
    transaction_owner commits_;
};

template <class T, class Handle, class Work>
auto start_transaction(engine& with, Handle&& on, transaction_owner commits, request what,
                       Work work) {
    using handle = std::remove_cvref_t<Handle>;
    std::shared_ptr<handle> kept;
    if constexpr (std::is_lvalue_reference_v<Handle>) {
        kept = {std::shared_ptr<void>{}, &on};
    } else {
        kept = std::make_shared<handle>(std::move(on));
    }
    return boost::asio::async_initiate<const boost::asio::deferred_t, void(outcome<T>)>(
        async_transaction<T, handle, Work>{with, std::move(kept), commits}, boost::asio::deferred,
        std::move(what), std::move(work));
}

} // namespace detail

template <class T, suspending_transaction Handle, class Work>
auto engine::async_transact(Handle&& on, request what, Work work) {
    return detail::start_transaction<T>(*this, std::forward<Handle>(on),
                                        detail::transaction_owner::engine, std::move(what),
                                        std::move(work));
}

template <class T, suspending_transaction Handle, class Work>
requires(std::remove_cvref_t<Handle>::joins) auto engine::async_execute_in(Handle&& on,
                                                                           request what,
                                                                           Work work) {
    return detail::start_transaction<T>(*this, std::forward<Handle>(on),
                                        detail::transaction_owner::caller, std::move(what),
                                        std::move(work));
}

} // namespace semel
