// A pool for callers that block: the end of one transaction travels with the beginning of the next.
#include <functional>
#include <optional>
#include <string>
#include <thread>

#include "stores/sql/pools.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

class PostgresBlockingPool : public SqlPool {
protected:
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
    static void queue_on(postgres_connection& on, const std::string& text) {
        ASSERT_EQ(PQenterPipelineMode(on.native()), 1);
        ASSERT_EQ(
            PQsendQueryParams(on.native(), text.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0),
            1);
    }
};

TEST_F(PostgresBlockingPool, TheEndOfOneTransactionTravelsWithTheBeginningOfTheNext) {
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

TEST_F(PostgresBlockingPool, ARepeatBehindTheFirstIsReplayed) {
    postgres_pool pool{connect(1), usual()};
    std::jthread other;
    std::optional<outcome<std::string>> two;

    const auto one = pay_before(pool, other, [&] { two = pay_in(pool, "first"); });
    other.join();

    EXPECT_TRUE(one.executed());
    EXPECT_EQ(two->value(), "first");
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresBlockingPool, AFailureOfTheFirstIsNotTheNextOnes) {
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

// Statements of another caller may stand before the COMMIT that the way in travels with.
TEST_F(PostgresBlockingPool, ACallerWhoTravelsWaitsNoLongerThanOthers) {
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

} // namespace
} // namespace semel
