#include <gtest/gtest.h>

#include "unit/core/machine.hpp"

namespace semel::test {
namespace {

constexpr record_policy probed{.on_lease_expiry = lease_expiry::probe};
constexpr record_policy twice{.attempts_max = 2};

commands::begin begin_with(std::optional<fingerprint> other) {
    auto what = begin(2);
    what.content = other;
    return what;
}

commands::begin overwriting(std::optional<fingerprint> other, std::uint64_t owner = 2) {
    auto what = begin(owner);
    what.content = other;
    what.mismatch = on_mismatch::overwrite;
    return what;
}

TEST(Begin, StartsFirstAttemptOfAbsentRecord) {
    machine m;
    auto what = begin();
    what.attributes = "{}";

    const auto started = m.expect<answers::started>(what);

    EXPECT_EQ(started.kind, answers::start_kind::first);
    EXPECT_EQ(started.attempt, 1U);
    EXPECT_EQ(started.lease_until, noon + seconds{30});
    EXPECT_EQ(started.by, (claim{.fence = micros(noon), .owner = what.owner}));
    const record expected{.state = record_state::processing,
                          .content = what.content,
                          .holder = started.by,
                          .attempts = 1,
                          .lease_until = started.lease_until,
                          .begun_at = noon,
                          .attributes = "{}",
                          .created_at = noon,
                          .updated_at = noon};
    EXPECT_EQ(m.it, expected);
}

TEST(Begin, IsInProgressWhileTheLeaseIsLive) {
    machine m;
    const claim holder = m.start();

    const auto busy = m.expect_refusal<answers::in_progress>(begin(2));

    EXPECT_EQ(busy.holder, holder);
    EXPECT_EQ(busy.attempt, 1U);
    EXPECT_EQ(busy.retry_at, noon + seconds{30} + milliseconds{250});
}

TEST(Begin, IsInProgressUntilTheGraceIsOver) {
    machine m;
    m.start();

    m.now = noon + seconds{30} + milliseconds{250};

    m.expect_refusal<answers::in_progress>(begin(2));
}

TEST(Begin, TakesOverOneTickAfterTheGrace) {
    machine m;
    const claim first = m.start();

    m.now = noon + seconds{30} + milliseconds{250} + microseconds{1};
    const auto started = m.expect<answers::started>(begin(2));

    EXPECT_EQ(started.kind, answers::start_kind::taken_over);
    EXPECT_EQ(started.attempt, 2U);
    EXPECT_GT(started.by.fence, first.fence);
    EXPECT_EQ(m.it->created_at, noon);
    EXPECT_EQ(m.it->begun_at, m.now);
}

TEST(Begin, TakeOverBringsTheCheckpoints) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(commands::checkpoint{.by = by, .step = {"paid", "pay_1"}});

    m.now += past_lease;
    const auto started = m.expect<answers::started>(begin(2));

    EXPECT_EQ(started.checkpoints, (std::vector<checkpoint>{{"paid", "pay_1"}}));
}

TEST(Begin, TakesOverUntilAttemptsAreUsedUpAndIsThenInDoubt) {
    machine m;
    m.start(1, twice);
    m.now += past_lease;
    m.expect<answers::started>(begin(2, twice));
    m.now += past_lease;

    const auto doubt = m.expect_refusal<answers::in_doubt>(begin(3, twice));

    EXPECT_EQ(doubt.fence, m.it->holder.fence);
    EXPECT_EQ(doubt.since, m.it->lease_until);
}

TEST(Begin, IsInDoubtOnLapsedHeldRecord) {
    machine m;
    m.start(1, held);

    m.now += past_lease;

    m.expect_refusal<answers::in_doubt>(begin(2));
}

TEST(Begin, IsInDoubtOnLapsedProbedRecord) {
    machine m;
    m.start(1, probed);

    m.now += past_lease;

    m.expect_refusal<answers::in_doubt>(begin(2));
}

TEST(Begin, StoredPolicyDecidesAndNotTheCallers) {
    machine m;
    m.start(1, {.attempts_max = 1});

    m.now += past_lease;

    m.expect_refusal<answers::in_doubt>(begin(2, {.attempts_max = 100}));
}

TEST(Begin, R_5_ProcessingRecordNeverExpires) {
    machine m;
    m.start(1, held);

    m.now += hours{24 * 365};

    m.expect_refusal<answers::in_doubt>(begin(2));
}

TEST(Begin, RefusesAnotherFingerprintWhileTheRecordIsProcessing) {
    machine m;
    m.start();

    const auto mismatch = m.expect_refusal<answers::mismatch>(begin_with(content(0xBB)));

    EXPECT_EQ(mismatch.stored, content(0xAA));
}

TEST(Begin, RefusesAnotherFingerprintAfterTheLeaseHasLapsed) {
    machine m;
    m.start();

    m.now += past_lease;

    m.expect_refusal<answers::mismatch>(begin_with(content(0xBB)));
}

TEST(Begin, RefusesAnotherFingerprintOfFinishedRecord) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.expect_refusal<answers::mismatch>(begin_with(content(0xBB)));
}

