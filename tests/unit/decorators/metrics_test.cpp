#include "semel/core/metrics.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

using namespace std::chrono_literals;

TEST(LatencyHistogram, PutsEachTimeIntoItsPowerOfTwo) {
    latency_histogram times;
    for (const auto took : {0ns, 1ns, 2ns, 3ns, 4ns, 1'023ns, 1'024ns}) times.record(took);

    const auto taken = times.snapshot();

    EXPECT_EQ(taken.buckets[0], 1U);
    EXPECT_EQ(taken.buckets[1], 1U);
    EXPECT_EQ(taken.buckets[2], 2U);
    EXPECT_EQ(taken.buckets[3], 1U);
    EXPECT_EQ(taken.buckets[10], 1U);
    EXPECT_EQ(taken.buckets[11], 1U);
    EXPECT_EQ(taken.count(), 7U);
    EXPECT_EQ(taken.sum, 2'057ns);
}

TEST(LatencyHistogram, TakesAnyTimeThereIs) {
    latency_histogram times;
    times.record(-5ns);
    times.record(std::chrono::nanoseconds::max());

    const auto taken = times.snapshot();

    EXPECT_EQ(taken.buckets.front(), 1U);
    EXPECT_EQ(taken.buckets.back(), 1U);
}

TEST(LatencyHistogram, GivesQuantilesAsTheEndOfTheirBucket) {
    latency_histogram times;
    for (int i = 0; i < 99; ++i) times.record(100ns);
    times.record(5'000ns);

    const auto taken = times.snapshot();

    EXPECT_EQ(taken.quantile(0.0), 128ns);
    EXPECT_EQ(taken.quantile(0.5), 128ns);
    EXPECT_EQ(taken.quantile(0.99), 128ns);
    EXPECT_EQ(taken.quantile(1.0), 8'192ns);
    EXPECT_EQ(latency_snapshot{}.quantile(0.5), 0ns);
}

TEST(MetricNames, AreThoseOfTheCommandsAndAnswers) {
    EXPECT_EQ(command_name(command{commands::begin{}}.index()), "begin");
    EXPECT_EQ(command_name(command{commands::lookup{}}.index()), "lookup");
    EXPECT_EQ(answer_name(answer{answers::replay{}}.index()), name(answer{answers::replay{}}));
    for (std::size_t i = 0; i < command_kinds; ++i) EXPECT_FALSE(command_name(i).empty());
    for (std::size_t i = 0; i < answer_kinds; ++i) EXPECT_FALSE(answer_name(i).empty());
}

TEST(StoreCounters, ShowWhatADriverCounted) {
    store_counters counters;
    counters.round_trips.add();
    counters.batch_commands.add(7);
    counters.refused.add(2);

    const auto taken = counters;
    counters.round_trips.add();

    EXPECT_EQ(taken.round_trips, 1U);
    EXPECT_EQ(taken.batch_commands, 7U);
    EXPECT_EQ(taken.refused, 2U);
    EXPECT_EQ(taken.commits, 0U);
}

} // namespace
} // namespace semel
