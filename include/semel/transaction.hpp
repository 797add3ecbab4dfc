// Handles of database transactions on the caller's own connection.
//
// The record, the business rows and the outbox events commit together: there is never a record
// without its effect, nor an effect without its record, whatever crashes. The headers in
// semel/transaction/ have the handles, one per database; engine.hpp has the calls that take them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "semel/base/function.hpp"
#include "semel/base/time.hpp"

namespace semel {

class transaction_port;

// The way to one connection, or to a pool of connections. Move-only. Pass it to engine::transact(),
// execute_in(), async_transact() or async_execute_in(): one call at a time, and a handle that was
// moved from to none. A child that was forked later is refused (errc::unsupported).
class transaction {
public:
    transaction(transaction&&) noexcept;
    transaction& operator=(transaction&&) noexcept;
    ~transaction();

    // Which calls take a handle, as far as its type tells. Where only the object knows, the call
    // ends with errc::unsupported, before anything was sent.
    static constexpr bool blocks = true;   // transact() and execute_in()
    static constexpr bool suspends = true; // async_transact() and async_execute_in()
    static constexpr bool joins = true;    // execute_in() and async_execute_in()

protected:
    explicit transaction(std::unique_ptr<transaction_port> port);

private:
    friend class transaction_port;
    std::unique_ptr<transaction_port> port_;
};

template <class Handle>
concept transaction_handle = std::derived_from<std::remove_cvref_t<Handle>, transaction>;
template <class Handle>
concept blocking_transaction = transaction_handle<Handle> && std::remove_cvref_t<Handle>::blocks;
template <class Handle>
concept suspending_transaction =
    transaction_handle<Handle> && std::remove_cvref_t<Handle>::suspends;

// What a pool of connections has counted.
struct pool_counts {
    std::uint64_t handed_over = 0; // transactions whose beginning travelled with another's end
    std::uint64_t timed_out = 0;   // callers who waited for too long
    std::uint64_t refused = 0;     // callers who found too many waiting
    std::size_t waiting = 0;       // now
    std::size_t free = 0;          // connections, now
};

// ---- for callers that do not block --------------------------------------------------------------

// A connection's socket. The number alone does not identify it: after a reconnect the new socket
// may have the old number.
struct watched_socket {
    int number = -1;
    std::int64_t connection = 0; // never the same for two connections
    friend bool operator==(const watched_socket&, const watched_socket&) = default;
};

// Waits for a connection's socket on the caller's own loop: semel/asio/transaction.hpp has a waiter
// for Asio. Each connection needs its own waiter. A waiter has one wait at a time.
class socket_waiter {
public:
    enum class interest : std::uint8_t { time, read, write, read_and_write };
    enum class woken : std::uint8_t { ready, deadline };

    virtual ~socket_waiter() = default;

    // Calls `then` once: when the socket is ready (interest::time: never) or at the deadline, on
    // any thread, perhaps before wait() returns. A waiter whose loop has stopped destroys `then`
    // without calling it: that ends the transaction that waits.
    virtual void wait(const watched_socket& socket, interest what, local_time deadline,
                      unique_function<void(woken)> then) = 0;

    // Stops watching the socket and frees what belongs to it.
    virtual void forget() = 0;
};

} // namespace semel
