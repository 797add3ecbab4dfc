// A few PostgreSQL connections for many callers: each transaction runs on whichever is free.
//
// For Boost.Asio programs there is semel/transaction/postgres_pool_asio.hpp, with an example.
//
// While callers wait for a connection, the end of one transaction travels with the beginning of the
// next: its record and COMMIT, then BEGIN, the lock of the next key and the look-up. That is one
// round trip less for each, beside the work's own: one instead of two.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "semel/transaction/postgres.hpp"

namespace semel {

struct postgres_pool_options {
    postgres_transaction_options transaction = {};
    // How long a caller waits for a connection: then errc::timed_out.
    duration wait_max = std::chrono::seconds{10};
    // Callers who wait for one; any more are refused at once: errc::overloaded.
    std::size_t waiting_max = 10'000;
    // A connection that was lost is made anew (PQreset) when it is wanted again, within doubt_wait,
    // and without what was set and prepared in its session: this is called with it, to do so again.
    // In place, so it should be brief.
    std::function<void(pg_conn*)> made_anew = {};
};

// One call's way through the pool. The work finds here what it runs on; before and after it there
// is none.
class pooled_connection {
public:
    virtual ~pooled_connection() = default;
    [[nodiscard]] virtual pg_conn* native() const = 0;
    [[nodiscard]] virtual socket_waiter& waits() const = 0;
    // For the engine: engine::async_transact. One call at a time.
    [[nodiscard]] virtual async_transaction_port& port() = 0;
};

namespace postgres {
class pool_core;
}

// Thread-safe. The connections, which nobody else uses meanwhile, outlive it, and it outlives the
// calls, but for those whose loop has stopped for good. The connections are put into libpq's
// nonblocking mode, see make_async_postgres_transaction().
//
// Callers come to a connection in the order in which they ask; one that has had a connection and
// needs another (to repeat its transaction, to keep a final failure, to learn what became of a
// COMMIT) goes first.
class postgres_pool {
public:
    // `make_waiter` makes one for each connection and one for the time; what they call, they never
    // call inside wait(). Throws std::invalid_argument without a connection.
    postgres_pool(const std::vector<pg_conn*>& connections,
                  const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
                  postgres_pool_options options = {});
    postgres_pool(const postgres_pool&) = delete;
    postgres_pool& operator=(const postgres_pool&) = delete;
    ~postgres_pool();

    // For one call.
    [[nodiscard]] std::shared_ptr<pooled_connection> enter();

    struct counted {
        std::uint64_t handed_over = 0; // transactions that began with the end of another
        std::uint64_t timed_out = 0;   // callers who waited for too long
        std::uint64_t refused = 0;     // callers who found too many waiting
        std::size_t waiting = 0;       // now
        std::size_t free = 0;          // connections, now
    };
    [[nodiscard]] counted count() const;

private:
    std::shared_ptr<postgres::pool_core> core_; // with the calls that are under way
};

} // namespace semel
