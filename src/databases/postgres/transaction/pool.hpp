// Connections that many callers take turns on.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/home_process.hpp"
#include "databases/postgres/transaction/caller_transaction.hpp"
#include "semel/base/task.hpp"
#include "semel/databases/postgres/transaction.hpp"

namespace semel::postgres {

struct pool_member {
    pool_member(pg_conn* connection, std::unique_ptr<socket_waiter> waiter,
                const postgres_pool_options& options)
        : handle(connection),
          waits(std::move(waiter)),
          transaction(handle, waits.get(), options.transaction) {
        transaction.keep_connected(options.made_anew);
    }
    pg_conn* const handle;
    const std::unique_ptr<socket_waiter> waits;
    caller_transaction transaction;
};

class pool_successor;

// A call that waits for a connection. The call owns it and goes on when `go_on` is called.
struct pool_caller {
    const record_id* id = nullptr; // the record of its way in (BEGIN, lock and look-up)
    bool had_one = false;          // earlier in the same call: it goes first
    pool_member* given = nullptr;  // null: there is none yet, or `why` says why not
    std::optional<failure> why = {};

    // Owned by the pool while the call waits.
    local_time until = {};
    std::optional<resumption> go_on = {};
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

// Thread-safe. The pool calls no other code while it holds the lock. No call stays in the line
// while a connection is free.
class pool_core final : public std::enable_shared_from_this<pool_core> {
public:
    pool_core(const std::vector<pg_conn*>& connections,
              const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
              postgres_pool_options options);

    // A free connection, if there is one.
    [[nodiscard]] bool take(pool_caller& for_whom);
    // Waits for a connection: `then` is called when it is there, perhaps before this returns.
    void wait(pool_caller& who, resumption then);
    void give_back(pool_member& what) noexcept;
    void stop(); // ends all waiting: the loop may end before the calls that are under way

    [[nodiscard]] postgres_pool::counted count() const;
    [[nodiscard]] std::string_view tables() const { return options_.transaction.table_prefix; }

private:
    friend class pool_successor;

    [[nodiscard]] bool take_free(pool_caller& for_whom); // with the lock held, like the two below
    [[nodiscard]] pool_caller* leave_line(pool_caller* who);
    void watch_time() noexcept;

    void expire();

    const home_process home_;
    const postgres_pool_options options_;
    const std::unique_ptr<socket_waiter> time_;
    std::vector<std::unique_ptr<pool_member>> members_;

    mutable std::mutex mutex_;
    // Guarded by mutex_.
    std::vector<pool_member*> free_;
    pool_line line_;
    bool watched_ = false; // time_ waits, at most until the first time limit in the line
    bool stopped_ = false;
    postgres_pool::counted counted_;
};

// The call that has waited longest. Its way in travels with the end of another transaction. It
// keeps its place in the line until it has the connection, and its time limit stays in force.
class pool_successor {
public:
    explicit pool_successor(pool_core& in);
    pool_successor(const pool_successor&) = delete;
    pool_successor& operator=(const pool_successor&) = delete;
    ~pool_successor();

    // A call was waiting.
    explicit operator bool() const { return id_.has_value(); }
    [[nodiscard]] const record_id& id() const { return *id_; }
    // Lets the call go on with the connection. False: its time limit was over.
    [[nodiscard]] bool take(pool_member& what);

private:
    friend class pool_core;
    pool_core& in_;
    std::optional<record_id> id_; // a copy: its caller may be gone before it was sent
    pool_caller* who_ = nullptr;  // guarded by the pool's lock
};

} // namespace semel::postgres
