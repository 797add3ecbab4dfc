// The port for callers who do not block, driven by a loop of one connection: whatever is waited for
// really suspends, and so every test of a transaction is one of that, too.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "semel/databases/postgres/transaction.hpp"

namespace semel {

class poll_waiter final : public socket_waiter {
public:
    void wait(const watched_socket& socket, interest what, local_time deadline,
              unique_function<void(woken)> then) override {
        if (then_) throw std::logic_error{"two waits at a time"};
        socket_ = socket;
        what_ = what;
        deadline_ = deadline;
        then_ = std::move(then);
    }
    void forget() override {}

    // Goes on with whoever waits, until `over`.
    template <class Over> void run_until(Over over) {
        while (!over()) {
            if (!then_) throw std::logic_error{"nobody waits, and it is not over"};
            const woken how = poll_once();
            auto then = std::move(then_);
            then_ = {};
            then(how);
        }
    }

private:
    woken poll_once() {
        pollfd one{.fd = socket_.number, .events = 0, .revents = 0};
        if (what_ != interest::write) one.events |= POLLIN;
        if (what_ != interest::read) one.events |= POLLOUT;
        using std::chrono::milliseconds;
        while (local_clock::now() < deadline_) {
            const auto left = std::chrono::ceil<milliseconds>(deadline_ - local_clock::now());
            const auto step = std::clamp<milliseconds::rep>(left.count(), 0, 1'000);
            if (::poll(&one, what_ == interest::time ? 0 : 1, static_cast<int>(step)) > 0) {
                return woken::ready;
            }
        }
        return woken::deadline;
    }

    watched_socket socket_;
    interest what_ = interest::time;
    local_time deadline_;
    unique_function<void(woken)> then_;
};

class looped_transaction final : public transaction_port {
public:
    explicit looped_transaction(pg_conn* connection, postgres_transaction_options options = {})
        : port_(make_async_postgres_transaction(connection, *waits_, std::move(options))) {}

    result<void> begin(on_locked locked) override { return run(port_->begin(locked)); }
    result<void> join() override { return run(port_->join()); }
    result<locked_record> lock(const record_id& id) override {
        locked_record made;
        if (auto got = run(port_->lock(id, made)); !got) return std::move(got).error();
        return made;
    }
    result<void> save(const record_id& id, const record& after, std::uint64_t seen) override {
        return run(port_->save(id, after, seen));
    }
    void leave(const record_id& id) override { port_->leave(id); }
    result<void> commit() override { return run(port_->commit()); }
    result<void> begin_blind(const record_id& id) override { return run(port_->begin_blind(id)); }
    result<record_stamp> commit_blind(const record_id& id, const record& made) override {
        return run(port_->commit_blind(id, made));
    }
    result<void> expect_blind() override { return port_->expect_blind(); }
    [[nodiscard]] bool asks_to_repeat() const override { return port_->asks_to_repeat(); }
    void rollback() override { (void)run(port_->rollback()); }
    void abandon() noexcept override { port_->abandon(); }
    [[nodiscard]] const void* connection() const override { return port_->connection(); }
    [[nodiscard]] std::string_view tables() const override { return port_->tables(); }

private:
    template <class T> T run(task<T> what) {
        std::optional<T> end;
        std::exception_ptr thrown;
        bool over = false;
        start<bool>(kept(what, end, thrown), [&](bool) { over = true; });
        waits_->run_until([&] { return over; });
        if (thrown) std::rethrow_exception(thrown);
        return *std::move(end);
    }
    template <class T>
    static task<bool> kept(task<T>& what, std::optional<T>& end, std::exception_ptr& thrown) {
        try {
            auto got = co_await what;
            end.emplace(std::move(got));
        } catch (...) {
            thrown = std::current_exception();
        }
        co_return true;
    }

    std::unique_ptr<poll_waiter> waits_ = std::make_unique<poll_waiter>();
    std::unique_ptr<async_transaction_port> port_;
};

} // namespace semel
