// Transactions of callers that do not block, driven by a loop of one connection.
#pragma once

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <utility>

#include "semel/databases/postgres/transaction.hpp"
#include "semel/engine.hpp"

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

struct owned_poll_waiter {
    std::unique_ptr<poll_waiter> waits = std::make_unique<poll_waiter>();
};

// A connection of a caller that does not block, with its waiter.
class looped_transaction : public owned_poll_waiter, public postgres_transaction {
public:
    explicit looped_transaction(pg_conn* connection, postgres_transaction_options options = {})
        : postgres_transaction(connection, *waits, std::move(options)) {}
};

// Starts what tests call, and drives it to its end. Whatever is waited for really suspends, and so
// every test of a transaction is one of callers that do not block, too.
class looped_engine : public engine {
public:
    using engine::engine;

    template <class T, class Work>
    outcome<T> transact(looped_transaction& on, request what, Work&& work) {
        return drive<T>(on, std::move(what), work, detail::transaction_owner::engine);
    }
    template <class T, class Work>
    outcome<T> execute_in(looped_transaction& on, request what, Work&& work) {
        return drive<T>(on, std::move(what), work, detail::transaction_owner::caller);
    }

private:
    template <class T, class Work>
    outcome<T> drive(looped_transaction& on, request what, Work& work,
                     detail::transaction_owner commits) {
        detail::typed_work<T, Work> typed{work};
        std::optional<raw_outcome> end;
        detail::transaction_start{*this, on, commits}(
            std::move(what),
            [&](execution& run, unique_function<void(work_end)> done) { done(typed.run(run)); },
            [&](raw_outcome with) { end = std::move(with); });
        on.waits->run_until([&] { return end.has_value(); });
        return typed.finish(std::move(*end));
    }
};

} // namespace semel
