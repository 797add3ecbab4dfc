// Connections that many callers take turns on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/home_process.hpp"
#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"
#include "semel/base/task.hpp"
#include "semel/core/record.hpp"
#include "semel/transaction.hpp"
#include "transaction/transaction_port.hpp"

namespace semel::sql {

// One connection of a pool. Drivers derive from it.
struct pool_member {
    explicit pool_member(std::unique_ptr<socket_waiter> waiter) : waits(std::move(waiter)) {}
    pool_member(const pool_member&) = delete;
    pool_member& operator=(const pool_member&) = delete;
    virtual ~pool_member() = default;

    [[nodiscard]] virtual transaction_port& port() = 0;
    [[nodiscard]] virtual bool lost() const = 0;
    // Where the last look-up was, in the driver's words; "": it cannot differ.
    [[nodiscard]] virtual std::string_view looked_in() const { return {}; }

    const std::unique_ptr<socket_waiter> waits; // null: for callers that block
};

class pool_successor;

// A call that waits for a connection. The call owns it and goes on when it is woken.
struct pool_caller {
    const record_id* id = nullptr; // the record of its way in (BEGIN, lock and look-up)
    bool had_one = false;          // earlier in the same call: it goes first
    pool_member* given = nullptr;  // null: there is none yet, or `why` says why not
    std::optional<failure> why = {};

    // Owned by the pool while the call waits.
    local_time until = {};
    std::optional<resumption> go_on = {}; // of a call that does not block
    detail::condition woken = {};         // of a call that blocks,
    bool called = false;                  // and what it waits for
    bool in_line = false;
    pool_successor* travels = nullptr; // not null: its way in has been sent with another's end
    pool_caller* before = nullptr;
    pool_caller* behind = nullptr;
};

// The calls that wait, in their order. The line allocates no memory, so it cannot fail.
class pool_line {
public:
    void add(pool_caller& who);
    void add_first(pool_caller& who);
    void remove(pool_caller& who);
    [[nodiscard]] pool_caller* first() const { return first_; }
    [[nodiscard]] pool_caller* first_who_stays() const; // the first that does not travel, or null
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    void link(pool_caller* before, pool_caller& who, pool_caller* behind);

    pool_caller* first_ = nullptr;
    pool_caller* last_ = nullptr;
    std::size_t size_ = 0;
};

struct pool_limits {
    const char* driver;
    std::string table_prefix;
    duration wait_max;
    std::size_t waiting_max;
};

// Thread-safe. The pool calls no other code while it holds the lock. No call stays in the line
// while a connection is free.
class pool final : public std::enable_shared_from_this<pool> {
public:
    // `time` waits for the time limits of calls that do not block; null: all calls block. Throws
    // std::invalid_argument if there is no member.
    pool(std::vector<std::unique_ptr<pool_member>> members, std::unique_ptr<socket_waiter> time,
         pool_limits limits);

    // Whether its calls block.
    [[nodiscard]] bool blocks() const { return time_ == nullptr; }
    // A free connection, or, for calls that block, any connection. False: the call has to wait().
    [[nodiscard]] bool take(pool_caller& for_whom);
    // Waits for a connection: `then` is called when it is there, perhaps before this returns.
    void wait(pool_caller& who, resumption then);
    void give_back(pool_member& what) noexcept;
    void stop(); // ends all waiting: the loop may end before the calls that are under way

    [[nodiscard]] pool_counts count() const;
    [[nodiscard]] const pool_limits& limits() const { return limits_; }

private:
    friend class pool_successor;

    enum class turn : std::uint8_t { over, in_line };
    [[nodiscard]] bool take_free(pool_caller& for_whom) SEMEL_REQUIRES(mutex_);
    [[nodiscard]] turn line_up(pool_caller& who) SEMEL_REQUIRES(mutex_);
    [[nodiscard]] pool_caller* leave_line(pool_caller* who) SEMEL_REQUIRES(mutex_);
    void watch_time() noexcept SEMEL_REQUIRES(mutex_);

    void wait_in_place(pool_caller& who, detail::guard& lock) SEMEL_REQUIRES(mutex_);
    void wake(pool_caller& who);
    void give(pool_member& what, pool_caller& to) noexcept;
    void tell_too_late(pool_caller& who) const;
    void expire();

    const home_process home_;
    const pool_limits limits_;
    const std::unique_ptr<socket_waiter> time_;
    const std::vector<std::unique_ptr<pool_member>> members_;

    mutable detail::mutex mutex_;
    std::vector<pool_member*> free_ SEMEL_GUARDED_BY(mutex_);
    pool_line line_ SEMEL_GUARDED_BY(mutex_);
    bool watched_ SEMEL_GUARDED_BY(mutex_) =
        false; // time_ waits, at most until the first time limit in the line
    bool stopped_ SEMEL_GUARDED_BY(mutex_) = false;
    pool_counts counted_ SEMEL_GUARDED_BY(mutex_);
};

// The call that has waited longest. Its way in travels with the end of another transaction. It
// keeps its place in the line until it has the connection, and its time limit stays in force.
class pool_successor {
public:
    explicit pool_successor(pool& in);
    pool_successor(const pool_successor&) = delete;
    pool_successor& operator=(const pool_successor&) = delete;
    ~pool_successor();

    // A call was waiting.
    explicit operator bool() const { return id_.has_value(); }
    [[nodiscard]] const record_id& id() const { return *id_; }
    // Lets the call go on with the connection. False: its time limit was over.
    [[nodiscard]] bool take(pool_member& what);

private:
    friend class pool;
    pool& in_;
    std::optional<record_id> id_; // a copy: its caller may be gone before it was sent
    pool_caller* who_ = nullptr;  // under the pool's mutex, which the analysis cannot name
};

} // namespace semel::sql
