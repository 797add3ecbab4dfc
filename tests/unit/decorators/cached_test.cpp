#include <gtest/gtest.h>

#include "unit/decorators/watched_store.hpp"

namespace semel::testing {
namespace {

using namespace std::chrono_literals;

TEST(Cached, ReplaysACompletionWithoutARoundTrip) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    result<reply> got = failure{errc::internal};
    const int trips = it.trips_of([&] { got = it.begin(id, print('a')); });

    EXPECT_EQ(trips, 0);
    EXPECT_EQ(body_in(got), "done");
}

TEST(Cached, GivesExactlyTheStoresAnswer) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    const auto hit = it.begin(id, print('a')).value();
    const auto direct = it.elsewhere(id, begin_with(print('a'))).value();

    const auto& ours = std::get<answers::replay>(hit.said);
    const auto& theirs = std::get<answers::replay>(direct.said);
    EXPECT_EQ(ours.result, theirs.result);
    EXPECT_TRUE(holds(ours.result));
    EXPECT_EQ(ours.fence, theirs.fence);
    EXPECT_EQ(ours.expires_at, theirs.expires_at);
    EXPECT_EQ(hit.now, direct.now);
}

TEST(Cached, LearnsFromAReplayOfAnotherProcessResult) {
    cached_fixture it;
    const record_id id = order("1");
    it.finished_elsewhere(id, print('a'), "theirs");

    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "theirs"); }), 1);
    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "theirs"); }), 0);
}

TEST(Cached, ReplaysTombstonesAndRejections) {
    for (const result_kind kind : {result_kind::tombstone, result_kind::rejection}) {
        cached_fixture it;
        const record_id id = order("1");
        commands::complete what{.by = it.start(id, {}), .result = {.kind = kind}};
        what.retention = 1h;
        it.outer->call(id, std::move(what)).value();

        result<reply> got = failure{errc::internal};
        EXPECT_EQ(it.trips_of([&] { got = it.begin(id, {}); }), 0);
        EXPECT_EQ(std::get<answers::replay>(got->said).result.kind, kind);
    }
}

TEST(Cached, RemembersAFinalFailureOnceTheStoreToldIt) {
    cached_fixture it;
    const record_id id = order("1");
    commands::fail what{.by = it.start(id, print('a')), .kind = commands::failure_kind::final};
    what.error = "card refused";
    what.retention = 1h;
    it.outer->call(id, std::move(what)).value();
    const auto first = it.begin(id, print('a')).value();

    result<reply> got = failure{errc::internal};
    EXPECT_EQ(it.trips_of([&] { got = it.begin(id, print('a')); }), 0);

    const auto& told = std::get<answers::failed>(first.said);
    const auto& said = std::get<answers::failed>(got->said);
    EXPECT_EQ(said.state, record_state::failed_final);
    EXPECT_EQ(said.error, "card refused");
    EXPECT_EQ(said.attempts, told.attempts);
    EXPECT_EQ(said.expires_at, told.expires_at);
}

TEST(Cached, DoesNotRememberAFailureThatMayBeRetried) {
    cached_fixture it;
    const record_id id = order("1");
    auto first = begin_with(print('a'));
    first.policy.attempts_max = 1;
    const auto by = std::get<answers::started>(it.outer->call(id, first).value().said).by;
    commands::fail what{.by = by, .kind = commands::failure_kind::retryable};
    what.retention = 1h;
    it.outer->call(id, std::move(what)).value();

    const int trips = it.trips_of([&] {
        for (int i = 0; i < 2; ++i) {
            const auto said = it.begin(id, print('a')).value().said;
            EXPECT_EQ(std::get<answers::failed>(said).state, record_state::failed_retryable);
        }
    });

    EXPECT_EQ(trips, 2);
}

TEST(Cached, RemembersNothingOfARunningRecord) {
    cached_fixture it;
    const record_id id = order("1");
    it.start(id, print('a'));

    const int trips = it.trips_of([&] {
        for (int i = 0; i < 3; ++i) {
            const auto said = it.begin(id, print('a')).value().said;
            EXPECT_TRUE(std::holds_alternative<answers::in_progress>(said));
        }
    });

    EXPECT_EQ(trips, 3);
}

TEST(Cached, LetsTheStoreTellAMismatch) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    result<reply> got = failure{errc::internal};
    EXPECT_EQ(it.trips_of([&] { got = it.begin(id, print('b')); }), 1);

    EXPECT_EQ(std::get<answers::mismatch>(got->said).stored, print('a'));
    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 0)
        << "a mismatching begin must not cost the right ones their entry";
}

