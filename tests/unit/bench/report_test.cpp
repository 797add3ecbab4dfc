#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "bench.hpp"

namespace semel::bench {
namespace {

const std::vector<figures> measured{
    {.semel = 30, .reference = 10}, {.semel = 20, .reference = 10}, {.semel = 50, .reference = 20}};

question asking(std::optional<bar> bar) {
    return {.scenario = "a row", .unit = "ns/op", .reference_name = "a map", .bar = bar};
}

TEST(Judge, TakesTheMedianOfTheRoundsRatios) {
    const row made = judge(asking({}), measured);

    EXPECT_DOUBLE_EQ(made.ratio, 2.5);
    EXPECT_DOUBLE_EQ(made.ratio_min, 2);
    EXPECT_DOUBLE_EQ(made.ratio_max, 3);
    EXPECT_DOUBLE_EQ(made.median.semel, 30);
    EXPECT_DOUBLE_EQ(made.median.reference, 10);
}

TEST(Judge, AnUpperBarHoldsUpToItsLimit) {
    EXPECT_TRUE(judge(asking(at_most(2.5)), measured).ok);
    EXPECT_FALSE(judge(asking(at_most(2.4)), measured).ok);
}

TEST(Judge, ALowerBarHoldsDownToItsLimit) {
    EXPECT_TRUE(judge(asking(at_least(2.5)), measured).ok);
    EXPECT_FALSE(judge(asking(at_least(2.6)), measured).ok);
}

TEST(Judge, ARowWithoutABarIsAlwaysFine) {
    EXPECT_TRUE(judge(asking({}), {{.semel = 1000, .reference = 1}}).ok);
}

TEST(Report, OneMissedBarIsAMissedReport) {
    report made;
    made.add(asking(at_most(3)), measured);
    EXPECT_TRUE(made.all_ok());

    made.add(asking(at_most(1)), measured);

    EXPECT_FALSE(made.all_ok());
}

TEST(Report, EveryRowIsAnObjectWithTheSameMembers) {
    report made;
    made.add(asking(at_most(3)), measured);
    made.add(asking({}), measured);

    const auto rows = nlohmann::json::parse(made.json());

    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0], (nlohmann::json{{"scenario", "a row"},
                                       {"unit", "ns/op"},
                                       {"semel", 30.0},
                                       {"reference", 10.0},
                                       {"reference_name", "a map"},
                                       {"ratio", 2.5},
                                       {"bar", 3.0},
                                       {"ok", true},
                                       {"spread", {2.0, 3.0}}}));
    EXPECT_TRUE(rows[1]["bar"].is_null());
}

} // namespace
} // namespace semel::bench
