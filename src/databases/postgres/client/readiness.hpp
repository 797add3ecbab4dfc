// A wait for a connection's socket, for owners who block and for owners who do not.
#pragma once

#include <coroutine>
#include <utility>

#include "semel/base/task.hpp"
#include "semel/transaction.hpp"

struct pg_conn; // PGconn

namespace semel::postgres {

// In place. False when the deadline has passed.
[[nodiscard]] bool wait_for(const pg_conn* what, socket_waiter::interest ready,
                            local_time deadline);

// For co_await: until the socket is ready, or the deadline is over.
class readiness {
public:
    using interest = socket_waiter::interest;
    using woken = socket_waiter::woken;
    static constexpr local_time no_deadline = local_time::max();

    // `waits`: on whose loop; none: in place.
    readiness(pg_conn* of, socket_waiter* waits, interest what, local_time deadline = no_deadline)
        : of_(of), waits_(waits), what_(what), deadline_(deadline) {}

    bool await_ready() {
        if (waits_ != nullptr) return false;
        how_ = wait_for(of_, what_, deadline_) ? woken::ready : woken::deadline;
        return true;
    }
    template <class Promise> bool await_suspend(std::coroutine_handle<Promise> at) {
        wait_later([this, go = resumption{at, turn_}](woken how) mutable {
            how_ = how;
            go();
        });
        return turn_.suspends(at.promise().root);
    }
    woken await_resume() const { return how_; }

private:
    void wait_later(unique_function<void(woken)> then);

    pg_conn* const of_;
    socket_waiter* const waits_;
    const interest what_;
    const local_time deadline_;
    woken how_ = woken::ready;
    handover turn_;
};

} // namespace semel::postgres
