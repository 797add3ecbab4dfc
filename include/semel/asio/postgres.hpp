// PostgreSQL transactions for Boost.Asio programs. See semel/asio/transaction.hpp.
#pragma once

#include <utility>

#include "semel/asio/transaction.hpp"
#include "semel/databases/postgres/transaction.hpp"

namespace semel {

// all_results() for a coroutine of Asio: `auto op = semel::async_results(connection, waits); auto
// got = co_await std::move(op);`
inline auto async_results(pg_conn* connection, socket_waiter& waits) {
    auto all = all_results(connection, waits);
    return async_run(std::move(all));
}

} // namespace semel
