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

#include "semel/task.hpp"
#include "semel/transaction/postgres_pool.hpp"
#include "stores/postgres/caller_transaction.hpp"

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

// A caller who waits for a connection; the caller's own, who goes on when it is called.
struct pool_caller {
    const record_id* id = nullptr; // whose way in it is
    local_time until = {};
    pool_member* given = nullptr; // none: it was not to be had
    std::optional<failure> why = {};
    std::optional<resumption> go_on = {};
    pool_caller* behind = nullptr; // in the line
};

// Those who wait, in their order. Takes no memory, so there is nothing that can fail.
class pool_line {
public:
    [[nodiscard]] bool empty() const { return first_ == nullptr; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] const pool_caller& first() const { return *first_; }
    void add(pool_caller& who);
    void add_first(pool_caller& who);
    [[nodiscard]] pool_caller* take_first(); // none: nobody waits

private:
    pool_caller* first_ = nullptr;
    pool_caller* last_ = nullptr;
    std::size_t size_ = 0;
};

// Thread-safe. Nobody is called while the lock is held.
class pool_core final : public std::enable_shared_from_this<pool_core> {
public:
    pool_core(const std::vector<pg_conn*>& connections,
              const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
              postgres_pool_options options);

    // A free connection, if nobody waits for one.
    [[nodiscard]] bool take(pool_caller& for_whom);
    // Or else to wait for one: `then` is called, perhaps before this returns.
    void wait(pool_caller& who, resumption then);

    // The one who has waited longest, and waits no longer here. None: nobody does.
    [[nodiscard]] pool_caller* next();
    // It did not get the connection after all.
    void put_back(pool_caller& who);
    // It did, with what its way in has given.
    void hand_over(pool_caller& to, pool_member& what);

    void give_back(pool_member& what) noexcept;

    // Nobody waits any longer.
    void stop();

    [[nodiscard]] postgres_pool::counted count() const;
    [[nodiscard]] std::string_view tables() const { return options_.transaction.table_prefix; }

private:
    [[nodiscard]] pool_caller* next_for(pool_member& what);
    void watch_time() noexcept; // with the lock held
    void expire();

    const postgres_pool_options options_;
    const std::unique_ptr<socket_waiter> time_;
    std::vector<std::unique_ptr<pool_member>> members_;

    mutable std::mutex mutex_;
    // Guarded by mutex_.
    std::vector<pool_member*> free_;
    pool_line waiting_;
    bool watched_ = false; // time_ is waited for
    postgres_pool::counted counted_;
};

} // namespace semel::postgres
