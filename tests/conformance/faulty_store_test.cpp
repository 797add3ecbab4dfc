// A suite that finds nothing proves nothing: each of these stores has one fault.
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>

#include "conformance/reference_store.hpp"
#include "conformance/search.hpp"
#include "semel/conformance.hpp"

namespace semel::conformance {
namespace {

std::string difference(const faults& wrong) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        auto report = walk(reference_subject(wrong), {.seed = seed});
        if (report.difference) return *std::move(report.difference);
    }
    return {};
}

template <class Answer> Answer* as(applied& made) {
    return std::get_if<Answer>(&made.said);
}

// One contract for all: whatever a URL can open is among the subjects of this very run.
TEST(R30_Conformance, EveryKindOfStoreIsHeldToTheSuite) {
    const auto* const run = testing::UnitTest::GetInstance();
    std::set<std::string> suites;
    for (int i = 0; i < run->total_test_suite_count(); ++i) {
        suites.insert(run->GetTestSuite(i)->name());
    }

    for (const std::string kind :
         {"memory", "sqlite", "postgres", "mariadb", "mysql", "redis", "tiered_redis_sqlite",
          "tiered_redis_postgres", "tiered_redis_mariadb"}) {
        EXPECT_TRUE(suites.contains("Conformance_" + kind)) << kind;
    }
}

TEST(FaultyStore, PlainStoreHasNoDifference) {
    EXPECT_EQ(difference({}), "");
}

TEST(FaultyStore, R_14_FoldingTheCaseOfKeysIsFound) {
    EXPECT_NE(difference({.id =
                              [](record_id& id) {
                                  for (auto& byte : id.key) {
                                      byte = static_cast<char>(
                                          std::tolower(static_cast<unsigned char>(byte)));
                                  }
                              }}),
              "");
}

TEST(FaultyStore, R_14_TrimmingKeysIsFound) {
    EXPECT_NE(difference({.id =
                              [](record_id& id) {
                                  while (id.key.ends_with(' ')) id.key.pop_back();
                              }}),
              "");
}

TEST(FaultyStore, EndingKeysAtNulIsFound) {
    EXPECT_NE(difference({.id = [](record_id& id) { id.key = id.key.c_str(); }}), "");
}

TEST(FaultyStore, JoiningScopeAndKeyWithoutLengthsIsFound) {
    EXPECT_NE(difference({.id =
                              [](record_id& id) {
                                  id.key = id.tenant + ":" + id.operation + ":" + id.key;
                                  id.tenant.clear();
                                  id.operation.clear();
                              }}),
              "");
}

TEST(FaultyStore, ForgettingTheFenceFloorIsFound) {
    EXPECT_NE(difference({.at = [](instant& at) { at.fence_floor = 0; }}), "");
}

TEST(FaultyStore, JumpingFencesAreFound) {
    EXPECT_NE(difference({.at = [](instant& at) { at.fence_floor += 5; }}), "");
}

