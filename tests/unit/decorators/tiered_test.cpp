#include "semel/store/tiered.hpp"

#include <gtest/gtest.h>

#include "support/memory_front.hpp"
#include "unit/decorators/watched_store.hpp"

namespace semel::testing {
namespace tiered_test {
namespace {

using namespace std::chrono_literals;
using kind = front_entry::kind;

// A front and a truth under one hand-moved clock.
struct tiered_fixture {
    tiered_fixture() {
        auto owned = std::make_unique<watched_store>(clock);
        truth = owned.get();
        tiered_store_options options{.counters = &counters};
        options.clock = [this] { return clock.local; };
        outer = open_tiered_store(std::make_unique<test::memory_front>(front), std::move(owned),
                                  std::move(options));
        // The truth's clock is known from its first answer on.
        outer->call(order("first"), commands::lookup{}, {}).value();
    }

    result<reply> call(const record_id& id, command what) {
        return outer->call(id, std::move(what), {});
    }
    result<reply> begin(const record_id& id, std::optional<fingerprint> content) {
        return call(id, begin_with(content));
    }
    claim start(const record_id& id, std::optional<fingerprint> content) {
        return std::get<answers::started>(begin(id, content).value().said).by;
    }
    result<reply> complete(const record_id& id, const claim& by, std::string body) {
        return call(
            id, commands::complete{.by = by, .result = body_of(std::move(body)), .retention = 1h});
    }
    // What the truth itself says, past the tier.
    reply directly(const record_id& id, command what) {
        return truth->call(id, std::move(what), clock.store).value();
    }
    std::optional<kind> remembered(const record_id& id) const {
        const auto entry = front->entry(id);
        return entry ? std::optional{entry->what} : std::nullopt;
    }
    template <class Act> int trips_of(Act act) {
        const int before = truth->trips;
        act();
        return truth->trips - before;
    }

    hand_clock clock;
    tier_counters counters;
    std::shared_ptr<test::front_memory> front = std::make_shared<test::front_memory>();
    watched_store* truth = nullptr;
    std::unique_ptr<store> outer;
};

const record_id id = order("1");

TEST(Tiered, ARepeatIsAnsweredByTheFrontExactlyAsByTheTruth) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();

    result<reply> got = failure{errc::internal};
    const int trips = it.trips_of([&] { got = it.begin(id, print('a')); });
    const reply direct = it.directly(id, begin_with(print('a')));

    EXPECT_EQ(trips, 0);
    const auto& ours = std::get<answers::replay>(got.value().said);
    const auto& theirs = std::get<answers::replay>(direct.said);
    EXPECT_EQ(ours.result, theirs.result);
    EXPECT_EQ(ours.fence, theirs.fence);
    EXPECT_EQ(ours.expires_at, theirs.expires_at);
    EXPECT_EQ(got->now, direct.now);
    EXPECT_EQ(it.counters.answered, 1U);
}

TEST(Tiered, TheTruthIsWrittenBeforeTheFront) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.truth->next_failure = failure{.code = errc::timed_out, .possible = effect::unknown};

    const auto got = it.complete(id, by, "done");

    EXPECT_FALSE(got);
    EXPECT_EQ(it.remembered(id), kind::gate) << "a result that may not be stored is remembered";
}

TEST(Tiered, ResultsAreRememberedForTheRestOfTheirRetention) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();
    it.clock.advance(20min);
    it.front->lose_everything();

    it.begin(id, print('a')).value();

    EXPECT_EQ(it.remembered(id), kind::replay);
    EXPECT_EQ(it.front->life(id), 40min);
}

TEST(Tiered, AnExpiredResultIsNotReplayed) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();
    it.clock.advance(59min);
    it.call(order("other"), commands::lookup{}).value();
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "done");

    it.clock.advance(1min);

    EXPECT_TRUE(std::holds_alternative<answers::started>(it.begin(id, print('a')).value().said));
}

TEST(Tiered, WithoutTheTruthsClockTheFrontIsNotBelieved) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();
    it.clock.advance(61s);

    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 1);
    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 0);
}

TEST(Tiered, AMismatchIsStillAMismatch) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));

    const auto running = it.begin(id, print('b')).value();
    it.complete(id, by, "done").value();
    const auto finished = it.begin(id, print('b')).value();

    EXPECT_TRUE(std::holds_alternative<answers::mismatch>(running.said));
    EXPECT_TRUE(std::holds_alternative<answers::mismatch>(finished.said));
}

