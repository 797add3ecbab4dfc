// The begin and complete machines, step by step, with every failure at every step.
#include <gtest/gtest.h>

#include "core/backoff.hpp"
#include "core/begin_machine.hpp"
#include "core/complete_machine.hpp"
#include "core/orphan_machine.hpp"
#include "core/sweep_plan.hpp"
#include "semel/core/record_machine.hpp"
#include "support/noon.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

const local_time start_of_test{std::chrono::hours{1}};
using test::noon;
const owner_id ours{.high = 1, .low = 2};
const owner_id theirs{.high = 3, .low = 4};

reply said(answer what) {
    return {.said = std::move(what), .now = noon};
}
reply held_by(owner_id owner) {
    return said(
        answers::in_progress{.retry_at = noon + 20s, .holder = {.fence = 5, .owner = owner}});
}
reply found(std::optional<record> it) {
    return said(answers::found{.current = std::move(it)});
}
failure away(effect possible = effect::none) {
    return {.code = errc::unavailable, .possible = possible};
}

template <class Step, class Variant> const Step* as(const Variant& step) {
    return std::get_if<Step>(&step);
}

bool asks_begin(const begin_step& step) {
    const auto* next = as<begin_steps::ask>(step);
    return next != nullptr && std::holds_alternative<commands::begin>(next->what);
}
bool asks_lookup(const begin_step& step) {
    const auto* next = as<begin_steps::ask>(step);
    return next != nullptr && std::holds_alternative<commands::lookup>(next->what);
}

class BeginMachine : public testing::Test {
protected:
    begin_machine made() {
        begin_options options{.what = {.owner = ours, .lease = 30s},
                              .wait_until = start_of_test + 10s,
                              .patience_until = start_of_test + 5s,
                              .seed = 42};
        return begin_machine{std::move(options)};
    }
    begin_machine machine_ = made();
};

TEST_F(BeginMachine, AsksWithTheSameOwnerEveryTime) {
    for (int i = 0; i < 3; ++i) {
        const auto step = i == 0 ? machine_.start() : machine_.on_timer();
        ASSERT_TRUE(asks_begin(step));
        const auto& what = as<begin_steps::ask>(step)->what;
        EXPECT_EQ(std::get<commands::begin>(what).owner, ours);
    }
}

TEST_F(BeginMachine, RunsWhatIsStarted) {
    (void)machine_.start();

    const auto step = machine_.on_reply(said(answers::started{.attempt = 3}), start_of_test);

    ASSERT_NE(as<begin_steps::run>(step), nullptr);
    EXPECT_EQ(as<begin_steps::run>(step)->started.attempt, 3U);
    EXPECT_EQ(as<begin_steps::run>(step)->now, noon);
}

TEST_F(BeginMachine, GivesEveryOtherAnswerOn) {
    const answer finals[] = {answers::replay{}, answers::mismatch{fingerprint{{}}},
                             answers::failed{}, answers::in_doubt{}};
    for (const auto& one : finals) {
        auto machine = made();
        (void)machine.start();
        const auto step = machine.on_reply(said(one), start_of_test);
        ASSERT_NE(as<begin_steps::answered>(step), nullptr);
        EXPECT_EQ(as<begin_steps::answered>(step)->with.said.index(), one.index());
    }
}

TEST_F(BeginMachine, PollsWhileSomebodyElseHoldsTheRecord) {
    (void)machine_.start();
    duration longest{};

    for (local_time now = start_of_test; now < start_of_test + 9s;) {
        const auto step = machine_.on_reply(held_by(theirs), now);
        const auto* pause = as<begin_steps::wait>(step);
        ASSERT_NE(pause, nullptr);
        EXPECT_FALSE(pause->away);
        EXPECT_EQ(pause->hint, 20s);
        EXPECT_GT(pause->until, now);
        longest = std::max(longest, pause->until - now);
        now = pause->until;
        EXPECT_TRUE(asks_begin(machine_.on_timer()));
    }

    EXPECT_LE(longest, 200ms);
    EXPECT_GT(longest, 100ms);
}

