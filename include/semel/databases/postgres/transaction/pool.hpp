// A few PostgreSQL connections for many callers: each transaction runs on a connection that is
// free.
//
// Boost.Asio programs include semel/asio/postgres/pool.hpp, which has an example.
//
// While callers wait for a connection, the end of one transaction (its record and COMMIT) travels
// with the beginning of the next (BEGIN, the lock of its key and the look-up). So a transaction
// costs one round trip beside those of its work, instead of two.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "semel/databases/postgres/transaction.hpp"

namespace semel {

struct postgres_pool_options {
    postgres_transaction_options transaction = {};
    // How long a caller waits for a connection: then errc::timed_out.
    duration wait_max = std::chrono::seconds{10};
    // How many callers may wait for a connection. One more is refused at once: errc::overloaded.
    std::size_t waiting_max = 10'000;
    // The pool reconnects a lost connection (PQreset) when a caller needs it, within doubt_wait.
    // What was set and prepared in its session is gone then. The pool calls this function with the
    // connection, so that it can set and prepare again. It runs in place: keep it brief.
    std::function<void(pg_conn*)> made_anew = {};
};

// One call's place in the pool. While the work runs, it has a connection: native() and waits()
// return it. Do not call these two before or after the work.
class pooled_connection {
public:
    virtual ~pooled_connection() = default;
    [[nodiscard]] virtual pg_conn* native() const = 0;
    [[nodiscard]] virtual socket_waiter& waits() const = 0;
    // Pass it to engine::async_transact. For one call at a time.
    [[nodiscard]] virtual async_transaction_port& port() = 0;
};

namespace postgres {
class pool_core;
}

// Thread-safe. Keep the connections longer than the pool, and use them for nothing else meanwhile.
// Keep the pool longer than its calls; only calls whose loop has stopped for good may be left. The
// pool puts the connections into libpq's nonblocking mode, see make_async_postgres_transaction().
//
// Callers get a connection in the order in which they ask. A caller that has had a connection and
// needs one again (to repeat its transaction, to keep a final failure, to find out what became of a
// COMMIT) goes first.
class postgres_pool {
public:
    // `make_waiter` is called once for each connection and once more, for the time limits. These
    // waiters must not call `then` inside wait(). Throws std::invalid_argument if `connections` is
    // empty.
    postgres_pool(const std::vector<pg_conn*>& connections,
                  const std::function<std::unique_ptr<socket_waiter>()>& make_waiter,
                  postgres_pool_options options = {});
    postgres_pool(const postgres_pool&) = delete;
    postgres_pool& operator=(const postgres_pool&) = delete;
    ~postgres_pool();

    // A place for one call.
    [[nodiscard]] std::shared_ptr<pooled_connection> enter();

    struct counted {
        std::uint64_t handed_over = 0; // transactions whose beginning travelled with another's end
        std::uint64_t timed_out = 0;   // callers who waited for too long
        std::uint64_t refused = 0;     // callers who found too many waiting
        std::size_t waiting = 0;       // now
        std::size_t free = 0;          // connections, now
    };
    [[nodiscard]] counted count() const;

private:
    std::shared_ptr<postgres::pool_core> core_; // shared with the calls that are under way
};

} // namespace semel
