// The engine for Boost.Asio programs. The work runs on the caller's executor, as a plain function
// or as a coroutine; nothing blocks.
//
//   auto op  = engine.async_execute<order>(std::move(request), std::move(work));
//   auto out = co_await std::move(op);
//
// Keep the two lines apart, and name request and work first: g++ 12 destroys some temporaries twice
// inside a co_await expression. The engine outlives the operation.
#pragma once

#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>

#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "semel/engine.hpp"
#include "semel/engine/detail/work.hpp"

namespace semel {

namespace detail {

template <class T> struct is_awaitable : std::false_type {};
template <class T, class E> struct is_awaitable<boost::asio::awaitable<T, E>> : std::true_type {};

// Work takes `execution&`, or nothing.
template <class Work> auto begun(Work& work, execution& run) {
    if constexpr (std::is_invocable_v<Work&, execution&>) {
        return work(run);
    } else {
        return work();
    }
}

// Work and the typed value it ends with, shared by the running work and the completion.
template <class T, class Work> struct asio_state : typed_end<T> {
    explicit asio_state(Work w) : work(std::move(w)) {}
    Work work;
    raw_outcome raw; // on its way to the handler
};

template <class T, class Work>
boost::asio::awaitable<work_end> awaited(std::shared_ptr<asio_state<T, Work>> state,
                                         execution& run) {
    using value_type = typename outcome<T>::value_type;
    try {
        auto op = begun(state->work, run);
        if constexpr (std::is_same_v<decltype(op), boost::asio::awaitable<void>>) {
            co_await std::move(op);
            co_return state->ended(value_type{});
        } else {
            auto said = co_await std::move(op);
            co_return state->ended(std::move(said));
        }
    } catch (...) {
        co_return threw_end{std::current_exception()};
    }
}

// Runs the work on `executor` and reports its end.
template <class T, class Work, class Executor>
void start_on(const Executor& executor, std::shared_ptr<asio_state<T, Work>> state, execution& run,
              unique_function<void(work_end)> done) {
    if constexpr (is_awaitable<decltype(begun(state->work, run))>::value) {
        boost::asio::co_spawn(
            executor, awaited<T, Work>(std::move(state), run),
            [ended = std::move(done)](std::exception_ptr thrown, work_end end) mutable {
                ended(thrown ? work_end{threw_end{thrown}} : std::move(end));
            });
    } else {
        auto ended = std::make_shared<unique_function<void(work_end)>>(std::move(done));
        boost::asio::post(executor, [state = std::move(state), &run, ended] {
            try {
                (*ended)(state->ended(called<T>(state->work, run)));
            } catch (...) {
                (*ended)(threw_end{std::current_exception()});
            }
        });
    }
}

// Runs `task` on `executor`, where it may block; the coroutine that awaits it goes on where it was.
template <class T, class Executor, class Task>
boost::asio::awaitable<T> run_on(Executor executor, Task task) {
    using ended = std::pair<std::exception_ptr, T>;
    auto initiate = [](auto handler, Executor on, Task what) {
        auto home = boost::asio::get_associated_executor(handler);
        auto guard = boost::asio::make_work_guard(home);
        boost::asio::post(on, [handler = std::move(handler), home, guard = std::move(guard),
                               what = std::move(what)]() mutable {
            ended end;
            try {
                end.second = what();
            } catch (...) {
                end.first = std::current_exception();
            }
            boost::asio::post(
                home, [handler = std::move(handler), end = std::move(end),
                       guard = std::move(guard)]() mutable { std::move(handler)(std::move(end)); });
        });
    };
    auto op = boost::asio::async_initiate<const boost::asio::deferred_t, void(ended)>(
        initiate, boost::asio::deferred, std::move(executor), std::move(task));
    ended end = co_await std::move(op);
    if (end.first) std::rethrow_exception(end.first);
    co_return std::move(end.second);
}

// Returns a function that calls the handler, on the handler's executor.
template <class T, class Handler, class State>
auto completion_of(Handler&& given, std::shared_ptr<State> state) {
    std::decay_t<Handler> handler{std::forward<Handler>(given)};
    auto executor = boost::asio::get_associated_executor(handler);
    auto guard = boost::asio::make_work_guard(executor);
    return [handler = std::move(handler), executor, guard = std::move(guard),
            state = std::move(state)](raw_outcome raw) mutable {
        state->raw = std::move(raw);
        // The guard moves into the posted function. If it stayed here, the thread that runs this
        // code could outlive the loop and release the guard too late.
        boost::asio::post(executor, [handler = std::move(handler), state = std::move(state),
                                     guard = std::move(guard)]() mutable {
            std::move(handler)(state->finish(std::move(state->raw)));
        });
    };
}

template <class T, class Work> class async_execution {
public:
    explicit async_execution(engine& on) : on_(&on) {}

    template <class Handler> void operator()(Handler&& handler, request what, Work work) {
        const auto executor = boost::asio::get_associated_executor(handler);
        auto state = std::make_shared<asio_state<T, Work>>(std::move(work));
        auto link = std::make_shared<cancel_link>();
        if (auto slot = boost::asio::get_associated_cancellation_slot(handler);
            slot.is_connected()) {
            slot.assign([link](boost::asio::cancellation_type) { link->cancel(); });
        }
        auto starter = [state, executor](execution& run, unique_function<void(work_end)> done) {
            start_on<T, Work>(executor, state, run, std::move(done));
        };
        link->connect(on_->start(std::move(what), std::move(starter),
                                 completion_of<T>(std::forward<Handler>(handler), state)));
    }

private:
    engine* on_;
};

} // namespace detail

// The work takes `execution&` (or nothing) and returns T or verdict<T>, or an awaitable of either.
// If the work throws, the outcome keeps the exception, and value() throws it unchanged. Cancelling
// the operation stops *waiting* for another caller's result.
template <class T, class Work> auto engine::async_execute(request what, Work work) {
    return boost::asio::async_initiate<const boost::asio::deferred_t, void(outcome<T>)>(
        detail::async_execution<T, Work>{*this}, boost::asio::deferred, std::move(what),
        std::move(work));
}

// execution::step for coroutines: `work` returns an awaitable. Call as
//   auto op    = semel::async_step<T>(run, "charge", std::move(work));
//   auto value = co_await std::move(op);
template <class T, class Work>
boost::asio::awaitable<T> async_step(execution& run, std::string name, Work work) {
    if (const std::string* known = run.port().recorded(name)) co_return codec<T>::decode(*known);
    run.require_step(name);
    auto op = work();
    T made = co_await std::move(op);
    auto initiate = [&run](auto handler, std::string under, std::string data) {
        auto executor = boost::asio::get_associated_executor(handler);
        auto shared = std::make_shared<decltype(handler)>(std::move(handler));
        run.port().record_async(
            std::move(under), std::move(data), [executor, shared](result<void> got) {
                std::exception_ptr thrown;
                if (!got && got.error().code == errc::stopped) {
                    thrown = std::make_exception_ptr(lease_lost{});
                } else if (!got) {
                    thrown = std::make_exception_ptr(failure_error{got.error()});
                }
                boost::asio::post(executor, [shared, thrown] { std::move (*shared)(thrown); });
            });
    };
    auto stored =
        boost::asio::async_initiate<const boost::asio::deferred_t, void(std::exception_ptr)>(
            initiate, boost::asio::deferred, std::move(name), codec<T>::encode(made));
    co_await std::move(stored);
    co_return made;
}

} // namespace semel