TEST(Begin, ExpiryIsJudgedBeforeTheFingerprint) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.now += hours{1};

    EXPECT_EQ(m.expect<answers::started>(begin_with(content(0xBB))).kind,
              answers::start_kind::first);
}

TEST(Begin, DoesNotCompareWhenTheCallerHasNoFingerprint) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.expect_refusal<answers::replay>(begin_with(std::nullopt));
}

TEST(Begin, DoesNotCompareWhenTheRecordHasNoFingerprint) {
    machine m;
    const auto started = m.expect<answers::started>(begin_with(std::nullopt));
    m.expect<answers::stored>(complete(started.by));

    m.expect_refusal<answers::replay>(begin());
}

TEST(Begin, RetryWithoutFingerprintKeepsTheStoredOne) {
    machine m;
    m.start();
    m.now += past_lease;

    const auto started = m.expect<answers::started>(begin_with(std::nullopt));

    EXPECT_EQ(started.content, content(0xAA));
    EXPECT_EQ(m.it->content, content(0xAA));
}

TEST(Begin, ReplaysSucceededRecord) {
    machine m;
    const claim by = m.start();
    m.expect<answers::stored>(complete(by, "order 7"));

    const auto replay = m.expect_refusal<answers::replay>(begin(2));

    EXPECT_EQ(replay.result.body, "order 7");
    EXPECT_EQ(replay.fence, by.fence);
    EXPECT_EQ(replay.expires_at, noon + hours{1});
}

TEST(Begin, ReplaysUntilTheLastTickOfTheRetention) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.now = noon + hours{1} - microseconds{1};

    m.expect_refusal<answers::replay>(begin(2));
}

TEST(Begin, R_18_StartsAfreshWhenTheRetentionIsOver) {
    machine m;
    const claim first = m.start();
    m.expect<answers::stored>(complete(first));

    m.now = noon + hours{1};
    const auto started = m.expect<answers::started>(begin(2));

    EXPECT_EQ(started.kind, answers::start_kind::first);
    EXPECT_EQ(started.attempt, 1U);
    EXPECT_TRUE(m.it->result.body.empty());
    EXPECT_EQ(m.it->created_at, m.now);
}

TEST(Begin, AnswersFinalFailure) {
    machine m;
    m.expect<answers::stored>(fail(m.start(), commands::failure_kind::final));

    const auto failed = m.expect_refusal<answers::failed>(begin(2));

    EXPECT_EQ(failed.state, record_state::failed_final);
    EXPECT_EQ(failed.error, "no");
    EXPECT_EQ(failed.attempts, 1U);
    EXPECT_EQ(failed.expires_at, noon + hours{1});
}

TEST(Begin, WaitsUntilRetryAfter) {
    machine m;
    m.expect<answers::stored>(fail(m.start(), commands::failure_kind::retryable));

    m.now = noon + seconds{10} - microseconds{1};

    EXPECT_EQ(m.expect_refusal<answers::in_progress>(begin(2)).retry_at, noon + seconds{10});
}

