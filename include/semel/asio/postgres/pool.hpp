// PostgreSQL transactions on a pool of connections, for Boost.Asio programs.
//
//   auto pool = semel::make_postgres_pool(context.get_executor(), connections); // your PGconn*
//
//   auto work = [](semel::execution&,
//                  semel::pooled_connection& on) -> boost::asio::awaitable<order> {
//       PQsendQueryParams(on.native(), …);
//       auto op  = semel::async_results(on.native(), on.waits());
//       auto got = co_await std::move(op);
//       …
//   };
//   auto op  = semel::async_transact<order>(engine, pool, std::move(request), std::move(work));
//   auto out = co_await std::move(op);
//
// As on a connection of your own (semel/asio/transaction.hpp), work that does not need the answers
// of its statements is a plain function that leaves the statements in libpq's pipeline. Keep op and
// co_await apart, and name request and work first (g++ 12).
#pragma once

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "semel/asio/postgres.hpp"
#include "semel/databases/postgres/transaction/pool.hpp"

namespace semel {

// The executor's context outlives the pool. An executor of several threads needs no strand. One
// pool for each loop is fastest, because callers and connections then share a thread.
inline postgres_pool make_postgres_pool(const boost::asio::any_io_executor& executor,
                                        const std::vector<pg_conn*>& connections,
                                        postgres_pool_options options = {}) {
    return {connections, [executor] { return std::make_unique<asio_waiter>(executor); },
            std::move(options)};
}

namespace detail {

// The work of a call, and the call's place in the pool.
template <class Work> class pooled_work {
public:
    pooled_work(std::shared_ptr<pooled_connection> on, Work work)
        : on_(std::move(on)), work_(std::move(work)) {}
    auto operator()(execution& run) {
        if constexpr (std::is_invocable_v<Work&, execution&, pooled_connection&>) {
            return work_(run, *on_);
        } else {
            return work_(*on_);
        }
    }

private:
    std::shared_ptr<pooled_connection> on_; // not shared; but work must be copyable
    Work work_;
};

} // namespace detail

// engine::async_transact() on a connection of the pool. The work takes `execution&` and
// `pooled_connection&`, or the latter alone. The engine and the pool outlive the operation.
template <class T, class Work>
auto async_transact(engine& on, postgres_pool& pool, request what, Work work) {
    auto place = pool.enter();
    async_transaction_port& port = place->port();
    return on.async_transact<T>(port, std::move(what),
                                detail::pooled_work<Work>{std::move(place), std::move(work)});
}

} // namespace semel
