#include "semel/core/search.hpp"

#include <gtest/gtest.h>

#include "support/noon.hpp"

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using test::noon;

const record_id sought{"acme", "ORDER", "key"};

record sought_running() {
    record it;
    it.lease_until = noon;
    it.policy.grace = seconds{1};
    it.created_at = noon - hours{1};
    return it;
}

record sought_finished() {
    record it = sought_running();
    it.state = record_state::succeeded;
    it.result = {.body = "large", .type = "text/plain", .ref = "o-1", .checksum = 7};
    it.expires_at = noon + hours{1};
    it.checkpoints = {{.name = "step", .data = "done"}};
    return it;
}

bool finds(const record_query& query, const record& it, time_point now = noon) {
    return matches(query, sought, it, now);
}

TEST(Search, EmptyQueryMatchesEveryVisibleRecord) {
    EXPECT_TRUE(finds({}, sought_running()));
    EXPECT_TRUE(finds({}, sought_finished(), noon + hours{1} - duration{1}));
    EXPECT_FALSE(finds({}, sought_finished(), noon + hours{1}));
}

TEST(Search, PartsOfTheIdAreComparedAsBytes) {
    EXPECT_TRUE(finds({.tenant = "acme", .operation = "ORDER", .key = "key"}, sought_running()));
    EXPECT_FALSE(finds({.tenant = "Acme"}, sought_running()));
    EXPECT_FALSE(finds({.operation = "ORDER "}, sought_running()));
    EXPECT_FALSE(finds({.key = ""}, sought_running()));
}

TEST(Search, StateIsOneOfThoseAskedFor) {
    const record_query ended{.states = {record_state::failed_final, record_state::succeeded}};

    EXPECT_TRUE(finds(ended, sought_finished()));
    EXPECT_FALSE(finds(ended, sought_running()));
}

TEST(Search, ResultRefIsCompared) {
    EXPECT_TRUE(finds({.result_ref = "o-1"}, sought_finished()));
    EXPECT_FALSE(finds({.result_ref = "o-"}, sought_finished()));
    EXPECT_FALSE(finds({.result_ref = "o-1"}, sought_running()));
}

TEST(Search, StuckIsWhatHasLapsedForLongerThanThat) {
    const record_query lapsed_now{.stuck_for = duration::zero()};
    const record_query for_an_hour{.stuck_for = hours{1}};
    const time_point over = noon + seconds{1};

    EXPECT_FALSE(finds(lapsed_now, sought_running(), over));
    EXPECT_TRUE(finds(lapsed_now, sought_running(), over + duration{1}));
    EXPECT_FALSE(finds(for_an_hour, sought_running(), over + hours{1}));
    EXPECT_TRUE(finds(for_an_hour, sought_running(), over + hours{1} + duration{1}));
    EXPECT_FALSE(finds(lapsed_now, sought_finished(), over + duration{1}));
}

TEST(Search, CreationLiesFromOneTimeUntilTheOther) {
    const time_point created = sought_running().created_at;

    EXPECT_TRUE(finds({.created_from = created}, sought_running()));
    EXPECT_FALSE(finds({.created_from = created + duration{1}}, sought_running()));
    EXPECT_FALSE(finds({.created_until = created}, sought_running()));
    EXPECT_TRUE(finds({.created_until = created + duration{1}}, sought_running()));
}

TEST(Search, ConditionsAreJoinedByAnd) {
    EXPECT_FALSE(
        finds({.tenant = "acme", .states = {record_state::processing}}, sought_finished()));
}

TEST(Search, FoundRecordsHaveNoCheckpointsAndABodyOnlyOnRequest) {
    const record stored = sought_finished();
    record without = stored;
    without.checkpoints.clear();
    const record with = without;
    without.result.body.clear();
    without.result.checksum = 0;

    EXPECT_EQ(shown(stored, result_bodies::included), with);
    EXPECT_EQ(shown(record{stored}, result_bodies::included), with);
    EXPECT_EQ(shown(stored, result_bodies::left_out), without);
    EXPECT_EQ(shown(record{stored}, result_bodies::left_out), without);
}

TEST(Search, QueriesThatCannotBeMeantAreRefusedByName) {
    const auto why = [](const record_query& query) { return check(query).error().detail; };

    EXPECT_TRUE(check({}));
    EXPECT_TRUE(check({.records_max = 1'000}));
    EXPECT_EQ(why({.records_max = 1'001}), "search: records_max must be 1 to 1000");
    EXPECT_EQ(why({.results = result_bodies::included, .records_max = 101}),
              "search: records_max must be 1 to 100");
    EXPECT_EQ(why({.records_max = 0}), "search: records_max must be 1 to 1000");
    EXPECT_EQ(why({.result_ref = ""}), "search: result_ref is empty");
    EXPECT_EQ(why({.stuck_for = -seconds{1}}), "search: stuck_for is negative");
}

} // namespace
} // namespace semel