TEST(FaultyStore, JumpingFencesAreAllowedWhereOnlyTheOrderIsPromised) {
    // The floor is below the clock nearly always, so the fault must be larger than any clock.
    const faults wrong{.at = [](instant& at) {
        at.fence_floor = std::max<std::uint64_t>(at.fence_floor, 9'000'000'000'000'000) + 5;
    }};
    subject lax = reference_subject(wrong);
    lax.numbers = fences::ordered;

    EXPECT_NE(walk(reference_subject(wrong), {}).difference, std::nullopt);
    EXPECT_EQ(walk(lax, {}).difference, std::nullopt);
}

TEST(FaultyStore, MillisecondsInsteadOfMicrosecondsAreFound) {
    EXPECT_NE(difference({.written =
                              [](record& it) {
                                  it.lease_until =
                                      time_point{floor<std::chrono::milliseconds>(it.lease_until)};
                              }}),
              "");
}

TEST(FaultyStore, TruncatedErrorsAreFound) {
    EXPECT_NE(difference({.written = [](record& it) { it.error = it.error.substr(0, 4'096); }}),
              "");
}

TEST(FaultyStore, ResultThatEndsAtNulIsFound) {
    EXPECT_NE(difference({.written = [](record& it) { it.result.body = it.result.body.c_str(); }}),
              "");
}

TEST(FaultyStore, LostCheckpointsAreFound) {
    EXPECT_NE(difference({.written =
                              [](record& it) {
                                  if (it.checkpoints.size() > 60) it.checkpoints.pop_back();
                              }}),
              "");
}

TEST(FaultyStore, R_4_CompletionWithoutOwnerCheckIsFound) {
    EXPECT_NE(difference({.asked =
                              [](command& what) {
                                  if (auto* one = std::get_if<commands::complete>(&what)) {
                                      one->by.owner.low ^= one->by.owner.high & 1U;
                                  }
                              }}),
              "");
}

TEST(FaultyStore, UnstoredAnswerIsFound) {
    EXPECT_NE(difference({.made =
                              [](applied& made) {
                                  if (as<answers::renewed>(made)) made.what = change::none;
                              }}),
              "");
}

TEST(FaultyStore, WriteByARefusalIsFound) {
    EXPECT_NE(difference({.made =
                              [](applied& made) {
                                  if (made.what != change::none) return;
                                  auto* said = as<answers::fenced_off>(made);
                                  if (said == nullptr || !said->current) return;
                                  made.what = change::put;
                                  made.after = *said->current;
                                  made.after->updated_at += duration{1};
                              }}),
              "");
}

TEST(FaultyStore, LostAuditEntriesAreFound) {
    EXPECT_NE(difference({.audit = faults::audits::lost}), "");
}

TEST(FaultyStore, PlainSearchesHaveNoDifference) {
    EXPECT_EQ(search_difference(reference_subject(), 1), std::nullopt);
}

TEST(FaultyStore, SearchesThatForgetAConditionAreFound) {
    const std::function<void(record_query&)> ways[]{
        [](record_query& query) { query.tenant.reset(); },
        [](record_query& query) { query.operation.reset(); },
        [](record_query& query) { query.key.reset(); },
        [](record_query& query) { query.states.clear(); },
        [](record_query& query) { query.result_ref.reset(); },
        [](record_query& query) { query.created_from.reset(); },
        [](record_query& query) { query.created_until.reset(); },
        [](record_query& query) {
            if (query.stuck_for) query.stuck_for = duration::zero();
        },
        [](record_query& query) { query.results = result_bodies::left_out; },
        [](record_query& query) { query.now = *query.now - std::chrono::hours{6}; },
    };
    int way = 0;
    for (const auto& one : ways) {
        EXPECT_NE(search_difference(reference_subject({.searched = one}), 1), std::nullopt) << way;
        ++way;
    }
}

TEST(FaultyStore, PagesThatLoseOrRepeatARecordAreFound) {
    const faults loses{.found = [](record_page& page) {
        if (page.records.size() > 2) page.records.pop_back();
    }};
    const faults repeats{.searched = [](record_query& query) {
        if (query.cursor.size() > 30) query.cursor.pop_back();
    }};
    const faults stops{.found = [](record_page& page) { page.cursor.clear(); }};

    for (const auto& wrong : {loses, repeats, stops}) {
        EXPECT_NE(search_difference(reference_subject(wrong), 1), std::nullopt);
    }
}

TEST(FaultyStore, RecordsThatComeAgainAreAllowedWhereTheStoreRearrangesThem) {
    const faults repeats{.searched = [](record_query& query) {
        if (query.cursor.size() > 30 && query.records_max > 1) query.cursor.pop_back();
    }};
    subject lax = reference_subject(repeats);
    lax.pages = finding::at_least_once;

    EXPECT_NE(search_difference(reference_subject(repeats), 1), std::nullopt);
    EXPECT_EQ(search_difference(lax, 1), std::nullopt);
}

TEST(FaultyStore, DifferenceNamesSeedAndStepAndIsShortened) {
    const std::string found = difference(
        {.written = [](record& it) { it.attempts = std::min<std::uint32_t>(it.attempts, 2); }});

    EXPECT_NE(found.find("store reference, seed 1, step "), std::string::npos) << found;
    EXPECT_NE(found.find("shortened to "), std::string::npos) << found;
}

TEST(FaultyStore, SameSeedGivesTheSameWalk) {
    const auto once = walk(reference_subject(), {.seed = 7, .commands = 1'000});
    const auto again = walk(reference_subject(), {.seed = 7, .commands = 1'000});
    const auto other = walk(reference_subject(), {.seed = 8, .commands = 1'000});

    EXPECT_EQ(once.seen, again.seen);
    EXPECT_NE(once.seen, other.seen);
}

} // namespace
} // namespace semel::conformance
