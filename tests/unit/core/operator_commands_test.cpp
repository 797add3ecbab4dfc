#include <gtest/gtest.h>

#include "unit/core/machine.hpp"

namespace semel::test {
namespace {

commands::resolve resolve(const claim& of, decltype(commands::resolve::verdict) verdict) {
    return {.expected_fence = of.fence,
            .verdict = std::move(verdict),
            .retention = hours{1},
            .actor = "anna",
            .reason = "asked the bank"};
}

// ---- resolve

TEST(Resolve, CommittedMakesTheRecordSucceed) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;

    m.expect<answers::resolved>(
        resolve(by, commands::resolve::committed{stored_result{.body = "order 7"}}));

    EXPECT_EQ(m.expect_refusal<answers::replay>(begin(2)).result.body, "order 7");
    EXPECT_EQ(m.it->expires_at, m.now + hours{1});
}

TEST(Resolve, NotExecutedLetsTheNextCallerRunItAtOnce) {
    machine m;
    const claim by = m.start(1, held);
    m.expect<answers::stored>(commands::checkpoint{by, {"paid", "x"}});
    m.now += past_lease;

    m.expect<answers::resolved>(resolve(by, commands::resolve::not_executed{}));

    const auto started = m.expect<answers::started>(begin(2));
    EXPECT_EQ(started.kind, answers::start_kind::retried);
    EXPECT_EQ(started.checkpoints.size(), 1U);
}

TEST(Resolve, NotExecutedGrantsOneMoreAttemptWhereAllAreUsedUp) {
    constexpr record_policy once{.on_lease_expiry = lease_expiry::hold, .attempts_max = 1};
    machine m;
    const claim first = m.start(1, once);
    m.now += past_lease;
    m.expect<answers::resolved>(resolve(first, commands::resolve::not_executed{}));

    const auto second = m.expect<answers::started>(begin(2, once));

    EXPECT_EQ(second.attempt, 2U);
    m.expect<answers::stored>(fail(second.by, commands::failure_kind::retryable));
    m.now += seconds{10};
    m.expect_refusal<answers::failed>(begin(3, once)); // one more, not two
}

TEST(Resolve, NotExecutedGrantsNothingWhereAttemptsAreLeft) {
    machine m;
    const claim first = m.start(1, {.on_lease_expiry = lease_expiry::hold, .attempts_max = 5});
    m.now += past_lease;

    m.expect<answers::resolved>(resolve(first, commands::resolve::not_executed{}));

    EXPECT_EQ(m.it->policy.attempts_max, 5U);
}

TEST(Resolve, FailedIsFinal) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;

    m.expect<answers::resolved>(resolve(by, commands::resolve::failed{.error = "refused"}));

    const auto failed = m.expect_refusal<answers::failed>(begin(2));
    EXPECT_EQ(failed.state, record_state::failed_final);
    EXPECT_EQ(failed.error, "refused");
}

TEST(Resolve, WaitsUntilTheLeaseHasLapsed) {
    machine m;
    const claim by = m.start(1, held);

    const auto busy =
        m.expect_refusal<answers::in_progress>(resolve(by, commands::resolve::failed{}));

    EXPECT_EQ(busy.holder, by);
}

TEST(Resolve, FencesThePausedOwnerOff) {
    machine m;
    const claim paused = m.start(1, held);
    m.now += past_lease;
    const auto resolved = m.expect<answers::resolved>(
        resolve(paused, commands::resolve::committed{stored_result{.body = "by the bank"}}));

    const auto fenced = m.expect_refusal<answers::fenced_off>(complete(paused));

    EXPECT_GT(resolved.fence, paused.fence);
    EXPECT_EQ(fenced.current->holder, (claim{.fence = resolved.fence, .owner = {}}));
    EXPECT_EQ(fenced.current->result.body, "by the bank");
}

TEST(Resolve, FencesThePausedOwnerOffAfterNotExecutedToo) {
    machine m;
    const claim paused = m.start(1, held);
    m.now += past_lease;
    m.expect<answers::resolved>(resolve(paused, commands::resolve::not_executed{}));

    m.expect_refusal<answers::fenced_off>(complete(paused));
    m.expect_refusal<answers::fenced_off>(fail(paused, commands::failure_kind::retryable));
}

TEST(Resolve, IsFencedOffWithAnotherFence) {
    machine m;
    claim by = m.start(1, held);
    m.now += past_lease;
    by.fence -= 1;

    EXPECT_TRUE(
        m.expect_refusal<answers::fenced_off>(resolve(by, commands::resolve::failed{})).current);
}

TEST(Resolve, IsFencedOffOnFinishedRecord) {
    machine m;
    const claim by = m.start(1, held);
    m.expect<answers::stored>(complete(by));
    m.now += past_lease;

    m.expect_refusal<answers::fenced_off>(resolve(by, commands::resolve::failed{}));
}

