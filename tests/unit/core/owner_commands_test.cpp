#include <gtest/gtest.h>

#include "unit/core/machine.hpp"

namespace semel::test {
namespace {

using commands::failure_kind;

claim wrong_owner(claim by) {
    by.owner.low ^= 1U;
    return by;
}

claim wrong_fence(claim by) {
    by.fence += 1;
    return by;
}

// ---- complete

TEST(Complete, StoresTheResult) {
    machine m;
    const claim by = m.start();
    m.now += seconds{1};

    const auto stored = m.expect<answers::stored>(complete(by, "order 7"));

    EXPECT_EQ(stored.expires_at, m.now + hours{1});
    EXPECT_EQ(m.it->state, record_state::succeeded);
    EXPECT_EQ(m.it->result.body, "order 7");
    EXPECT_EQ(m.it->updated_at, m.now);
    EXPECT_EQ(m.it->holder, by);
}

TEST(Complete, DropsTheCheckpoints) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::checkpoint{.by = by, .step = {"paid", "x"}});

    m.expect<answers::stored>(complete(by));

    EXPECT_TRUE(m.it->checkpoints.empty());
}

TEST(Complete, IsStoredLateIfNobodyTookOver) {
    machine m;
    const claim by = m.start();

    m.now += hours{5};

    m.expect<answers::stored>(complete(by));
}

TEST(Complete, R_3_IsFencedOffAfterTakeOverAndShowsTheRecord) {
    machine m;
    const claim late = m.start(1);
    m.now += past_lease;
    const claim holder = m.start(2);

    const auto fenced = m.expect_refusal<answers::fenced_off>(complete(late));

    ASSERT_TRUE(fenced.current);
    EXPECT_EQ(fenced.current->holder, holder);
}

TEST(Complete, IsFencedOffWithForgedOwner) {
    machine m;
    const claim by = m.start();

    m.expect_refusal<answers::fenced_off>(complete(wrong_owner(by)));
}

TEST(Complete, IsFencedOffWithForgedFence) {
    machine m;
    const claim by = m.start();

    m.expect_refusal<answers::fenced_off>(complete(wrong_fence(by)));
}

TEST(Complete, RepeatIsStoredAndChangesNothing) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(complete(by, "first"));
    m.now += seconds{1};

    const auto again = m.expect_refusal<answers::stored>(complete(by, "second"));

    EXPECT_EQ(again.expires_at, noon + hours{1});
    EXPECT_EQ(m.it->result.body, "first");
}

TEST(Complete, IsFencedOffAfterTheSameAttemptFailed) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(fail(by, failure_kind::final));

    m.expect_refusal<answers::fenced_off>(complete(by));
}

TEST(Complete, IsFencedOffWhereThereIsNothing) {
    machine m;

    const auto fenced =
        m.expect_refusal<answers::fenced_off>(complete({.fence = 1, .owner = {1, 1}}));

    EXPECT_FALSE(fenced.current);
}

TEST(Complete, DoesNotShowAnExpiredRecord) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(complete(by));
    m.now += hours{2};

    EXPECT_FALSE(m.expect_refusal<answers::fenced_off>(complete(wrong_owner(by))).current);
}

// ---- fail

TEST(Fail, RetryableKeepsErrorRetryTimeAndCheckpoints) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::checkpoint{.by = by, .step = {"paid", "x"}});

    const auto stored = m.expect<answers::stored>(fail(by, failure_kind::retryable));

    EXPECT_EQ(stored.expires_at, noon + hours{1});
    EXPECT_EQ(m.it->state, record_state::failed_retryable);
    EXPECT_EQ(m.it->error, "no");
    EXPECT_EQ(m.it->retry_after, noon + seconds{10});
    EXPECT_EQ(m.it->checkpoints.size(), 1U);
}

TEST(Fail, FinalDropsCheckpointsAndHasNoRetryTime) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::checkpoint{.by = by, .step = {"paid", "x"}});

    m.expect<answers::stored>(fail(by, failure_kind::final));

    EXPECT_EQ(m.it->state, record_state::failed_final);
    EXPECT_EQ(m.it->retry_after, time_point{});
    EXPECT_TRUE(m.it->checkpoints.empty());
}