TEST_F(BeginMachine, NeverWaitsPastItsTime) {
    (void)machine_.start();
    const local_time nearly = start_of_test + 10s - 1us;

    const auto last = machine_.on_reply(held_by(theirs), nearly);
    ASSERT_NE(as<begin_steps::wait>(last), nullptr);
    EXPECT_EQ(as<begin_steps::wait>(last)->until, start_of_test + 10s);
    (void)machine_.on_timer();

    const auto step = machine_.on_reply(held_by(theirs), start_of_test + 10s);
    EXPECT_NE(as<begin_steps::answered>(step), nullptr);
}

TEST_F(BeginMachine, AnswersInProgressOnceTheCallerHasHadEnough) {
    (void)machine_.start();
    (void)machine_.on_reply(held_by(theirs), start_of_test);

    machine_.stop_waiting();
    (void)machine_.on_timer();

    const auto step = machine_.on_reply(held_by(theirs), start_of_test + 1ms);
    EXPECT_NE(as<begin_steps::answered>(step), nullptr);
}

TEST_F(BeginMachine, AsksAgainAfterAFailureThatPasses) {
    for (const auto code : {errc::unavailable, errc::timed_out, errc::conflict}) {
        auto machine = made();
        (void)machine.start();
        const auto step = machine.on_failure({.code = code}, start_of_test);
        ASSERT_NE(as<begin_steps::wait>(step), nullptr);
        ASSERT_TRUE(as<begin_steps::wait>(step)->away);
        EXPECT_EQ(as<begin_steps::wait>(step)->away->code, code);
        EXPECT_TRUE(asks_begin(machine.on_timer()));
    }
}

TEST_F(BeginMachine, RefusesAtOnceWhatWillNotPass) {
    for (const auto code : {errc::overloaded, errc::stopped, errc::no_space, errc::read_only,
                            errc::invalid_argument, errc::corrupt, errc::internal}) {
        auto machine = made();
        (void)machine.start();
        const auto step = machine.on_failure({.code = code}, start_of_test);
        ASSERT_NE(as<begin_steps::refused>(step), nullptr) << name(code);
        EXPECT_EQ(as<begin_steps::refused>(step)->why.code, code);
    }
}

TEST_F(BeginMachine, LosesPatienceWithAStoreThatStaysAway) {
    (void)machine_.start();
    local_time now = start_of_test;
    int tries = 0;

    for (;; ++tries) {
        ASSERT_LT(tries, 1000);
        const auto step = machine_.on_failure(away(), now);
        if (as<begin_steps::refused>(step) != nullptr) break;
        now = as<begin_steps::wait>(step)->until;
        (void)machine_.on_timer();
    }

    EXPECT_GT(tries, 10);
    EXPECT_LT(now, start_of_test + 5s);
}

TEST_F(BeginMachine, ReadsBeforeItAsksAgainAfterALostAnswer) {
    (void)machine_.start();
    (void)machine_.on_failure(away(effect::unknown), start_of_test);

    EXPECT_TRUE(asks_lookup(machine_.on_timer()));

    // The read fails too: still nothing is known.
    (void)machine_.on_failure(away(), start_of_test);
    EXPECT_TRUE(asks_lookup(machine_.on_timer()));
}

TEST_F(BeginMachine, AdoptsItsOwnClaimFoundByReading) {
    (void)machine_.start();
    (void)machine_.on_failure(away(effect::unknown), start_of_test);
    (void)machine_.on_timer();
    const record mine{.holder = {.fence = 8, .owner = ours},
                      .attempts = 1,
                      .lease_until = noon + 9s,
                      .checkpoints = {{.name = "a", .data = "1"}}};

    const auto step = machine_.on_reply(found(mine), start_of_test);

    const auto* run = as<begin_steps::run>(step);
    ASSERT_NE(run, nullptr);
    EXPECT_EQ(run->started.by, mine.holder);
    EXPECT_EQ(run->started.lease_until, noon + 9s);
    EXPECT_EQ(run->started.kind, answers::start_kind::first);
    EXPECT_EQ(run->started.checkpoints, mine.checkpoints);
}