TEST(Resolve, IsFencedOffWhereThereIsNothing) {
    machine m;

    m.expect_refusal<answers::fenced_off>(resolve({.fence = 1}, commands::resolve::failed{}));
}

TEST(Resolve, IsAudited) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;

    m.expect<answers::resolved>(resolve(by, commands::resolve::not_executed{}));

    const audit_entry expected{.at = m.now,
                               .act = "resolve: not executed",
                               .actor = "anna",
                               .reason = "asked the bank",
                               .fence = by.fence,
                               .from = record_state::processing,
                               .to = record_state::failed_retryable};
    EXPECT_EQ(m.audit, expected);
}

// ---- resolve, on what was settled before

TEST(Correction, ReplacesAnEarlierVerdictAndNothingOfItStays) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;
    const auto wrong = m.expect<answers::resolved>(
        resolve(by, commands::resolve::committed{stored_result{.body = "order 7"}}));
    m.now += minutes{1};

    const auto right = m.expect<answers::resolved>(
        resolve({.fence = wrong.fence}, commands::resolve::failed{.error = "refused"}));

    EXPECT_GT(right.fence, wrong.fence);
    EXPECT_EQ(m.expect_refusal<answers::failed>(begin(2)).error, "refused");
    EXPECT_EQ(m.it->result, stored_result{});
    EXPECT_EQ(m.it->expires_at, m.now + hours{1});
}

TEST(Correction, LetsTheWorkRunAfterAll) {
    machine m;
    const claim by = m.start(1, {.on_lease_expiry = lease_expiry::hold, .attempts_max = 1});
    m.now += past_lease;
    const auto wrong =
        m.expect<answers::resolved>(resolve(by, commands::resolve::failed{.error = "refused"}));

    m.expect<answers::resolved>(resolve({.fence = wrong.fence}, commands::resolve::not_executed{}));

    EXPECT_EQ(m.expect<answers::started>(begin(2)).attempt, 2U);
}

// An attempt that was never run leaves the verdict as it found it.
TEST(Correction, IsPossibleAfterAnAttemptWasUndone) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;
    m.expect<answers::resolved>(resolve(by, commands::resolve::not_executed{}));
    const auto second = m.expect<answers::started>(begin(2));
    const commands::release undo{.by = second.by, .replaced = second.replaced};
    m.expect<answers::stored>(undo);
    m.expect_refusal<answers::stored>(undo);

    m.expect<answers::resolved>(
        resolve({.fence = second.by.fence}, commands::resolve::failed{.error = "refused"}));

    EXPECT_EQ(m.expect_refusal<answers::failed>(begin(3)).error, "refused");
}

TEST(Correction, NeedsTheFenceOfTheVerdictThatIsMeant) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;
    const auto first = m.expect<answers::resolved>(resolve(by, commands::resolve::not_executed{}));
    m.expect<answers::resolved>(
        resolve({.fence = first.fence}, commands::resolve::failed{.error = "one operator"}));

    m.expect_refusal<answers::fenced_off>(
        resolve({.fence = first.fence}, commands::resolve::failed{.error = "another one"}));
}

TEST(Correction, IsRefusedOnceTheWorkRunsAgainOrHasEnded) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;
    const auto first = m.expect<answers::resolved>(resolve(by, commands::resolve::not_executed{}));
    const auto again = m.expect<answers::started>(begin(2));

    m.expect_refusal<answers::fenced_off>(
        resolve({.fence = first.fence}, commands::resolve::failed{.error = "late"}));
    m.expect<answers::stored>(complete(again.by));
    m.expect_refusal<answers::fenced_off>(
        resolve(again.by, commands::resolve::failed{.error = "later"}));
}

TEST(Correction, IsRefusedWhereTheVerdictHasExpired) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;
    const auto first = m.expect<answers::resolved>(
        resolve(by, commands::resolve::committed{stored_result{.body = "order 7"}}));
    m.now += hours{2};

    EXPECT_FALSE(m.expect_refusal<answers::fenced_off>(
                      resolve({.fence = first.fence}, commands::resolve::not_executed{}))
                     .current);
}

TEST(Correction, IsAuditedAsOne) {
    machine m;
    const claim by = m.start(1, held);
    m.now += past_lease;
    const auto first = m.expect<answers::resolved>(
        resolve(by, commands::resolve::committed{stored_result{.body = "order 7"}}));

    m.expect<answers::resolved>(resolve({.fence = first.fence}, commands::resolve::not_executed{}));

    const audit_entry expected{.at = m.now,
                               .act = "correct: not executed",
                               .actor = "anna",
                               .reason = "asked the bank",
                               .fence = first.fence,
                               .from = record_state::succeeded,
                               .to = record_state::failed_retryable};
    EXPECT_EQ(m.audit, expected);
}

// ---- remove

TEST(Remove, RemovesARecordOfAnyState) {
    machine processing;
    processing.start();
    machine finished;
    finished.expect<answers::stored>(complete(finished.start()));

    processing.expect<answers::removed>(commands::remove{});
    finished.expect<answers::removed>(commands::remove{});

    EXPECT_FALSE(processing.it);
    EXPECT_FALSE(finished.it);
}

