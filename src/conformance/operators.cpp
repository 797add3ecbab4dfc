// What operators do to a record, by hand.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "conformance/helpers.hpp"
#include "conformance/suite.hpp"
#include "conformance/text.hpp"

namespace semel::conformance {

namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

void operator_acts_are_audited_in_order(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("audited");
    const claim by = must_start(*fresh.it, id, 1, day_one);
    commands::resolve failed{.expected_fence = by.fence,
                             .verdict = commands::resolve::failed{.error = "no"},
                             .retention = hours{1},
                             .actor = "anna",
                             .reason = "too early"};
    const auto early = ask(*fresh.it, id, failed, day_one);
    const time_point then = day_one + seconds{31};
    failed.reason = "the bank says no";

    const auto resolved = ask(*fresh.it, id, failed, then);
    const auto removed =
        ask(*fresh.it, id, commands::remove{.actor = "bob", .reason = "test"}, then + seconds{1});
    const auto again = ask(*fresh.it, id, commands::remove{.actor = "bob"}, then + seconds{2});

    EXPECT_TRUE(is<answers::in_progress>(early)) << text(early);
    ASSERT_TRUE(is<answers::resolved>(resolved)) << text(resolved);
    EXPECT_TRUE(is<answers::removed>(removed)) << text(removed);
    EXPECT_TRUE(is<answers::kept>(again)) << text(again);
    const std::vector<audit_entry> expected{{.at = then,
                                             .act = "resolve: failed",
                                             .actor = "anna",
                                             .reason = "the bank says no",
                                             .fence = by.fence,
                                             .from = record_state::processing,
                                             .to = record_state::failed_final},
                                            {.at = then + seconds{1},
                                             .act = "remove",
                                             .actor = "bob",
                                             .reason = "test",
                                             .fence = std::get<answers::resolved>(resolved).fence,
                                             .from = record_state::failed_final}};
    EXPECT_EQ(fresh->audit(id).value(), expected);
    EXPECT_TRUE(fresh->audit(id_of("another")).value().empty());
}

// In doubt is what an operator or a probe must settle: neither time nor the sweeper does.
void used_up_records_stay_in_doubt_until_a_verdict(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("used up");
    commands::begin once = begin_of(1);
    once.policy = {.attempts_max = 1, .processing_max = seconds{60}};
    const answer first = ask(*fresh.it, id, once, day_one);
    ASSERT_TRUE(is<answers::started>(first)) << text(first);
    const claim by = std::get<answers::started>(first).by;
    const time_point later = day_one + hours{1'000};

    (void)fresh->sweep({.now = later}).value();
    EXPECT_TRUE(is<answers::kept>(ask(*fresh.it, id, commands::purge{}, later)));
    const answer doubt = ask(*fresh.it, id, once, later);
    EXPECT_TRUE(is<answers::in_doubt>(doubt)) << text(doubt);
    const commands::resolve not_executed{.expected_fence = by.fence, .retention = hours{1}};
    const answer verdict = ask(*fresh.it, id, not_executed, later);
    ASSERT_TRUE(is<answers::resolved>(verdict)) << text(verdict);

    const answer again = ask(*fresh.it, id, once, later);
    EXPECT_TRUE(is<answers::started>(again)) << text(again);
}

// What a verdict has ended another one may correct, if it names the fence of the first.
void a_verdict_is_corrected_and_both_are_audited(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("corrected");
    const claim by = must_start(*fresh.it, id, 1, day_one);
    const time_point later = day_one + minutes{10};
    const auto verdict = [](std::uint64_t fence, std::string body) {
        return commands::resolve{
            .expected_fence = fence,
            .verdict = commands::resolve::committed{.result = result_of(std::move(body))},
            .retention = hours{1}};
    };
    const answer wrong = ask(*fresh.it, id, verdict(by.fence, "wrong"), later);
    ASSERT_TRUE(is<answers::resolved>(wrong)) << text(wrong);
    const auto fence = std::get<answers::resolved>(wrong).fence;

    const answer right = ask(*fresh.it, id, verdict(fence, "right"), later);
    const answer late = ask(*fresh.it, id, verdict(fence, "late"), later);

    ASSERT_TRUE(is<answers::resolved>(right)) << text(right);
    EXPECT_TRUE(is<answers::fenced_off>(late)) << text(late);
    const answer repeat = ask(*fresh.it, id, begin_of(1), later);
    ASSERT_TRUE(is<answers::replay>(repeat)) << text(repeat);
    EXPECT_EQ(std::get<answers::replay>(repeat).result, result_of("right"));
    const auto audit = fresh->audit(id).value();
    ASSERT_EQ(audit.size(), 2U);
    EXPECT_EQ(audit.back().act, "correct: committed");
    EXPECT_EQ(audit.back().from, record_state::succeeded);
    EXPECT_EQ(audit.back().fence, fence);
}

constexpr named_test tests[]{
    {"OperatorActsAreAuditedInOrder", operator_acts_are_audited_in_order},
    {"UsedUpRecordsStayInDoubtUntilAVerdict", used_up_records_stay_in_doubt_until_a_verdict},
    {"AVerdictIsCorrectedAndBothAreAudited", a_verdict_is_corrected_and_both_are_audited},
};

} // namespace

std::span<const named_test> operator_tests() {
    return tests;
}

} // namespace semel::conformance