TEST_F(BeginMachine, AnAdoptedLaterAttemptSaysThatOthersMayHaveWorked) {
    (void)machine_.start();
    (void)machine_.on_failure(away(effect::unknown), start_of_test);
    (void)machine_.on_timer();
    const record mine{.holder = {.fence = 8, .owner = ours}, .attempts = 2};

    const auto step = machine_.on_reply(found(mine), start_of_test);

    EXPECT_EQ(as<begin_steps::run>(step)->started.kind, answers::start_kind::taken_over);
}

TEST_F(BeginMachine, AsksAgainIfItsClaimIsNotThere) {
    const record other{.holder = {.fence = 8, .owner = theirs}};
    record done{.state = record_state::succeeded, .holder = {.fence = 8, .owner = ours}};
    for (const auto& seen : {std::optional<record>{}, std::optional{other}, std::optional{done}}) {
        auto machine = made();
        (void)machine.start();
        (void)machine.on_failure(away(effect::unknown), start_of_test);
        (void)machine.on_timer();
        EXPECT_TRUE(asks_begin(machine.on_reply(found(seen), start_of_test)));
    }
}

TEST_F(BeginMachine, TellsOfAClaimFoundByReadingWhatItReplacedAsFarAsItIsKnown) {
    const record_policy once{.on_lease_expiry = lease_expiry::hold, .attempts_max = 1};
    for (const std::uint32_t attempts : {1U, 2U}) {
        auto machine = made();
        (void)machine.start();
        (void)machine.on_failure(away(effect::unknown), start_of_test);
        (void)machine.on_timer();
        const record mine{.policy = once,
                          .holder = {.fence = 8, .owner = ours},
                          .attempts = attempts,
                          .lease_until = noon + 30s,
                          .begun_at = noon,
                          .checkpoints = {{"paid", "x"}}};

        const auto step = machine.on_reply(found(mine), start_of_test);

        ASSERT_NE(as<begin_steps::run>(step), nullptr);
        const auto& was = as<begin_steps::run>(step)->started.replaced;
        ASSERT_EQ(was != nullptr, attempts == 2);
        if (attempts == 1) continue;
        EXPECT_TRUE(lapsed(*was, noon));
        EXPECT_EQ(was->attempts, 1U);
        EXPECT_LT(was->attempts, was->policy.attempts_max);
        EXPECT_EQ(was->policy.on_lease_expiry, lease_expiry::retry);
        EXPECT_EQ(was->checkpoints, mine.checkpoints);
    }
}

TEST_F(BeginMachine, RecognisesAClaimOfItsOwnThatArrivedLate) {
    (void)machine_.start();
    (void)machine_.on_failure(away(effect::unknown), start_of_test);
    (void)machine_.on_timer();
    (void)machine_.on_reply(found({}), start_of_test);

    EXPECT_TRUE(asks_lookup(machine_.on_reply(held_by(ours), start_of_test)));
}

// Whatever one step fails with, the machine ends by running its one claim or by refusing.
TEST_F(BeginMachine, EndsWellWhateverStepFails) {
    const failure failures[] = {away(),
                                away(effect::unknown),
                                {.code = errc::timed_out, .possible = effect::unknown},
                                {.code = errc::overloaded}};
    for (const auto& why : failures) {
        for (int nth = 0; nth < 4; ++nth) {
            auto machine = made();
            auto step = machine.start();
            local_time now = start_of_test;
            bool claimed = false;
            int asked = 0;
            while (as<begin_steps::run>(step) == nullptr &&
                   as<begin_steps::refused>(step) == nullptr) {
                ASSERT_LT(asked, 20);
                if (const auto* pause = as<begin_steps::wait>(step)) {
                    now = pause->until;
                    step = machine.on_timer();
                    continue;
                }
                const record mine{.holder = {.fence = 1, .owner = ours}, .attempts = 1};
                reply fine = asks_lookup(step) ? found(claimed ? std::optional{mine} : std::nullopt)
                             : claimed         ? held_by(ours)
                                       : said(answers::started{.by = mine.holder, .attempt = 1});
                const bool fails = asked++ == nth;
                claimed =
                    claimed || (asks_begin(step) && (!fails || why.possible == effect::unknown));
                step =
                    fails ? machine.on_failure(why, now) : machine.on_reply(std::move(fine), now);
            }
            const bool refused = as<begin_steps::refused>(step) != nullptr;
            EXPECT_EQ(refused, nth == 0 && why.code == errc::overloaded);
        }
    }
}