TEST(Cached, NeverServesAnyOtherContentThanItWasAsked) {
    const std::optional<fingerprint> contents[]{std::nullopt, print('a'), print('b')};
    for (const auto& kept : contents) {
        for (const auto& asked : contents) {
            cached_fixture it;
            const record_id id = order("1");
            it.complete(id, it.start(id, kept), "done").value();

            const int trips = it.trips_of([&] { it.begin(id, asked).value(); });

            EXPECT_EQ(trips, asked == kept ? 0 : 1);
        }
    }
}

TEST(Cached, DoesNotTakeAReplayForOneContentAsProofForAnother) {
    // The record has no fingerprint, so the store replays to everybody: each asks for himself.
    cached_fixture it;
    const record_id id = order("1");
    it.finished_elsewhere(id, std::nullopt, "done");

    const int trips = it.trips_of([&] {
        EXPECT_EQ(body_in(it.begin(id, print('a'))), "done");
        EXPECT_EQ(body_in(it.begin(id, print('b'))), "done");
        EXPECT_EQ(body_in(it.begin(id, std::nullopt)), "done");
    });

    EXPECT_EQ(trips, 3);
}

TEST(Cached, KeepsRecordsOfOtherNamesApart) {
    cached_fixture it;
    const record_id one{.tenant = "a", .operation = "bc", .key = "d"};
    const record_id two{.tenant = "ab", .operation = "c", .key = "d"};
    it.complete(one, it.start(one, {}), "one").value();
    it.complete(two, it.start(two, {}), "two").value();

    const int trips = it.trips_of([&] {
        EXPECT_EQ(body_in(it.begin(one, {})), "one");
        EXPECT_EQ(body_in(it.begin(two, {})), "two");
    });

    EXPECT_EQ(trips, 0);
}

TEST(Cached, AnswersASubmittedBeginInline) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    result<reply> got = failure{errc::internal};
    it.outer->submit({.id = id, .what = begin_with(print('a'))},
                     [&](result<reply> said) { got = std::move(said); });

    EXPECT_EQ(it.inner->submits, 0);
    EXPECT_EQ(body_in(got), "done");
}

TEST(Cached, LearnsFromSubmittedCommandsToo) {
    cached_fixture it;
    const record_id id = order("1");
    claim by;
    it.outer->submit({.id = id, .what = begin_with(print('a'))}, [&](result<reply> said) {
        by = std::get<answers::started>(said.value().said).by;
    });
    commands::complete what{.by = by, .result = body_of("done")};
    what.retention = 1h;
    it.outer->submit({.id = id, .what = std::move(what)}, [](result<reply> said) {
        EXPECT_TRUE(std::holds_alternative<answers::stored>(said.value().said));
    });

    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 0);
}

TEST(Cached, SendsOverwritingBeginsToTheStoreAndForgets) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "old").value();

    const auto said =
        it.outer->call(id, begin_with(print('b'), on_mismatch::overwrite)).value().said;
    const auto& started = std::get<answers::started>(said);
    EXPECT_EQ(started.kind, answers::start_kind::overwritten);
    it.complete(id, started.by, "new").value();

    EXPECT_TRUE(std::holds_alternative<answers::mismatch>(it.begin(id, print('a')).value().said));
    EXPECT_EQ(body_in(it.begin(id, print('b'))), "new");
}

TEST(Cached, NeverAnswersAnOverwritingBegin) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    const int trips = it.trips_of([&] {
        for (int i = 0; i < 2; ++i) {
            it.outer->call(id, begin_with(print('a'), on_mismatch::overwrite)).value();
        }
    });

    EXPECT_EQ(trips, 2);
}

TEST(Cached, ForgetsARemovedRecord) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    it.outer->call(id, commands::remove{.actor = "eve", .reason = "wrong amount"}).value();

    EXPECT_TRUE(std::holds_alternative<answers::started>(it.begin(id, print('a')).value().said));
}

TEST(Cached, AsksAgainAfterAnyActOnTheRecord) {
    const std::vector<command> acts{commands::resolve{}, commands::purge{}, commands::complete{},
                                    commands::fail{}, commands::release{}};
    for (const auto& act : acts) {
        cached_fixture it;
        const record_id id = order("1");
        it.complete(id, it.start(id, print('a')), "done").value();

        it.outer->call(id, act).value();

        EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 1)
            << name(act);
    }
}

