// Requests on a caller's connection, for callers that block and for callers that do not.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "databases/postgres/client/connection.hpp"
#include "databases/postgres/client/readiness.hpp"
#include "semel/base/task.hpp"
#include "semel/transaction.hpp"

namespace semel::postgres {

// Calls behind the COMMIT of others, with which they travel.
struct succession {
    std::size_t calls;
    std::optional<result<std::vector<rows>>> got = {}; // nothing: the server did not come to them
    native_failure why = {};                           // where they have failed
};

// One caller at a time, like the connection. There are no deadlines but the connection's own
// time-outs: it is not ours to give up.
class dialogue {
public:
    static constexpr local_time no_deadline = readiness::no_deadline;

    // `waits`: on whose loop; none: in place.
    dialogue(pg_conn* handle, socket_waiter* waits)
        : handle_(handle), waits_(waits), on_(connection::borrow(handle)) {}

    // As those of `connection`. A pipeline is sent at once, not when it is awaited; after that the
    // calls are not needed any more. With `next` the last calls, and their results, belong to
    // another transaction.
    [[nodiscard]] task<result<std::vector<rows>>> pipeline(std::span<const call> calls,
                                                           succession* next = nullptr);
    [[nodiscard]] task<result<rows>> query(std::string sql, local_time deadline = no_deadline);
    [[nodiscard]] task<result<void>> prepare(std::span<const preparation> all);
    [[nodiscard]] const native_failure& last_failure() const { return on_->last_failure(); }
    [[nodiscard]] bool lost() const { return on_->lost(); }

    // Ends what is under way, waits for what is queued, and drops what it gives.
    [[nodiscard]] task<result<void>> drain();

    // Reconnects a lost connection, to a server that takes writes. False: not by the deadline.
    [[nodiscard]] task<bool> reset(local_time deadline);

    // Whether the owner has reconnected meanwhile.
    bool forget_lost();

    // Otherwise a long statement would be waited for in place.
    void do_not_block();

private:
    using interest = socket_waiter::interest;
    using woken = socket_waiter::woken;

    [[nodiscard]] readiness ready(interest what, local_time deadline = no_deadline) {
        return {handle_, waits_, what, deadline};
    }
    void forget() {
        if (waits_ != nullptr) waits_->forget();
    }
    [[nodiscard]] task<result<std::vector<rows>>>
    collect(connection::mode how, local_time deadline = no_deadline, succession* next = nullptr);
    [[nodiscard]] task<result<void>> end_queries();
    [[nodiscard]] task<bool> connect_again(local_time deadline);

    pg_conn* const handle_;
    socket_waiter* const waits_;
    std::unique_ptr<connection> on_;
};

} // namespace semel::postgres
