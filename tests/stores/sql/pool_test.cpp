// Threads that take turns on the connections of a pool.
#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "stores/sql/pools.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

TEST_F(SqlPool, ManyThreadsPayOncePerKey) {
    constexpr int threads = 12;
    constexpr int keys = 30;
    database_pool pool{connect(3), usual()};
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
    EXPECT_EQ(pool.count().handed_over > 0, pools_hand_over);
    EXPECT_EQ(pool.count().free, 3U);
    EXPECT_EQ(pool.count().waiting, 0U);
    EXPECT_EQ(payments(), std::to_string(keys));
    EXPECT_EQ(recorded(), std::to_string(keys));
}

TEST_F(SqlPool, ACallerWaitsForAConnectionOnlyForAWhile) {
    auto how = usual();
    how.wait_max = 50ms;
    database_pool pool{connect(1), how};
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

TEST_F(SqlPool, TooManyWhoWaitAreRefusedAtOnce) {
    auto how = usual();
    how.waiting_max = 0;
    database_pool pool{connect(1), how};
    std::optional<outcome<std::string>> second;

    const auto first = engine_.transact<std::string>(pool.transaction(), payment("a"), [&] {
        second = pay_in(pool, "b");
        return std::string{"a"};
    });

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(why(*second), errc::overloaded);
    EXPECT_EQ(pool.count().refused, 1U);
}

TEST_F(SqlPool, AConnectionThatWasLostIsReconnectedForTheNext) {
    auto how = usual();
    int told = 0;
    how.on_reconnect = [&](auto*) { ++told; };
    database_pool pool{connect(1), how};
    ASSERT_TRUE(pay_in(pool, "a").executed());
    disconnect(*clients_.front());

    EXPECT_TRUE(pay_in(pool, "b").executed());
    EXPECT_EQ(told, 1);
    EXPECT_EQ(payments(), "2");
}

TEST_F(SqlPool, NeedsAConnection) {
    EXPECT_THROW(database_pool{{}}, std::invalid_argument);
}

} // namespace
} // namespace semel