TEST(Fail, RepeatGetsTheSameAnswer) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(fail(by, failure_kind::retryable));
    m.now += seconds{1};

    EXPECT_EQ(m.expect_refusal<answers::stored>(fail(by, failure_kind::retryable)).expires_at,
              noon + hours{1});
}

TEST(Fail, RepeatAsAnotherKindIsFencedOff) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(fail(by, failure_kind::retryable));

    m.expect_refusal<answers::fenced_off>(fail(by, failure_kind::final));
}

TEST(Fail, R_3_IsFencedOffAfterTakeOver) {
    machine m;
    const claim late = m.start(1);
    m.now += past_lease;
    m.start(2);

    m.expect_refusal<answers::fenced_off>(fail(late, failure_kind::final));
}

TEST(Fail, IsFencedOffAfterTheSameAttemptSucceeded) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(complete(by));

    m.expect_refusal<answers::fenced_off>(fail(by, failure_kind::retryable));
}

TEST(Fail, IsFencedOffAfterTheSameAttemptWasReleased) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::release{.by = by});

    m.expect_refusal<answers::fenced_off>(fail(by, failure_kind::retryable));
}

// ---- release

TEST(Release, MakesTheRecordAbsent) {
    machine m;
    const claim by = m.start();

    m.expect<answers::stored>(commands::release{.by = by});

    EXPECT_FALSE(m.expect_refusal<answers::found>(commands::lookup{}).current);
}

TEST(Release, KeepsTheFenceForTheNextAttempt) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::release{.by = by});

    m.now -= hours{1};
    const auto started = m.expect<answers::started>(begin(2));

    EXPECT_EQ(started.by.fence, by.fence + 1);
    EXPECT_EQ(started.kind, answers::start_kind::first);
    EXPECT_EQ(started.attempt, 1U);
}

TEST(Release, DropsCheckpoints) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::checkpoint{.by = by, .step = {"paid", "x"}});

    m.expect<answers::stored>(commands::release{.by = by});

    EXPECT_TRUE(m.expect<answers::started>(begin(2)).checkpoints.empty());
}

TEST(Release, RepeatIsStored) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::release{.by = by});

    m.expect_refusal<answers::stored>(commands::release{.by = by});
}

TEST(Release, R_3_IsFencedOffForAnybodyElse) {
    machine m;
    const claim by = m.start();

    m.expect_refusal<answers::fenced_off>(commands::release{.by = wrong_owner(by)});
}

TEST(Release, IsFencedOffAfterFailure) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(fail(by, failure_kind::retryable));

    m.expect_refusal<answers::fenced_off>(commands::release{.by = by});
}

TEST(Release, IsFencedOffAfterCompletion) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(complete(by));

    m.expect_refusal<answers::fenced_off>(commands::release{.by = by});
}

// ---- release of an attempt that was never run

// As it was before the begin, but for the claim and the time of the change.
record given_back(const record& before, const claim& by, time_point now) {
    record made = before;
    made.holder = by;
    made.updated_at = now;
    return made;
}

commands::release undo(const answers::started& of) {
    return {.by = of.by, .replaced = of.replaced};
}

TEST(Undo, OfAFirstAttemptMakesTheRecordAbsent) {
    machine m;
    const auto started = m.expect<answers::started>(begin());

    m.expect<answers::stored>(undo(started));

    EXPECT_FALSE(m.expect_refusal<answers::found>(commands::lookup{}).current);
}

TEST(Undo, OfARetryGivesBackTheFailureAndItsSteps) {
    machine m;
    const claim first = m.start(1, {.attempts_max = 2});
    m.expect<answers::stored>(commands::checkpoint{.by = first, .step = {"paid", "x"}});
    m.expect<answers::stored>(fail(first, failure_kind::retryable));
    m.now += seconds{10};
    const record before = *m.it;
    const auto second = m.expect<answers::started>(begin(2));
    m.now += seconds{1};

    m.expect<answers::stored>(undo(second));

    EXPECT_EQ(*m.it, given_back(before, second.by, m.now));
    EXPECT_EQ(m.expect<answers::started>(begin(3)).attempt, 2U); // nothing is used up
}