complete_machine completing() {
    complete_options options{.what = commands::release{.by = {.fence = 6, .owner = ours}},
                             .give_up_at = start_of_test + 60s,
                             .seed = 7};
    return complete_machine{std::move(options)};
}

TEST(CompleteMachine, AResultThatTheStoreCanNeverTakeBecomesATombstone) {
    commands::complete what{.by = {.fence = 6, .owner = ours}};
    what.result.body = "far too large";
    complete_machine machine{{.what = what, .give_up_at = start_of_test + 60s}};
    (void)machine.start();
    const failure too_large{.code = errc::limit_exceeded, .possible = effect::none};

    const auto again = machine.on_failure(too_large, start_of_test);
    ASSERT_NE(as<complete_steps::ask>(again), nullptr);
    const auto& kept = std::get<commands::complete>(as<complete_steps::ask>(again)->what);
    EXPECT_EQ(kept.result.kind, result_kind::tombstone);
    EXPECT_EQ(kept.result.body, "");
    EXPECT_EQ(kept.by.fence, 6U);

    const auto no = machine.on_failure(too_large, start_of_test);
    EXPECT_NE(as<complete_steps::gave_up>(no), nullptr);
}

TEST(CompleteMachine, CarriesTheCommandUntilItIsAnswered) {
    auto machine = completing();
    local_time now = start_of_test;
    auto step = machine.start();

    for (int i = 0; i < 20; ++i) {
        ASSERT_NE(as<complete_steps::ask>(step), nullptr);
        EXPECT_EQ(std::get<commands::release>(as<complete_steps::ask>(step)->what).by.fence, 6U);
        const auto failed =
            machine.on_failure(away(i % 2 == 0 ? effect::none : effect::unknown), now);
        ASSERT_NE(as<complete_steps::wait>(failed), nullptr);
        EXPECT_LE(as<complete_steps::wait>(failed)->until - now, 1s);
        now = as<complete_steps::wait>(failed)->until;
        step = machine.on_timer();
    }
    step = machine.on_reply(said(answers::stored{}));

    EXPECT_NE(as<complete_steps::settled>(step), nullptr);
}

TEST(CompleteMachine, BeingFencedOffIsAnAnswer) {
    auto machine = completing();
    (void)machine.start();

    const auto step = machine.on_reply(said(answers::fenced_off{}));

    EXPECT_NE(as<complete_steps::settled>(step), nullptr);
}

TEST(CompleteMachine, RetriesEvenWhatRefusesABegin) {
    for (const auto code : {errc::overloaded, errc::no_space, errc::internal, errc::conflict}) {
        auto machine = completing();
        (void)machine.start();
        EXPECT_NE(as<complete_steps::wait>(machine.on_failure({.code = code}, start_of_test)),
                  nullptr);
    }
}

TEST(CompleteMachine, GivesUpWhatTheStoreCanNeverTake) {
    for (const auto code :
         {errc::stopped, errc::invalid_argument, errc::limit_exceeded, errc::unsupported}) {
        auto machine = completing();
        (void)machine.start();
        const auto step = machine.on_failure({.code = code}, start_of_test);
        ASSERT_NE(as<complete_steps::gave_up>(step), nullptr);
        EXPECT_EQ(as<complete_steps::gave_up>(step)->why.code, code);
    }
}

TEST(CompleteMachine, GivesUpInTheEnd) {
    auto machine = completing();
    (void)machine.start();

    const auto step = machine.on_failure(away(), start_of_test + 60s);

    EXPECT_NE(as<complete_steps::gave_up>(step), nullptr);
}

TEST(Backoff, GrowsFromTheFirstStepToTheLast) {
    backoff steps{{.first = 10ms, .last = 80ms}, 1};

    for (const auto step : {10ms, 20ms, 40ms, 80ms, 80ms}) {
        const auto next = steps.next();
        EXPECT_GE(next, step / 2);
        EXPECT_LE(next, step);
    }
    steps.reset();
    EXPECT_LE(steps.next(), 10ms);
}