TEST(Remove, IsAudited) {
    machine m;
    const claim by = m.start();

    m.expect<answers::removed>(commands::remove{.actor = "bob", .reason = "test data"});

    const audit_entry expected{.at = noon,
                               .act = "remove",
                               .actor = "bob",
                               .reason = "test data",
                               .fence = by.fence,
                               .from = record_state::processing};
    EXPECT_EQ(m.audit, expected);
}

TEST(Remove, KeepsNothingWhereThereIsNothing) {
    machine m;

    m.expect_refusal<answers::kept>(commands::remove{});
}

TEST(Remove, LeavesAnExpiredRecordToTheSweeper) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));
    m.now += hours{2};

    m.expect_refusal<answers::kept>(commands::remove{});
}

// ---- purge

TEST(Purge, KeepsFinishedRecordUntilItExpires) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.now = noon + hours{1} - microseconds{1};

    m.expect_refusal<answers::kept>(commands::purge{});
}

TEST(Purge, RemovesFinishedRecordOnceExpired) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.now = noon + hours{1};

    m.expect<answers::removed>(commands::purge{});
}

TEST(Purge, RemovesReleasedRecord) {
    machine m;
    m.expect<answers::stored>(commands::release{.by = m.start()});

    m.expect<answers::removed>(commands::purge{});
}

TEST(Purge, KeepsLiveRecord) {
    machine m;
    m.start(1, {.processing_max = seconds{1}});

    m.now += seconds{29};

    m.expect_refusal<answers::kept>(commands::purge{});
}

TEST(Purge, KeepsLapsedRecordWithinProcessingMax) {
    machine m;
    m.start(1, {.processing_max = hours{1}});

    m.now = noon + hours{1} - microseconds{1};

    m.expect_refusal<answers::kept>(commands::purge{});
}

TEST(Purge, RemovesLapsedRecordWhoseClientNeverCameBack) {
    machine m;
    m.start(1, {.processing_max = hours{1}});

    m.now = noon + hours{1};

    m.expect<answers::removed>(commands::purge{});
}

TEST(Purge, NeverRemovesLapsedRecordWhoseAttemptsAreUsedUp) {
    machine m;
    m.start(1, {.attempts_max = 1, .processing_max = hours{1}});
    m.now += hours{24 * 365};

    m.expect_refusal<answers::kept>(commands::purge{});
    m.expect_refusal<answers::in_doubt>(begin(2));
}

TEST(Purge, NeverRemovesHeldOrProbedRecord) {
    for (const auto expiry : {lease_expiry::hold, lease_expiry::probe}) {
        machine m;
        m.start(1, {.on_lease_expiry = expiry, .processing_max = hours{1}});
        m.now += hours{24 * 365};

        m.expect_refusal<answers::kept>(commands::purge{});
    }
}

TEST(Purge, IsNotAudited) {
    machine m;
    m.expect<answers::stored>(commands::release{.by = m.start()});

    m.expect<answers::removed>(commands::purge{});

    EXPECT_FALSE(m.audit);
}

// ---- lookup

TEST(Lookup, ShowsTheRecord) {
    machine m;
    m.start();

    const auto found = m.expect_refusal<answers::found>(commands::lookup{});

    EXPECT_EQ(found.current, m.it);
}

TEST(Lookup, DoesNotShowExpiredRecord) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.now += hours{1};

    EXPECT_FALSE(m.expect_refusal<answers::found>(commands::lookup{}).current);
}

// ---- fences

TEST(Fence, IsTheClockWhereNothingIsHigher) {
    machine m;

    EXPECT_EQ(m.start().fence, micros(noon));
}

TEST(Fence, GoesOnFromTheLastOneWhenTheClockGoesBack) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));
    m.now += hours{1};
    const claim second = m.start();
    m.expect<answers::stored>(commands::release{.by = second});

    m.now = noon - hours{5};

    EXPECT_EQ(m.start().fence, second.fence + 1);
}

TEST(Fence, StaysAboveTheFloorAfterRemovalUnderAClockThatWentBack) {
    machine m;
    const claim first = m.start();
    m.expect<answers::removed>(commands::remove{});

    m.now -= hours{1};

    EXPECT_EQ(m.start().fence, first.fence + 1);
}

TEST(Fence, IsNeverBelowZeroBeforeTheEpoch) {
    machine m;
    m.now = time_point{-hours{1}};

    EXPECT_EQ(m.start().fence, 1U);
}

TEST(Fence, FollowsTheClockAgainWhenItHasCaughtUp) {
    machine m;
    m.floor = micros(noon) + 7;

    EXPECT_EQ(m.start().fence, micros(noon) + 8);
    m.now += past_lease;
    EXPECT_EQ(m.start(2).fence, micros(m.now));
}

} // namespace
} // namespace semel::test