TEST(Undo, OfATakeOverLeavesWhatHadLapsed) {
    machine m;
    m.start(1, {.attempts_max = 2});
    m.now += past_lease;
    const record before = *m.it;
    const auto second = m.expect<answers::started>(begin(2, held));

    m.expect<answers::stored>(undo(second));

    EXPECT_EQ(*m.it, given_back(before, second.by, m.now));
    const auto third = m.expect<answers::started>(begin(3));
    EXPECT_EQ(third.kind, answers::start_kind::taken_over);
    EXPECT_EQ(third.attempt, 2U);
    EXPECT_GT(third.by.fence, second.by.fence);
}

TEST(Undo, OfAnOverwritingAttemptGivesTheOldResultBack) {
    machine m;
    m.expect<answers::stored>(complete(m.start(), "old"));
    const record before = *m.it;
    auto other = begin(2);
    other.content = content(0xBB);
    other.mismatch = on_mismatch::overwrite;
    const auto second = m.expect<answers::started>(other);

    m.expect<answers::stored>(undo(second));

    EXPECT_EQ(*m.it, given_back(before, second.by, m.now));
    EXPECT_EQ(m.expect_refusal<answers::replay>(begin(3)).result.body, "old");
}

TEST(Undo, GivesStepsBackToo) {
    machine m;
    const claim first = m.start();
    m.expect<answers::stored>(commands::checkpoint{.by = first, .step = {"paid", "x"}});
    m.expect<answers::stored>(fail(first, failure_kind::retryable));
    auto other = begin(2);
    other.content = content(0xBB);
    other.mismatch = on_mismatch::overwrite;
    const auto second = m.expect<answers::started>(other);
    ASSERT_TRUE(m.it->checkpoints.empty());

    m.expect<answers::stored>(undo(second));

    EXPECT_EQ(m.it->checkpoints, (std::vector<checkpoint>{{"paid", "x"}}));
}

TEST(Undo, IsAReleaseForAnAttemptThatHasRecordedAStep) {
    machine m;
    m.start();
    m.now += past_lease;
    const auto second = m.expect<answers::started>(begin(2));
    m.expect<answers::stored>(commands::checkpoint{.by = second.by, .step = {"paid", "x"}});

    m.expect<answers::stored>(undo(second));

    EXPECT_FALSE(m.expect_refusal<answers::found>(commands::lookup{}).current);
}

TEST(Undo, RepeatIsStored) {
    machine m;
    m.expect<answers::stored>(fail(m.start(), failure_kind::retryable));
    m.now += seconds{10};
    const auto second = m.expect<answers::started>(begin(2));
    const auto once = m.expect<answers::stored>(undo(second));

    const auto again = m.expect_refusal<answers::stored>(undo(second));

    EXPECT_EQ(again.expires_at, once.expires_at);
}

TEST(Undo, IsFencedOffForAnybodyElseAndAfterAnotherEnd) {
    machine m;
    m.expect<answers::stored>(fail(m.start(), failure_kind::retryable));
    m.now += seconds{10};
    const auto second = m.expect<answers::started>(begin(2));
    auto others = undo(second);
    others.by = wrong_owner(second.by);

    m.expect_refusal<answers::fenced_off>(others);
    m.expect<answers::stored>(fail(second.by, failure_kind::retryable));
    m.expect_refusal<answers::fenced_off>(undo(second));
}

// ---- abandon

TEST(Abandon, LetsTheNextCallerTakeOverAtOnce) {
    machine m;
    const claim by = m.start();

    m.expect<answers::stored>(commands::abandon{.by = by});

    EXPECT_EQ(m.expect<answers::started>(begin(2)).kind, answers::start_kind::taken_over);
}

TEST(Abandon, PutsHeldRecordInDoubtAtOnce) {
    machine m;
    const claim by = m.start(1, {.on_lease_expiry = lease_expiry::hold});

    m.expect<answers::stored>(commands::abandon{.by = by});

    m.expect_refusal<answers::in_doubt>(begin(2));
}

TEST(Abandon, StillLetsTheOwnerComplete) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::abandon{.by = by});

    m.expect<answers::stored>(complete(by));
}

TEST(Abandon, NeverProlongsALapsedLease) {
    machine m;
    const claim by = m.start();
    m.now += hours{1};

    m.expect<answers::stored>(commands::abandon{.by = by});

    EXPECT_EQ(m.it->lease_until, noon + seconds{30});
}