TEST(Tiered, ARunningAttemptStopsRepeatsAtTheGate) {
    tiered_fixture it;
    it.start(id, print('a'));

    result<reply> got = failure{errc::internal};
    const int trips = it.trips_of([&] { got = it.begin(id, print('a')); });

    EXPECT_EQ(trips, 0);
    const auto& ours = std::get<answers::in_progress>(got.value().said);
    const auto said = it.directly(id, begin_with(print('a'))).said;
    const auto& theirs = std::get<answers::in_progress>(said);
    EXPECT_EQ(ours.retry_at, theirs.retry_at);
    EXPECT_EQ(ours.holder, theirs.holder);
    EXPECT_EQ(ours.attempt, theirs.attempt);
}

TEST(Tiered, AGateIsBelievedForAShortTimeOnly) {
    tiered_fixture it;
    it.start(id, print('a'));
    EXPECT_EQ(it.front->life(id), tiered_store_options{}.gate_life);
    it.clock.advance(20s);

    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 1);
}

TEST(Tiered, ALapsedAttemptIsTakenOverInSpiteOfItsGate) {
    tiered_fixture it;
    const claim lost =
        std::get<answers::started>(
            it.call(id, commands::begin{.owner = {.high = 7}, .lease = 1s}).value().said)
            .by;
    it.clock.advance(2s);

    const claim next = it.start(id, {});
    const auto late = it.complete(id, lost, "too late").value();

    EXPECT_GT(next.fence, lost.fence);
    EXPECT_TRUE(std::holds_alternative<answers::fenced_off>(late.said));
    EXPECT_EQ(it.remembered(id), kind::gate);
}

TEST(Tiered, ARenewalMovesTheGate) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.clock.advance(15s);
    it.call(id, commands::renew{.by = by, .lease = 30s}).value();
    it.clock.advance(18s);

    result<reply> got = failure{errc::internal};
    const int trips = it.trips_of([&] { got = it.begin(id, print('a')); });

    EXPECT_EQ(trips, 0);
    const auto said = it.directly(id, begin_with(print('a'))).said;
    EXPECT_EQ(std::get<answers::in_progress>(got.value().said).retry_at,
              std::get<answers::in_progress>(said).retry_at);
}

TEST(Tiered, ARumourIsAGateToo) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.front->lose_everything();

    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 1);
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 0);
    EXPECT_EQ(it.remembered(id), kind::rumour);
    it.complete(id, by, "done").value();
    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 0);
}

TEST(Tiered, ARenewalForgetsARumourWhoseGraceIsNotKnown) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.front->lose_everything();
    it.begin(id, print('a')).value();

    it.call(id, commands::renew{.by = by, .lease = 30s}).value();

    EXPECT_EQ(it.remembered(id), std::nullopt);
}

TEST(Tiered, AFailureForGoodIsReplayedByTheFront) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.call(id,
            commands::fail{
                .by = by, .kind = commands::failure_kind::final, .error = "no", .retention = 1h})
        .value();

    result<reply> got = failure{errc::internal};
    const int trips = it.trips_of([&] { got = it.begin(id, print('a')); });

    EXPECT_EQ(trips, 0);
    const auto& said = std::get<answers::failed>(got.value().said);
    EXPECT_EQ(said.error, "no");
    EXPECT_EQ(said.attempts, 1U);
    EXPECT_EQ(said.state, record_state::failed_final);
}

TEST(Tiered, WhatEndsAnAttemptWithoutAResultTakesItsGateAway) {
    tiered_fixture it;
    const auto gone_after = [&](const record_id& one, auto end) {
        const claim by = it.start(one, print('a'));
        EXPECT_EQ(it.remembered(one), kind::gate);
        end.by = by;
        it.call(one, end).value();
        return it.remembered(one) == std::nullopt;
    };

    EXPECT_TRUE(gone_after(order("failed"), commands::fail{.retention = 1h}));
    EXPECT_TRUE(gone_after(order("released"), commands::release{}));
    EXPECT_TRUE(gone_after(order("abandoned"), commands::abandon{}));
}

TEST(Tiered, AnotherResultOfTheSameAttemptIsNotRemembered) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.front->be(test::front_memory::state::away);
    it.complete(id, by, "first").value();
    it.front->be(test::front_memory::state::reachable);
    it.clock.advance(1s);

    it.complete(id, by, "second").value();

    EXPECT_EQ(it.remembered(id), std::nullopt);
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "first");
}

TEST(Tiered, ADamagedResultIsReadFromTheTruth) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();
    auto entry = *it.front->entry(id);
    entry.result.body = "dome";
    it.front->plant(id, entry);

    EXPECT_EQ(body_in(it.begin(id, print('a'))), "done");
}

// ---- what operators and overwriting begins do

TEST(Tiered, WhatAnOperatorRemovesIsGoneFromTheFront) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();

    it.call(id, commands::remove{.actor = "anna"}).value();

    EXPECT_TRUE(std::holds_alternative<answers::started>(it.begin(id, print('a')).value().said));
}

