// Payments of callers who take turns on the connections of a pool.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "looped_payments.hpp"

namespace semel {

// Connections and the pool over them.
class shared_desks {
public:
    shared_desks(const asio::any_io_executor& executor, int connections,
                 postgres_pool_options options, const std::string& url)
        : clients(connect(connections, url)),
          pool(handles(), asio_waiters{executor}, std::move(options)) {}

    std::vector<std::unique_ptr<database_client>> clients;
    postgres_pool pool;

private:
    static std::vector<std::unique_ptr<database_client>> connect(int many, const std::string& url) {
        std::vector<std::unique_ptr<database_client>> made;
        for (int i = 0; i < many; ++i) made.push_back(std::make_unique<database_client>(url));
        return made;
    }
    std::vector<pg_conn*> handles() const {
        std::vector<pg_conn*> made;
        for (const auto& one : clients) made.push_back(one->native());
        return made;
    }
};

class PostgresPool : public LoopedPayments {
protected:
    using steps = std::vector<std::string>;

    postgres_pool_options usual() { return {.transaction = {.table_prefix = prefix()}}; }
    shared_desks share(int connections) { return share(connections, usual()); }
    shared_desks share(int connections, postgres_pool_options how) {
        return {loop_.get_executor(), connections, std::move(how), database_url(database_port())};
    }

    template <class Work> awaitable<answer> transact_in(shared_desks& at, request what, Work work) {
        auto op = engine_.async_transact<std::string>(at.pool.transaction(), std::move(what),
                                                      std::move(work));
        auto out = co_await std::move(op);
        co_return out;
    }
    // Work that waits for one statement after the other, whatever comes of them.
    awaitable<answer> run_in(shared_desks& at, std::string key, steps texts) {
        auto work = [texts](postgres_connection& on) -> awaitable<std::string> {
            for (const auto& text : texts) co_await run_on(on, text);
            co_return "done";
        };
        return transact_in(at, payment(std::move(key)), std::move(work));
    }
    awaitable<answer> pay_in(shared_desks& at, std::string key) {
        return run_in(at, std::move(key), {paying()});
    }
    // Two callers who come at the same time to one connection.
    std::pair<answer, answer> one_after_the_other(shared_desks& at, awaitable<answer> first,
                                                  awaitable<answer> second) {
        std::optional<answer> one;
        std::optional<answer> two;
        spawn(std::move(first), one);
        spawn(std::move(second), two);
        loop_.restart();
        loop_.run();
        EXPECT_EQ(at.pool.count().free, at.clients.size());
        EXPECT_EQ(at.pool.count().waiting, 0U);
        return {std::move(*one), std::move(*two)};
    }
};

} // namespace semel