TEST(Abandon, IsFencedOffForAnybodyElse) {
    machine m;
    const claim by = m.start();

    m.expect_refusal<answers::fenced_off>(commands::abandon{.by = wrong_fence(by)});
}

// ---- renew

TEST(Renew, CountsFromNow) {
    machine m;
    const claim by = m.start();
    m.now += seconds{10};

    const auto renewed = m.expect<answers::renewed>(commands::renew{by, seconds{30}});

    EXPECT_EQ(renewed.lease_until, noon + seconds{40});
    EXPECT_EQ(m.it->lease_until, noon + seconds{40});
}

TEST(Renew, NeverShortensTheLease) {
    machine m;
    const claim by = m.start();

    const auto renewed = m.expect<answers::renewed>(commands::renew{by, seconds{1}});

    EXPECT_EQ(renewed.lease_until, noon + seconds{30});
}

TEST(Renew, RevivesALapsedLeaseThatNobodyTookOver) {
    machine m;
    const claim by = m.start();
    m.now += past_lease;

    m.expect<answers::renewed>(commands::renew{by, seconds{30}});

    m.expect_refusal<answers::in_progress>(begin(2));
}

TEST(Renew, EndsAtProcessingMax) {
    machine m;
    const claim by = m.start(1, {.processing_max = minutes{1}});
    m.now += seconds{59};

    const auto renewed = m.expect<answers::renewed>(commands::renew{by, seconds{30}});

    EXPECT_EQ(renewed.lease_until, noon + minutes{1});
}

TEST(Renew, IsRefusedFromProcessingMaxOn) {
    machine m;
    const claim by = m.start(1, {.processing_max = minutes{1}});

    m.now += minutes{1};

    m.expect_refusal<answers::not_renewed>(commands::renew{by, seconds{30}});
}

TEST(Renew, ProcessingMaxCountsFromTheAttemptsOwnBegin) {
    machine m;
    m.start(1, {.processing_max = minutes{1}});
    m.now += seconds{50};
    const claim second = m.start(2, {.processing_max = minutes{1}});
    m.now += seconds{50};

    m.expect<answers::renewed>(commands::renew{second, seconds{30}});
}

TEST(Renew, R_3_IsFencedOffAfterTakeOver) {
    machine m;
    const claim late = m.start(1);
    m.now += past_lease;
    m.start(2);

    m.expect_refusal<answers::fenced_off>(commands::renew{late, seconds{30}});
}

TEST(Renew, IsFencedOffOnFinishedRecord) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(complete(by));

    m.expect_refusal<answers::fenced_off>(commands::renew{by, seconds{30}});
}

// ---- checkpoint

TEST(Checkpoint, KeepsDataUnderItsName) {
    machine m;
    const claim by = m.start();

    m.expect<answers::stored>(commands::checkpoint{by, {"paid", "pay_1"}});
    m.expect<answers::stored>(commands::checkpoint{by, {"shipped", "s_1"}});

    EXPECT_EQ(m.it->checkpoints, (std::vector<checkpoint>{{"paid", "pay_1"}, {"shipped", "s_1"}}));
}

TEST(Checkpoint, FirstDataUnderANameStays) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::checkpoint{by, {"paid", "pay_1"}});

    m.expect_refusal<answers::stored>(commands::checkpoint{by, {"paid", "pay_2"}});

    EXPECT_EQ(m.it->checkpoints.front().data, "pay_1");
}

TEST(Checkpoint, OneTooManyIsOverTheLimit) {
    machine m;
    const claim by = m.start();
    for (std::size_t i = 0; i < limits{}.checkpoints_max; ++i) {
        m.expect<answers::stored>(commands::checkpoint{by, {std::to_string(i), "x"}});
    }

    m.expect_refusal<answers::over_limit>(commands::checkpoint{by, {"one more", "x"}});

    m.expect_refusal<answers::stored>(commands::checkpoint{by, {"0", "a repeat is no more"}});
}

TEST(Checkpoint, IsFencedOffAfterTakeOver) {
    machine m;
    const claim late = m.start(1);
    m.now += past_lease;
    m.start(2);

    m.expect_refusal<answers::fenced_off>(commands::checkpoint{late, {"paid", "x"}});
}

} // namespace
} // namespace semel::test
