// A pool for callers that block: threads that take turns on a few connections.
#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "queue.hpp"
#include "stores/sql/payments.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

class BlockingPool : public SqlTransaction {
protected:
    postgres_pool_options usual() { return {.transaction = {.table_prefix = prefix()}}; }
    std::vector<pg_conn*> connect(int many) {
        std::vector<pg_conn*> made;
        for (int i = 0; i < many; ++i) {
            clients_.push_back(std::make_unique<database_client>());
            made.push_back(clients_.back()->native());
        }
        return made;
    }
    outcome<std::string> pay_in(postgres_pool& pool, std::string key) {
        return engine_.transact<std::string>(
            pool.transaction(), payment(std::move(key)), [this](postgres_connection& on) {
                run_on(on, "INSERT INTO " + payment_table() + " VALUES (5)");
                return std::string{"paid"};
            });
    }
    // Inside, it lets another thread come, and goes on when that thread waits for a connection.
    outcome<std::string> pay_before(postgres_pool& pool, std::jthread& other,
                                    const std::function<void()>& others, std::string last = {}) {
        return engine_.transact<std::string>(pool.transaction(), payment("first"),
                                             [&](postgres_connection& on) {
                                                 other = std::jthread{others};
                                                 while (pool.count().waiting == 0)
                                                     std::this_thread::sleep_for(1ms);
                                                 if (!last.empty()) queue_on(on, last);
                                                 return std::string{"first"};
                                             });
    }
    static void run_on(postgres_connection& on, const std::string& text) {
        PGresult* const got = PQexec(on.native(), text.c_str());
        const bool fine = PQresultStatus(got) == PGRES_COMMAND_OK;
        PQclear(got);
        if (!fine) throw std::runtime_error{PQerrorMessage(on.native())};
    }
    static void queue_on(postgres_connection& on, const std::string& text) {
        ASSERT_EQ(PQenterPipelineMode(on.native()), 1);
        ASSERT_EQ(
            PQsendQueryParams(on.native(), text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0),
            1);
    }

    std::vector<std::unique_ptr<database_client>> clients_;
};

TEST_F(BlockingPool, ManyThreadsPayOncePerKey) {
    constexpr int threads = 12;
    constexpr int keys = 30;
    postgres_pool pool{connect(3), usual()};
    std::atomic<int> executed = 0;
    {
        std::vector<std::jthread> all;
        for (int i = 0; i < threads; ++i) {
            all.emplace_back([&, i] {
                for (int key = 0; key < keys; ++key) {
                    const auto out = pay_in(pool, std::to_string((key + i) % keys));
                    EXPECT_TRUE(out.executed() || out.replayed()) << describe(*out.why());
                    executed += out.executed() ? 1 : 0;
                }
            });
        }
    }

    EXPECT_EQ(executed, keys);
    EXPECT_GT(pool.count().handed_over, 0U);
    EXPECT_EQ(pool.count().free, 3U);
    EXPECT_EQ(pool.count().waiting, 0U);
    EXPECT_EQ(payments(), std::to_string(keys));
    EXPECT_EQ(recorded(), std::to_string(keys));
}

TEST_F(BlockingPool, TheEndOfOneTransactionTravelsWithTheBeginningOfTheNext) {
    postgres_pool pool{connect(1), usual()};
    std::jthread other;
    std::optional<outcome<std::string>> two;

    const auto one = pay_before(pool, other, [&] { two = pay_in(pool, "second"); });
    other.join();

    EXPECT_TRUE(one.executed());
    EXPECT_TRUE(two->executed());
    EXPECT_EQ(pool.count().handed_over, 1U);
    EXPECT_EQ(recorded(), "2");
}

TEST_F(BlockingPool, ARepeatBehindTheFirstIsReplayed) {
    postgres_pool pool{connect(1), usual()};
    std::jthread other;
    std::optional<outcome<std::string>> two;

    const auto one = pay_before(pool, other, [&] { two = pay_in(pool, "first"); });
    other.join();

    EXPECT_TRUE(one.executed());
    EXPECT_EQ(two->value(), "first");
    EXPECT_EQ(payments(), "0");
}

TEST_F(BlockingPool, AFailureOfTheFirstIsNotTheNextOnes) {
    postgres_pool pool{connect(1), usual()};
    std::jthread other;
    std::optional<outcome<std::string>> two;

    const auto one = pay_before(
        pool, other, [&] { two = pay_in(pool, "second"); }, "SELECT 1/0");
    other.join();

    EXPECT_EQ(why(one), errc::transaction_broken);
    EXPECT_TRUE(two->executed());
    EXPECT_EQ(recorded(), "1");
}

TEST_F(BlockingPool, ACallerWaitsForAConnectionOnlyForAWhile) {
    auto how = usual();
    how.wait_max = 50ms;
    postgres_pool pool{connect(1), how};
    std::optional<outcome<std::string>> second;

    const auto first = engine_.transact<std::string>(pool.transaction(), payment("a"), [&] {
        std::jthread{[&] { second = pay_in(pool, "b"); }}.join();
        return std::string{"a"};
    });

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(why(*second), errc::timed_out);
    EXPECT_EQ(pool.count().timed_out, 1U);
    EXPECT_EQ(pool.count().free, 1U);
}

// Statements of another caller may stand before the COMMIT that the way in travels with.
TEST_F(BlockingPool, ACallerWhoTravelsWaitsNoLongerThanOthers) {
    auto how = usual();
    how.wait_max = 200ms;
    postgres_pool pool{connect(1), how};
    std::jthread other;
    std::optional<outcome<std::string>> two;

    const auto one = pay_before(
        pool, other, [&] { two = pay_in(pool, "second"); }, "SELECT pg_sleep(1)");
    other.join();

    EXPECT_TRUE(one.executed());
    EXPECT_EQ(why(*two), errc::timed_out);
    EXPECT_EQ(pool.count().free, 1U);
    EXPECT_TRUE(pay_in(pool, "second").executed());
    EXPECT_EQ(recorded(), "2");
}

TEST_F(BlockingPool, TooManyWhoWaitAreRefusedAtOnce) {
    auto how = usual();
    how.waiting_max = 0;
    postgres_pool pool{connect(1), how};
    std::optional<outcome<std::string>> second;

    const auto first = engine_.transact<std::string>(pool.transaction(), payment("a"), [&] {
        second = pay_in(pool, "b");
        return std::string{"a"};
    });

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(why(*second), errc::overloaded);
    EXPECT_EQ(pool.count().refused, 1U);
}

TEST_F(BlockingPool, AConnectionThatWasLostIsReconnectedForTheNext) {
    auto how = usual();
    int told = 0;
    how.on_reconnect = [&](pg_conn*) { ++told; };
    postgres_pool pool{connect(1), how};
    ASSERT_TRUE(pay_in(pool, "a").executed());
    sql("SELECT pg_terminate_backend(" + std::to_string(PQbackendPID(clients_.front()->native())) +
        ", 5000)");

    EXPECT_TRUE(pay_in(pool, "b").executed());
    EXPECT_EQ(told, 1);
    EXPECT_EQ(payments(), "2");
}

TEST_F(BlockingPool, NeedsAConnection) {
    EXPECT_THROW(postgres_pool{{}}, std::invalid_argument);
}

} // namespace
} // namespace semel