// A look, the truth's answer, then somebody removes the record: what was seen must not be put back.
TEST(Tiered, AnAnswerOvertakenByARemovalIsNotRemembered) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();
    it.front->lose_everything();
    it.truth->holding = true;
    std::string late;
    it.outer->submit({.id = id, .what = begin_with(print('a'))},
                     [&](result<reply> got) { late = body_in(got); });
    it.truth->execute();
    it.call(id, commands::remove{.actor = "anna"}).value();

    it.truth->deliver();

    EXPECT_EQ(late, "done");
    EXPECT_EQ(it.remembered(id), std::nullopt);
}

TEST(Tiered, AnOverwritingBeginIsNeitherAnsweredNorRememberedByTheFront) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();

    const auto got = it.call(id, begin_with(print('b'), on_mismatch::overwrite)).value();
    const auto repeat = it.begin(id, print('a')).value();

    EXPECT_EQ(std::get<answers::started>(got.said).kind, answers::start_kind::overwritten);
    EXPECT_TRUE(std::holds_alternative<answers::mismatch>(repeat.said));
    EXPECT_EQ(it.remembered(id), std::nullopt);
}

TEST(Tiered, AResolvedRecordIsReadFromTheTruth) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.call(id, commands::abandon{.by = by}).value();

    const auto got =
        it.call(id, commands::resolve{.expected_fence = by.fence,
                                      .verdict = commands::resolve::committed{body_of("settled")},
                                      .retention = 1h})
            .value();

    ASSERT_TRUE(std::holds_alternative<answers::resolved>(got.said));
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "settled");
}

TEST(Tiered, ACorrectedVerdictIsNotAnsweredByTheFront) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.call(id, commands::abandon{.by = by}).value();
    const auto settle = [&](std::uint64_t fence, const char* body) {
        const auto got =
            it.call(id, commands::resolve{.expected_fence = fence,
                                          .verdict = commands::resolve::committed{body_of(body)},
                                          .retention = 1h});
        return std::get<answers::resolved>(got.value().said).fence;
    };
    const auto fence = settle(by.fence, "wrong");
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "wrong");
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "wrong"); // from the front

    settle(fence, "right");

    EXPECT_EQ(body_in(it.begin(id, print('a'))), "right");
}

// ---- a front that is lost

TEST(Tiered, AnEmptiedFrontCostsOneQuestionEach) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();
    it.front->lose_everything();

    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 1);
    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 0);
}

TEST(Tiered, WithoutTheFrontEverythingGoesOn) {
    tiered_fixture it;
    it.front->be(test::front_memory::state::away);

    const claim by = it.start(id, print('a'));
    const auto busy = it.begin(id, print('a')).value();
    it.complete(id, by, "done").value();

    EXPECT_TRUE(std::holds_alternative<answers::in_progress>(busy.said));
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "done");
    EXPECT_GT(it.counters.failures, 0U);
    EXPECT_EQ(it.counters.answered, 0U);
}

TEST(Tiered, ARemovalCountsThoughTheFrontCannotBeTold) {
    tiered_fixture it;
    it.complete(id, it.start(id, print('a')), "done").value();
    it.front->be(test::front_memory::state::away);

    it.call(id, commands::remove{.actor = "anna"}).value();
    it.front->be(test::front_memory::state::reachable);

    EXPECT_TRUE(std::holds_alternative<answers::started>(it.begin(id, print('a')).value().said));
}

TEST(Tiered, AStaleGateAnswersInProgressUntilItLapses) {
    tiered_fixture it;
    const claim by = it.start(id, print('a'));
    it.front->be(test::front_memory::state::away);
    it.complete(id, by, "done").value();
    it.front->be(test::front_memory::state::reachable);

    const auto stale = it.begin(id, print('a')).value();
    it.clock.advance(20s);

    EXPECT_TRUE(std::holds_alternative<answers::in_progress>(stale.said));
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "done");
}

TEST(Tiered, SubmittedCommandsGoTheSameWay) {
    tiered_fixture it;
    std::vector<std::string> said;
    const auto submit = [&](command what) {
        it.outer->submit({.id = id, .what = std::move(what)}, [&](result<reply> got) {
            said.emplace_back(got ? name(got->said) : "failure");
        });
    };

    submit(begin_with(print('a')));
    submit(begin_with(print('a')));
    submit(commands::remove{});
    submit(begin_with(print('a')));
    submit(commands::lookup{});

    EXPECT_EQ(said,
              (std::vector<std::string>{"started", "in_progress", "removed", "started", "found"}));
}

} // namespace
} // namespace tiered_test
} // namespace semel::testing