TEST(Backoff, SpreadsCallersAndRepeatsItself) {
    const auto first_of = [](std::uint64_t seed) {
        backoff steps{{.first = 1s, .last = 1s}, seed};
        return steps.next();
    };

    EXPECT_EQ(first_of(1), first_of(1));
    EXPECT_NE(first_of(1), first_of(2));
}

TEST(SweepPlan, HurriesOnlyWhileThereIsMore) {
    const sweep_options options{.idle = 1min, .busy = 50ms};

    sweep_pace pace{options};

    EXPECT_EQ(pace.next(sweep_report{.state = sweep_state::more}, 1ms), 50ms);
    EXPECT_EQ(pace.next(sweep_report{.state = sweep_state::done}, 1ms), 1min);
    EXPECT_EQ(pace.next(failure{errc::unavailable}, 1ms), 1min);
}

TEST(SweepPlan, StaysAwayAsLongAsItsShareSays) {
    const sweep_report more{.state = sweep_state::more};
    sweep_pace half{{.busy = 5ms, .share_percent = 50}};
    sweep_pace tenth{{.busy = 5ms, .share_percent = 10}};

    EXPECT_EQ(half.next(more, 40ms), 40ms);
    EXPECT_EQ(tenth.next(more, 40ms), 360ms);
}

TEST(SweepPlan, WorksMoreWhileItFallsBehindUntilNothingIsLeft) {
    const sweep_report more{.state = sweep_state::more};
    sweep_pace pace{{.share_percent = 20}};
    const auto share_after = [&](duration length) {
        for (duration gone = {}; gone < length;) gone += 60ms + pace.next(more, 60ms);
        return 60.0 /
               std::chrono::duration<double, std::milli>(60ms + pace.next(more, 60ms)).count();
    };

    EXPECT_DOUBLE_EQ(share_after(50s), 0.2);
    EXPECT_DOUBLE_EQ(share_after(15s), 0.4);
    EXPECT_DOUBLE_EQ(share_after(1min), 0.5);
    EXPECT_DOUBLE_EQ(share_after(30min), 0.5) << "never more";
    static_cast<void>(pace.next(sweep_report{.state = sweep_state::done}, 60ms));
    EXPECT_DOUBLE_EQ(share_after(1s), 0.2);
}

TEST(SweepPlan, LeavesAShareOfMoreThanHalfAlone) {
    const sweep_report more{.state = sweep_state::more};
    sweep_pace pace{{.share_percent = 80}};

    for (int i = 0; i < 3'000; ++i) EXPECT_EQ(pace.next(more, 80ms), 20ms);
}

TEST(SweepPlan, MakesBatchesSmallerUntilTheyAreShortEnough) {
    const sweep_report more{.state = sweep_state::more};
    sweep_pace pace{{.records_max = 1'000, .batch_time = 100ms}};

    static_cast<void>(pace.next(more, 300ms));
    EXPECT_EQ(pace.records_max(), 500);
    static_cast<void>(pace.next(more, 80ms)); // fine as it is
    EXPECT_EQ(pace.records_max(), 500);
    static_cast<void>(pace.next(more, 30ms));
    EXPECT_EQ(pace.records_max(), 1'000);
    static_cast<void>(pace.next(more, 1ms)); // never more than it may
    EXPECT_EQ(pace.records_max(), 1'000);
    for (int i = 0; i < 20; ++i) static_cast<void>(pace.next(more, 1s));
    EXPECT_EQ(pace.records_max(), 16);
}

TEST(SweepPlan, RefusesWhatMakesNoSense) {
    EXPECT_EQ(check(sweep_options{.records_max = 0}).error().code, errc::invalid_argument);
    EXPECT_EQ(check(sweep_options{.batch_time = 0s}).error().code, errc::invalid_argument);
    EXPECT_EQ(check(sweep_options{.share_percent = 0}).error().code, errc::invalid_argument);
    EXPECT_EQ(check(sweep_options{.share_percent = 101}).error().code, errc::invalid_argument);
    EXPECT_TRUE(check(sweep_options{}));
}

} // namespace
} // namespace semel
