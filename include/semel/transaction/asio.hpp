// Transactions for Boost.Asio programs: nothing blocks, and many connections share a few threads.
//
//   semel::asio_waiter waits{context.get_executor()};                  // one for each connection
//   const auto here = semel::make_async_postgres_transaction(connection, waits);
//   auto op  = engine.async_transact<order>(*here, std::move(request), std::move(work));
//   auto out = co_await std::move(op);
//
// The work is a plain function that queues its statements in libpq's pipeline (which it enters by
// PQenterPipelineMode, unless it is blind), so that they travel with the record, or a coroutine
// that waits for them:
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
// The work's own exception is kept in the outcome: value() throws it.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <memory>
#include <utility>

#include "semel/asio.hpp"
#include "semel/transaction.hpp"

namespace semel {

// For one connection: it has one wait at a time. The executor's context outlives it.
class asio_waiter final : public socket_waiter {
public:
    explicit asio_waiter(const boost::asio::any_io_executor& executor)
        : socket_(executor), timer_(executor) {}
    explicit asio_waiter(boost::asio::io_context& context) : asio_waiter(context.get_executor()) {}

    void wait(const watched_socket& socket, interest what, local_time deadline,
              unique_function<void(woken)> then) override {
        if (what != interest::time && !watch(socket)) {
            try_again(socket, deadline, std::move(then));
        } else if (what == interest::read && deadline == local_time::max()) {
            // Nearly all of them. An error, too, is for libpq to meet.
            socket_.async_wait(wait_type::wait_read,
                               [then = std::move(then)](error) mutable { then(woken::ready); });
        } else {
            wait_for_first(what, deadline, std::make_shared<waiting>(std::move(then)));
        }
    }

    void forget() override {
        error ignored;
        socket_.close(ignored);
        watched_ = {};
    }

private:
    using error = boost::system::error_code;
    using wait_type = boost::asio::posix::descriptor_base::wait_type;

    // Several things are waited for: what comes first counts, and goes on as soon as all of them
    // have been started. Others, perhaps on another thread, find it over.
    struct waiting {
        explicit waiting(unique_function<void(woken)> go_on) : then(std::move(go_on)) {}
        unique_function<void(woken)> then;
        woken how = woken::ready;
        std::atomic<bool> over = false;
        std::atomic<bool> second = false; // one of the two has happened: started, woken
    };

    // A descriptor of its own: libpq closes its socket when the connection is lost, and the number
    // may be another's by the time we hear of it.
    bool watch(const watched_socket& socket) {
        if (watched_ == socket) return true;
        forget();
        const int copy = ::fcntl(socket.number, F_DUPFD_CLOEXEC, 0);
        if (copy < 0) return false;
        error failed;
        socket_.assign(copy, failed);
        if (failed) {
            ::close(copy);
            return false;
        }
        watched_ = socket;
        return true;
    }

    // There is no socket: libpq meets it and names it. Or no descriptor is left for a copy of it:
    // then libpq looks now and then by itself.
    void try_again(const watched_socket& socket, local_time deadline,
                   unique_function<void(woken)> then) {
        constexpr local_clock::duration pause = std::chrono::milliseconds{10};
        const auto left = deadline - local_clock::now();
        timer_.expires_after(socket.number < 0 ? pause * 0 : std::min(pause, left));
        timer_.async_wait([deadline, then = std::move(then)](error) mutable {
            then(local_clock::now() < deadline ? woken::ready : woken::deadline);
        });
    }

    void wait_for_first(interest what, local_time deadline, const std::shared_ptr<waiting>& one) {
        try {
            wait_for_each(what, deadline, one);
        } catch (...) {
            // Unless something has come already, which counts, it must be let go of: there is
            // nothing left to go on with.
            if (!one->over.exchange(true)) {
                one->then = {};
                throw;
            }
        }
        if (one->second.exchange(true)) go_on(*one);
    }

    void wait_for_each(interest what, local_time deadline, const std::shared_ptr<waiting>& one) {
        if (what == interest::read || what == interest::read_and_write) {
            wait_for(wait_type::wait_read, one);
        }
        if (what == interest::write || what == interest::read_and_write) {
            wait_for(wait_type::wait_write, one);
        }
        if (deadline == local_time::max()) return;
        timer_.expires_after(deadline - local_clock::now());
        timer_.async_wait([this, one](error) { wake(*one, woken::deadline); });
    }

    void wait_for(wait_type what, const std::shared_ptr<waiting>& one) {
        socket_.async_wait(what, [this, one](error) { wake(*one, woken::ready); });
    }

    void wake(waiting& one, woken how) {
        if (one.over.exchange(true)) return;
        one.how = how;
        if (one.second.exchange(true)) go_on(one);
    }

    void go_on(waiting& one) {
        auto then = std::move(one.then);
        timer_.cancel();
        error ignored;
        socket_.cancel(ignored);
        then(one.how);
    }

    watched_socket watched_;
    boost::asio::posix::stream_descriptor socket_; // of its own, for watched_
    boost::asio::steady_timer timer_;
};

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

// A task for a coroutine of Asio: `auto op = semel::async_run(std::move(task)); auto got = co_await
// std::move(op);` What the task throws comes out of co_await. T has a default.
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
