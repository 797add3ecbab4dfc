// What is said on somebody else's connection, for owners who block and for owners who do not.
#pragma once

#include <coroutine>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "semel/task.hpp"
#include "semel/transaction.hpp"
#include "stores/postgres/connection.hpp"

namespace semel::postgres {

// One caller at a time, like the connection. There are no deadlines but the connection's own
// time-outs: it is not ours to give up.
class dialogue {
public:
    static constexpr local_time no_deadline = local_time::max();

    // `waits`: on whose loop; none: in place.
    dialogue(pg_conn* handle, socket_waiter* waits)
        : handle_(handle), waits_(waits), on_(connection::borrow(handle)) {}

    // As those of `connection`. What the calls refer to must live until the end. A pipeline is sent
    // at once, not when it is awaited.
    [[nodiscard]] task<result<std::vector<rows>>> pipeline(std::span<const call> calls);
    [[nodiscard]] task<result<rows>> query(std::string sql, local_time deadline = no_deadline);
    [[nodiscard]] task<result<void>> prepare(std::span<const preparation> all);
    [[nodiscard]] result<void> queue(std::span<const call> calls) { return on_->queue(calls); }
    [[nodiscard]] result<void> queue_text(const std::string& sql) { return on_->queue_text(sql); }
    [[nodiscard]] bool owners_failed() const { return on_->owners_failed(); }
    [[nodiscard]] bool lost() const { return on_->lost(); }

    // What PQgetResult() gives, of a query of the owner's.
    [[nodiscard]] task<pg_result*> next();

    // Ends what is under way, waits for what is queued, and drops what it gives.
    [[nodiscard]] task<result<void>> drain();

    // The connection is lost and is made anew, with a server that takes writes. False: not by then.
    [[nodiscard]] task<bool> reset(local_time deadline);

    // The owner may have made it anew. False: nothing of the kind.
    bool forget_lost();

    // Otherwise a long statement would be waited for in place.
    void do_not_block();

private:
    using interest = socket_waiter::interest;
    using woken = socket_waiter::woken;

    // For co_await: until the socket is ready, or the deadline is over.
    class readiness {
    public:
        readiness(dialogue& of, interest what, local_time deadline)
            : of_(of), what_(what), deadline_(deadline) {}
        bool await_ready() {
            if (of_.waits_ != nullptr) return false;
            how_ = of_.on_->wait(what_, deadline_) ? woken::ready : woken::deadline;
            return true;
        }
        template <class Promise> bool await_suspend(std::coroutine_handle<Promise> at) {
            auto then = [this, go = resumption{at, turn_}](woken how) mutable {
                how_ = how;
                go();
            };
            of_.wait(what_, deadline_, std::move(then));
            return turn_.suspends(at.promise().root);
        }
        woken await_resume() const { return how_; }

    private:
        dialogue& of_;
        const interest what_;
        const local_time deadline_;
        woken how_ = woken::ready;
        handover turn_;
    };

    [[nodiscard]] readiness ready(interest what, local_time deadline = no_deadline) {
        return {*this, what, deadline};
    }
    void forget() {
        if (waits_ != nullptr) waits_->forget();
    }
    void wait(interest what, local_time deadline, unique_function<void(woken)> then);
    [[nodiscard]] task<result<std::vector<rows>>> collect(connection::mode how,
                                                          local_time deadline = no_deadline);
    [[nodiscard]] task<result<void>> end_queries();
    [[nodiscard]] task<bool> connect_again(local_time deadline);

    pg_conn* const handle_;
    socket_waiter* const waits_;
    std::unique_ptr<connection> on_;
};

} // namespace semel::postgres