TEST(Cached, ForgetsAVerdictThatIsCorrected) {
    cached_fixture it;
    const record_id id = order("1");
    const claim by = it.start(id, print('a'));
    it.outer->call(id, commands::abandon{.by = by}).value();
    const auto settle = [&](std::uint64_t fence, const char* body) {
        const auto got = it.outer->call(
            id, commands::resolve{.expected_fence = fence,
                                  .verdict = commands::resolve::committed{body_of(body)},
                                  .retention = 1h});
        return std::get<answers::resolved>(got.value().said).fence;
    };
    const auto fence = settle(by.fence, "wrong");
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "wrong");

    settle(fence, "right");

    EXPECT_EQ(body_in(it.begin(id, print('a'))), "right");
}

TEST(Cached, PassesReadsAndRenewalsWithoutForgetting) {
    const std::vector<command> passing{commands::lookup{}, commands::renew{},
                                       commands::checkpoint{}, commands::abandon{}};
    for (const auto& one : passing) {
        cached_fixture it;
        const record_id id = order("1");
        it.complete(id, it.start(id, print('a')), "done").value();

        EXPECT_EQ(it.trips_of([&] { it.outer->call(id, one).value(); }), 1);

        EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 0) << name(one);
    }
}

TEST(Cached, KeepsTheResultOfTheFirstOfTwoCompletions) {
    cached_fixture it;
    const record_id id = order("1");
    const claim by = it.start(id, print('a'));
    it.complete(id, by, "first").value();

    it.complete(id, by, "second").value();

    EXPECT_EQ(body_in(it.begin(id, print('a'))), "first");
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "first");
}

TEST(Cached, DoesNotTakeItsOwnResultForOneStoredBeforeElsewhere) {
    cached_fixture it;
    const record_id id = order("1");
    const claim by = it.start(id, print('a'));
    commands::complete earlier{.by = by, .result = body_of("first")};
    earlier.retention = 1h;
    it.elsewhere(id, std::move(earlier)).value();
    it.clock.advance(1s);

    it.complete(id, by, "second").value();

    EXPECT_EQ(body_in(it.begin(id, print('a'))), "first");
}

TEST(Cached, RemembersNothingOfACompletionThatFailed) {
    cached_fixture it;
    const record_id id = order("1");
    const claim by = it.start(id, print('a'));
    it.inner->next_failure = failure{.code = errc::timed_out, .possible = effect::unknown};
    EXPECT_FALSE(it.complete(id, by, "done"));

    const auto said = it.begin(id, print('a')).value().said;

    EXPECT_TRUE(std::holds_alternative<answers::in_progress>(said));
}

TEST(Cached, RemembersNothingOfAFencedOffCompletion) {
    cached_fixture it;
    const record_id id = order("1");
    const claim late = it.start(id, print('a'));
    it.clock.advance(1min);
    const claim winner = it.start(id, print('a'));
    ASSERT_NE(late, winner);

    const auto said = it.complete(id, late, "late").value().said;
    EXPECT_TRUE(std::holds_alternative<answers::fenced_off>(said));
    it.complete(id, winner, "winner").value();

    EXPECT_EQ(body_in(it.begin(id, print('a'))), "winner");
}

TEST(Cached, DoesNotTakeAnotherAttemptsContentForTheCompletedOne) {
    cached_fixture it;
    const record_id id = order("1");
    it.start(id, print('a'));
    it.elsewhere(id, commands::remove{}).value();
    const auto said = it.elsewhere(id, begin_with(print('b'))).value().said;

    it.complete(id, std::get<answers::started>(said).by, "of b").value();

    EXPECT_TRUE(std::holds_alternative<answers::mismatch>(it.begin(id, print('a')).value().said));
    EXPECT_EQ(body_in(it.begin(id, print('b'))), "of b");
}

TEST(Cached, PassesTheAuditAndTheTraitsOfTheStore) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, {}), "done").value();
    it.outer->call(id, commands::remove{.actor = "eve", .reason = "why"}).value();

    EXPECT_TRUE(it.outer->traits().durable);
    ASSERT_EQ(it.outer->audit(id).value().size(), 1U);
    EXPECT_EQ(it.outer->audit(id).value()[0].actor, "eve");
}

} // namespace
} // namespace semel::testing
