#include "edge/console/history.hpp"

#include "counter_desk.hpp"

namespace semel::edge::console_test {
namespace {

const time_point start{std::chrono::hours{12}};

console_numbers numbers(std::uint64_t executed, std::uint64_t begins) {
    console_numbers made;
    made.engine.executed = executed;
    made.center.started = executed;
    made.store.commands[0].calls = begins;
    made.store.commands[0].latency.buckets[20] = begins; // about a millisecond
    return made;
}

TEST(ConsoleHistory, ASampleIsWhatHasHappenedSinceTheOneBefore) {
    history all{10};

    all.add(numbers(5, 100), {}, start);
    all.add(numbers(7, 130), {.up = true}, start + 2s);
    const auto samples = all.after(0);

    ASSERT_EQ(samples.size(), 1);
    EXPECT_EQ(samples[0].executed, 4);
    EXPECT_EQ(samples[0].span, 2s);
    EXPECT_EQ(samples[0].store_calls, 30);
    EXPECT_EQ(samples[0].begin_p99, std::chrono::nanoseconds{1 << 20});
    EXPECT_TRUE(samples[0].pulse.up);
}

TEST(ConsoleHistory, KeepsTheLatestAndGivesThoseAfterANumber) {
    history all{3};
    for (int i = 0; i < 6; ++i) all.add(numbers(0, 0), {}, start + i * 2s);

    EXPECT_EQ(all.after(0).size(), 3);
    EXPECT_EQ(all.after(4).size(), 1);
    EXPECT_EQ(all.after(5).size(), 0);
    EXPECT_EQ(all.after(99).size(), 3); // of another process
}

TEST(ConsoleHistory, LatenciesAreThoseOfTheLastMinute) {
    history all{100};
    for (std::uint64_t i = 0; i <= 60; ++i) {
        all.add(numbers(0, i * 10), {}, start + std::chrono::seconds{2 * i});
    }

    const auto got = all.latencies();

    ASSERT_EQ(got.size(), 1);
    EXPECT_EQ(got[0].command, "begin");
    EXPECT_EQ(got[0].calls, 300);
}

TEST(ConsoleHistory, ACounterThatWasReadTooEarlyIsNoHugeNumber) {
    history all{10};

    all.add(numbers(5, 100), {}, start);
    all.add(numbers(4, 90), {}, start + 2s);

    EXPECT_EQ(all.after(0).at(0).executed, 0);
    EXPECT_EQ(all.after(0).at(0).store_calls, 0);
}

TEST(ConsoleOverview, GoesOnBySamples) {
    std::uint64_t executed = 0;
    counter_desk desk{
        {.numbers = [&] { return numbers(executed, 0); }, .version = "1.2", .store = "memory"}};

    executed = 3;
    desk.runtime.pass(2s);
    const json first = desk.api("overview").body;
    desk.runtime.pass(2s);
    const json second = desk.api("overview?after=1").body;

    EXPECT_EQ(first["series"]["executed"], json::array({6}));
    EXPECT_EQ(second["series"]["number"], json::array({2}));
    EXPECT_EQ(second["totals"]["executed"], 6);
    EXPECT_EQ(second["store"]["up"], true);
    EXPECT_EQ(second["version"], "1.2");
    EXPECT_EQ(desk.api("overview?after=x").status, 400);
}

} // namespace
} // namespace semel::edge::console_test