TEST(Begin, RetriesFromRetryAfterOn) {
    machine m;
    const claim first = m.start();
    m.expect<answers::stored>(commands::checkpoint{.by = first, .step = {"paid", "pay_1"}});
    m.expect<answers::stored>(fail(first, commands::failure_kind::retryable));

    m.now = noon + seconds{10};
    const auto started = m.expect<answers::started>(begin(2));

    EXPECT_EQ(started.kind, answers::start_kind::retried);
    EXPECT_EQ(started.attempt, 2U);
    EXPECT_GT(started.by.fence, first.fence);
    EXPECT_EQ(started.checkpoints.size(), 1U);
    EXPECT_EQ(m.it->error, "");
    EXPECT_EQ(m.it->expires_at, time_point{});
    EXPECT_EQ(m.it->retry_after, time_point{});
}

TEST(Begin, AnswersTheFailureWhenAttemptsAreUsedUp) {
    machine m;
    m.expect<answers::stored>(fail(m.start(1, twice), commands::failure_kind::retryable));
    m.now += seconds{10};
    m.expect<answers::stored>(fail(m.start(2, twice), commands::failure_kind::retryable));
    m.now += seconds{10};

    const auto failed = m.expect_refusal<answers::failed>(begin(3, twice));

    EXPECT_EQ(failed.state, record_state::failed_retryable);
    EXPECT_EQ(failed.attempts, 2U);
}

TEST(Begin, OverwriteReplacesFinishedResult) {
    machine m;
    const claim first = m.start();
    m.expect<answers::stored>(complete(first));

    const auto started = m.expect<answers::started>(overwriting(content(0xBB)));

    EXPECT_EQ(started.kind, answers::start_kind::overwritten);
    EXPECT_EQ(started.attempt, 1U);
    EXPECT_EQ(started.content, content(0xBB));
    EXPECT_GT(started.by.fence, first.fence);
    EXPECT_TRUE(m.it->result.body.empty());
}

TEST(Begin, OverwriteReplaysTheSameFingerprint) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));

    m.expect_refusal<answers::replay>(overwriting(content(0xAA)));
}

TEST(Begin, OverwriteWaitsForLiveLease) {
    machine m;
    m.start();

    m.expect_refusal<answers::in_progress>(overwriting(content(0xBB)));
}

TEST(Begin, OverwriteReplacesLapsedRecordThatMayBeRetried) {
    machine m;
    m.start();

    m.now += past_lease;

    EXPECT_EQ(m.expect<answers::started>(overwriting(content(0xBB))).kind,
              answers::start_kind::overwritten);
}

TEST(Begin, OverwriteLeavesHeldRecordToTheOperator) {
    machine m;
    m.start(1, held);

    m.now += past_lease;

    m.expect_refusal<answers::in_doubt>(overwriting(content(0xBB)));
}

TEST(Begin, OverwriteLeavesUsedUpRecordToTheOperator) {
    machine m;
    m.start(1, {.attempts_max = 1});

    m.now += past_lease;

    m.expect_refusal<answers::in_doubt>(overwriting(content(0xBB)));
}

TEST(Begin, SaysWhatItHasReplaced) {
    machine m;
    const auto first = m.expect<answers::started>(begin(1));
    m.now += past_lease;
    const record lapsed = *m.it;
    const auto second = m.expect<answers::started>(begin(2));
    m.expect<answers::stored>(fail(second.by, commands::failure_kind::retryable));
    m.now += seconds{10};
    const record failed = *m.it;
    const auto third = m.expect<answers::started>(begin(3));
    m.expect<answers::stored>(complete(third.by));
    const record done = *m.it;
    const auto other = m.expect<answers::started>(overwriting(content(0xBB)));

    EXPECT_EQ(first.replaced, nullptr);
    ASSERT_TRUE(second.replaced && third.replaced && other.replaced);
    EXPECT_EQ(*second.replaced, lapsed);
    EXPECT_EQ(*third.replaced, failed);
    EXPECT_EQ(*other.replaced, done);
}

TEST(Begin, ReplacesNothingWhereTheRecordHasExpired) {
    machine m;
    m.expect<answers::stored>(complete(m.start()));
    m.now += hours{1};

    EXPECT_EQ(m.expect<answers::started>(begin(2)).replaced, nullptr);
}

TEST(Begin, OverwriteReplacesFinalFailure) {
    machine m;
    m.expect<answers::stored>(fail(m.start(), commands::failure_kind::final));

    m.expect<answers::started>(overwriting(content(0xBB)));
}

} // namespace
} // namespace semel::test
