// Waits for a connection's socket on a Boost.Asio executor. See semel/asio/transaction.hpp.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <utility>

#include "semel/transaction.hpp"

namespace semel {

// Make one waiter for each connection. It has one wait at a time. Its executor's context outlives
// it.
class asio_waiter final : public socket_waiter {
public:
    explicit asio_waiter(const boost::asio::any_io_executor& executor)
        : socket_(std::make_unique<boost::asio::posix::stream_descriptor>(executor)),
          timer_(executor) {}
    explicit asio_waiter(boost::asio::io_context& context) : asio_waiter(context.get_executor()) {}
    // In a forked child the loop's epoll is still the parent's: closing the socket there would take
    // the parent's registration out of it.
    ~asio_waiter() override {
        if (::getpid() != home_) static_cast<void>(socket_.release());
    }

    void wait(const watched_socket& socket, interest what, local_time deadline,
              unique_function<void(woken)> then) override {
        if (what == interest::time) {
            wait_for_time(deadline, std::move(then));
        } else if (!watch(socket)) {
            try_again(socket, deadline, std::move(then));
        } else if (what == interest::read && deadline == local_time::max()) {
            // The usual case. After an error, too, libpq is called: it finds the error itself.
            socket_->async_wait(wait_type::wait_read,
                                [then = std::move(then)](error) mutable { then(woken::ready); });
        } else {
            wait_for_first(what, deadline, std::make_shared<waiting>(std::move(then)));
        }
    }

    void forget() override {
        error ignored;
        socket_->close(ignored);
        timer_.cancel();
        watched_ = {};
    }

private:
    using error = boost::system::error_code;
    using wait_type = boost::asio::posix::descriptor_base::wait_type;

    // A wait for several events. The first event decides `how` and sets `over`; later events,
    // perhaps on another thread, then do nothing. `then` is called when both have happened: the
    // first event, and the start of all waits.
    struct waiting {
        explicit waiting(unique_function<void(woken)> go_on) : then(std::move(go_on)) {}
        unique_function<void(woken)> then;
        woken how = woken::ready;
        std::atomic<bool> over = false;
        std::atomic<bool> second = false; // set by the first of: all waits started, first event
    };

    // Watches a copy of the descriptor. libpq closes its socket when the connection is lost, and
    // the number may belong to another socket before we learn of that.
    bool watch(const watched_socket& socket) {
        if (watched_ == socket) return true;
        forget();
        const int copy = ::fcntl(socket.number, F_DUPFD_CLOEXEC, 0);
        if (copy < 0) return false;
        error failed;
        socket_->assign(copy, failed);
        if (failed) {
            ::close(copy);
            return false;
        }
        watched_ = socket;
        return true;
    }

    // The handler does not use `this`: the waiter may be gone when the time is over.
    void wait_for_time(local_time deadline, unique_function<void(woken)> then) {
        timer_.expires_after(deadline - local_clock::now());
        timer_.async_wait([then = std::move(then)](error) mutable { then(woken::deadline); });
    }

    // If there is no socket, libpq is called at once and reports the error. If no descriptor is
    // left for a copy of the socket, libpq is called every 10 ms.
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
            // An event that has come already counts. Otherwise drop `then` here: no wait is left
            // that could call it.
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
        socket_->async_wait(what, [this, one](error) { wake(*one, woken::ready); });
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
        socket_->cancel(ignored);
        then(one.how);
    }

    watched_socket watched_;
    const ::pid_t home_ = ::getpid();
    std::unique_ptr<boost::asio::posix::stream_descriptor> socket_; // a copy of watched_.number
    boost::asio::steady_timer timer_;
};

// Makes waiters for a pool, all on one executor.
class asio_waiters {
public:
    explicit asio_waiters(boost::asio::any_io_executor executor) : executor_(std::move(executor)) {}
    std::unique_ptr<socket_waiter> operator()() const {
        return std::make_unique<asio_waiter>(executor_);
    }

private:
    boost::asio::any_io_executor executor_;
};

} // namespace semel
