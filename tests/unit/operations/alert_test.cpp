#include "semel/operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using namespace std::chrono_literals;

std::vector<std::string> names(const std::vector<alert>& all) {
    std::vector<std::string> made;
    for (const alert& one : all) {
        made.push_back(std::string{name(one.kind)} +
                       (one.state == alert_state::firing ? "" : " over"));
    }
    return made;
}

TEST(RateAlerts, TellWhenAShareIsOverItsLimitAndWhenItIsNoLonger) {
    rate_alerts rates{{}};

    EXPECT_THAT(rates.look({.requests = 1'000, .replayed = 100}), IsEmpty());
    EXPECT_THAT(names(rates.look({.requests = 2'000, .replayed = 900})),
                ElementsAre("retry_storm"));
    EXPECT_THAT(rates.look({.requests = 3'000, .replayed = 1'700}), IsEmpty()) << "still the same";
    EXPECT_THAT(names(rates.look({.requests = 4'000, .replayed = 1'710})),
                ElementsAre("retry_storm over"));
}

TEST(RateAlerts, KnowMismatchesStoreErrorsAndLag) {
    rate_alerts rates{{}};

    const auto all = rates.look({.requests = 1'000,
                                 .mismatched = 60,
                                 .store_calls = 1'000,
                                 .store_failures = 20,
                                 .outbox_lag = 6min});

    EXPECT_THAT(names(all), ElementsAre("mismatches", "store_errors", "outbox_lag"));
    EXPECT_EQ(all[0].count, 60);
    EXPECT_DOUBLE_EQ(all[1].share, 0.02);
}

TEST(RateAlerts, SayNothingAboutAFewRequests) {
    rate_alerts rates{{}};

    EXPECT_THAT(rates.look({.requests = 99, .replayed = 99}), IsEmpty());
}

TEST(Alert, IsOneObjectOfJson) {
    const alert one{
        .operation = "PAY \"x\"\n", .count = 3, .oldest = 90s, .summary = "3 records are stuck"};

    EXPECT_EQ(to_json(one),
              R"({"alert":"stuck","state":"firing","operation":"PAY \"x\"\u000a","count":3,)"
              R"("share":0,"oldest_seconds":90,"summary":"3 records are stuck"})");
}

TEST(Alert, NamesTheOldestRecordAndThePageThatShowsMore) {
    const alert one{.count = 1,
                    .summary = "1 record is stuck",
                    .tenant = "acme",
                    .key = "1a2b",
                    .link = "https://semel.internal/#/lapsed"};

    EXPECT_TRUE(to_json(one).ends_with(R"("summary":"1 record is stuck","tenant":"acme",)"
                                       R"("key":"1a2b","link":"https://semel.internal/#/lapsed"})"))
        << to_json(one);
}

} // namespace
} // namespace semel
