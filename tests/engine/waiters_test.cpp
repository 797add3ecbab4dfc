// Many callers with the same request at the same time.
#include <atomic>
#include <deque>
#include <vector>

#include "async_call.hpp"
#include "support/shared_store.hpp"

namespace semel::tests {
namespace {

class Waiters : public on_every_store {};
SEMEL_ON_EVERY_STORE(Waiters);

TEST_P(Waiters, SixtyFourThreadsShareOneExecution) {
    auto& engine = open();
    std::atomic<int> runs = 0;
    std::atomic<int> executed = 0;
    std::vector<std::thread> threads;

    for (int i = 0; i < 64; ++i) {
        threads.emplace_back([&] {
            const auto out = engine.execute<std::string>(order("k", "body"), [&] {
                EXPECT_TRUE(soon([&] { return engine.counters().waiting == 63; }));
                return "run " + std::to_string(++runs);
            });
            executed += out.executed() ? 1 : 0;
            EXPECT_EQ(out.value(), "run 1");
        });
    }
    for (auto& one : threads) one.join();

    EXPECT_EQ(runs, 1);
    EXPECT_EQ(executed, 1);
    EXPECT_EQ(script_->questions(), 2U);
    EXPECT_EQ(engine.counters().replayed, 63U);
    EXPECT_EQ(engine.counters().waiting, 0U);
}

TEST_P(Waiters, AThousandRepeatsCostOneStoreRead) {
    auto& engine = open();
    std::deque<async_call> calls;
    calls.emplace_back(engine, order("k"));
    calls.front().wait_started();

    for (int i = 0; i < 1000; ++i) calls.emplace_back(engine, order("k"));
    EXPECT_EQ(engine.counters().waiting, 1000U);
    calls.front().end(answered_with("once"));

    EXPECT_EQ(calls.front().get().kind, outcome_kind::executed);
    for (std::size_t i = 1; i < calls.size(); ++i) EXPECT_EQ(calls[i].get().result.body, "once");
    EXPECT_EQ(script_->questions(), 2U);
}

class SingleFlight : public engine_test {};

TEST_F(SingleFlight, RefusesAndCountsWaitersOverTheBoundOfTheKey) {
    engine_options options;
    options.limits.waiters_per_key_max = 3;
    auto& engine = make({}, options);
    async_call leader{engine, order("k")};
    std::deque<async_call> others;

    for (int i = 0; i < 5; ++i) others.emplace_back(engine, order("k"));

    EXPECT_EQ(engine.counters().waiting, 3U);
    EXPECT_EQ(engine.counters().waiters_refused, 2U);
    EXPECT_EQ(others[4].get().kind, outcome_kind::in_progress);
    leader.end(answered_with("done"));
    EXPECT_EQ(others[0].get().kind, outcome_kind::replayed);
}

TEST_F(SingleFlight, RefusesAndCountsWaitersOverTheBoundOfAll) {
    engine_options options;
    options.limits.waiters_max = 1;
    auto& engine = make({}, options);
    async_call first{engine, order("a")};
    async_call second{engine, order("b")};

    async_call waits{engine, order("a")};
    async_call refused{engine, order("b")};

    EXPECT_EQ(refused.get().kind, outcome_kind::in_progress);
    EXPECT_EQ(engine.counters().waiters_refused, 1U);
    EXPECT_FALSE(waits.answered());
    first.end(answered_with("a"));
    second.end(answered_with("b"));
    EXPECT_EQ(waits.get().result.body, "a");
}

TEST_F(SingleFlight, RefusesAndCountsExecutionsOverTheBound) {
    engine_options options;
    options.limits.executions_max = 1;
    auto& engine = make({}, options);
    async_call first{engine, order("a")};

    async_call second{engine, order("b")};

    EXPECT_EQ(second.get().why->code, errc::overloaded);
    EXPECT_EQ(engine.counters().executions_refused, 1U);
    first.end(answered_with("a"));
    EXPECT_EQ(first.get().kind, outcome_kind::executed);
    EXPECT_TRUE(engine.execute<void>(order("b"), [] {}).executed());
}

TEST_F(SingleFlight, AnswersAtOnceWhoDoesNotWantToWait) {
    auto& engine = make({.lease = 30s});
    async_call leader{engine, order("k")};
    auto at_once = order("k");
    at_once.with.wait = wait_mode::answer;
    auto no_time = order("k");
    no_time.with.wait_max = 0s;

    for (const auto& what : {at_once, no_time}) {
        const auto out = engine.execute<void>(what, [] {});
        EXPECT_TRUE(out.in_progress());
        EXPECT_GT(out.retry_after(), 0s);
        EXPECT_LE(out.retry_after(), 30s);
    }

    EXPECT_EQ(script_->questions(), 1U);
    leader.end(answered_with("done"));
}

TEST_F(SingleFlight, R_6_WaitsNoLongerThanAsked) {
    auto& engine = make({.wait_max = 40ms});
    async_call leader{engine, order("k")};
    const auto before = local_clock::now();

    const auto out = engine.execute<void>(order("k"), [] {});

    EXPECT_TRUE(out.in_progress());
    EXPECT_GE(local_clock::now() - before, 40ms);
    EXPECT_EQ(engine.counters().waiting, 0U);
    leader.end(answered_with("done"));
}

TEST_F(SingleFlight, ComparesContentBeforeParking) {
    auto& engine = make();
    async_call leader{engine, order("k", "a")};

    const auto out = engine.execute<void>(order("k", "b"), [] {});

    EXPECT_EQ(out.kind(), outcome_kind::mismatch);
    leader.end(answered_with("A"));
}

TEST_F(SingleFlight, AnOverwritingRepeatWaitsForItsTurn) {
    auto& engine = make({.mismatch = on_mismatch::overwrite});
    async_call leader{engine, order("k", "a")};
    async_call next{engine, order("k", "b")};
    EXPECT_FALSE(next.answered());

    leader.end(answered_with("A"));
    next.wait_started();
    next.end(answered_with("B"));

    EXPECT_EQ(leader.get().kind, outcome_kind::executed);
    EXPECT_EQ(next.get().kind, outcome_kind::executed);
    EXPECT_EQ(stored(order("k"))->result.body, "B");
}

TEST_F(SingleFlight, AnswersWaitersOnlyOnceTheStoreHasAcknowledged) {
    auto& engine = make();
    async_call leader{engine, order("k")};
    async_call waiter{engine, order("k")};
    std::atomic<int> tries = 0;
    std::atomic<bool> early = false;
    script_->on_each([&](std::size_t, const command& what) -> std::optional<support::fault> {
        if (!std::holds_alternative<commands::complete>(what)) return std::nullopt;
        early = early || waiter.answered() || leader.answered();
        if (++tries == 4) return std::nullopt;
        return support::fault{};
    });

    leader.end(answered_with("done"));

    EXPECT_EQ(waiter.get().kind, outcome_kind::replayed);
    EXPECT_EQ(tries, 4);
    EXPECT_FALSE(early);
}

TEST_F(SingleFlight, R_7_OneWaiterTakesOverFromAFailedOwner) {
    auto& engine = make();
    async_call owner{engine, order("k")};
    std::deque<async_call> waiters;
    for (int i = 0; i < 3; ++i) waiters.emplace_back(engine, order("k"));

    owner.end(threw_end{std::make_exception_ptr(std::runtime_error{"broken"})});
    waiters[0].wait_started();
    waiters[0].end(answered_with("second try"));

    EXPECT_EQ(owner.get().kind, outcome_kind::failed);
    EXPECT_EQ(waiters[0].get().attempt, 2U);
    EXPECT_EQ(waiters[1].get().result.body, "second try");
    EXPECT_EQ(waiters[2].get().result.body, "second try");
    EXPECT_FALSE(waiters[1].started() || waiters[2].started());
}

TEST_F(SingleFlight, R_7_OneWaiterTakesOverWhenTheRecordIsReleased) {
    auto& engine = make({.on_exception = exception_class::release});
    async_call owner{engine, order("k")};
    std::deque<async_call> waiters;
    for (int i = 0; i < 3; ++i) waiters.emplace_back(engine, order("k"));

    owner.end(threw_end{std::make_exception_ptr(std::runtime_error{"not begun"})});
    waiters[0].wait_started();
    EXPECT_FALSE(waiters[1].answered() || waiters[2].answered());
    waiters[0].end(answered_with("second"));

    EXPECT_EQ(waiters[0].get().kind, outcome_kind::executed);
    EXPECT_EQ(waiters[1].get().result.body, "second");
    EXPECT_EQ(waiters[2].get().result.body, "second");
    EXPECT_FALSE(waiters[1].started() || waiters[2].started());
}

// Somebody else claims and finishes while this one's claim is on its way.
TEST_F(SingleFlight, R_8_ALostRaceAgainstAFinishedWinnerIsAReplay) {
    std::shared_ptr<store> shared = open_memory_store();
    const auto race = std::make_shared<support::store_script>();
    semel::engine winner{std::make_unique<support::shared_store>(shared)};
    semel::engine loser{std::make_unique<support::faulty_store>(
                            std::make_unique<support::shared_store>(shared), race),
                        {.wait = wait_mode::answer}};
    race->on_each([&](std::size_t place, const command&) -> std::optional<support::fault> {
        EXPECT_EQ(place, 0U);
        (void)winner.execute<std::string>(order("k"), [] { return std::string{"winner's"}; });
        return std::nullopt;
    });

    const auto out = loser.execute<std::string>(order("k"), [] {
        ADD_FAILURE();
        return std::string{};
    });

    EXPECT_TRUE(out.replayed());
    EXPECT_EQ(out.value(), "winner's");
}

TEST_F(SingleFlight, AllWaitersShareTheFailureWherePolicySaysSo) {
    auto& engine = make({.owner_failure = on_owner_failure::share});
    async_call owner{engine, order("k")};
    async_call waiter{engine, order("k")};

    owner.end(threw_end{std::make_exception_ptr(std::runtime_error{"broken"})});
    const auto told = waiter.get();

    EXPECT_EQ(told.kind, outcome_kind::failed);
    EXPECT_EQ(told.error, "broken");
    EXPECT_EQ(told.thrown, nullptr);
    EXPECT_FALSE(waiter.started());
}

TEST_F(SingleFlight, ABlockingWaiterTakesOverOnItsOwnThread) {
    auto& engine = make();
    async_call owner{engine, order("k")};
    std::thread::id ran_on;
    std::thread waiter{[&] {
        const auto out =
            engine.execute<void>(order("k"), [&] { ran_on = std::this_thread::get_id(); });
        EXPECT_TRUE(out.executed());
    }};
    const auto waiter_id = waiter.get_id();
    EXPECT_TRUE(soon([&] { return engine.counters().waiting == 1; }));

    owner.end(threw_end{std::make_exception_ptr(std::runtime_error{"broken"})});
    waiter.join();

    EXPECT_EQ(ran_on, waiter_id);
}

TEST_F(SingleFlight, AThousandWaitersMayFailOneAfterTheOther) {
    auto& engine = make({.on_exception = exception_class::release});
    async_call owner{engine, order("k")};
    std::atomic<int> runs = 0;
    std::atomic<int> failed = 0;
    for (int i = 0; i < 1000; ++i) {
        engine.start(
            order("k"),
            [&](execution&, unique_function<void(work_end)> done) {
                ++runs;
                done(threw_end{std::make_exception_ptr(std::runtime_error{"broken"})});
            },
            [&](raw_outcome out) { failed += out.kind == outcome_kind::failed ? 1 : 0; });
    }

    owner.end(threw_end{std::make_exception_ptr(std::runtime_error{"broken"})});

    EXPECT_TRUE(soon([&] { return failed == 1000; }));
    EXPECT_EQ(runs, 1000);
}

TEST_F(SingleFlight, TellsTheImpatientThatTheStoreIsAwayRatherThanInProgress) {
    engine_options options;
    options.store_patience = 60ms;
    auto& engine = make({.wait = wait_mode::answer}, options);
    script_->fail_all("begin", {});
    async_call leader{engine, order("k")};
    async_call follower{engine, order("k")};

    EXPECT_EQ(leader.get().kind, outcome_kind::unavailable);
    EXPECT_EQ(follower.get().kind, outcome_kind::unavailable);
}

TEST_F(SingleFlight, R_6_CancellingAWaiterLeavesTheWorkAlone) {
    auto& engine = make();
    async_call owner{engine, order("k")};
    async_call waiter{engine, order("k")};

    waiter.cancel();
    owner.cancel();

    EXPECT_EQ(waiter.get().kind, outcome_kind::in_progress);
    EXPECT_FALSE(owner.answered());
    owner.end(answered_with("done"));
    EXPECT_EQ(owner.get().kind, outcome_kind::executed);
    EXPECT_EQ(stored(order("k"))->state, record_state::succeeded);
}

TEST_F(SingleFlight, CancellingAPollingCallerAnswersIt) {
    auto& engine = make({.wait_max = 1h});
    const commands::begin elsewhere{.owner = {.low = 7}, .lease = 1h};
    ASSERT_TRUE(engine.records().call(id_of(order("k")), elsewhere));
    async_call polling{engine, order("k")};
    async_call parked{engine, order("k")};

    polling.cancel();

    EXPECT_EQ(polling.get().kind, outcome_kind::in_progress);
    EXPECT_FALSE(parked.answered());
    parked.cancel();
    EXPECT_EQ(parked.get().kind, outcome_kind::in_progress);
}

TEST_F(SingleFlight, WorkThatDropsItsEndIsUnknown) {
    auto& engine = make({.on_lease_expiry = lease_expiry::hold});
    async_call owner{engine, order("k")};

    owner.drop();

    EXPECT_EQ(owner.get().kind, outcome_kind::in_doubt);
    EXPECT_EQ(engine.execute<void>(order("k"), [] {}).kind(), outcome_kind::in_doubt);
}

TEST_F(SingleFlight, OnlyTheFirstEndOfTheWorkCounts) {
    auto& engine = make();
    async_call owner{engine, order("k")};

    owner.end(answered_with("first"));
    owner.end(answered_with("second"));
    owner.drop();

    EXPECT_EQ(owner.get().kind, outcome_kind::executed);
    EXPECT_EQ(stored(order("k"))->result.body, "first");
}

TEST_F(SingleFlight, WorkThatThrowsWhileItStartsHasFailed) {
    auto& engine = make();
    std::promise<raw_outcome> answer;

    engine.start(
        order("k"),
        [](execution&, unique_function<void(work_end)>) { throw std::domain_error{"no"}; },
        [&](raw_outcome out) { answer.set_value(std::move(out)); });
    const auto out = answer.get_future().get();

    EXPECT_EQ(out.kind, outcome_kind::failed);
    EXPECT_THROW(std::rethrow_exception(out.thrown), std::domain_error);
}

TEST_F(SingleFlight, AWaiterPollsForARecordHeldElsewhere) {
    auto& engine = make();
    const auto id = id_of(order("k"));
    const commands::begin elsewhere{.owner = {.low = 7}, .lease = 1h};
    const auto begun = engine.records().call(id, elsewhere);
    const auto by = std::get<answers::started>(begun.value().said).by;
    async_call waiter{engine, order("k")};

    stored_result result{.body = "theirs"};
    seal(result);
    ASSERT_TRUE(
        engine.records().call(id, commands::complete{.by = by, .result = result, .retention = 1h}));

    EXPECT_EQ(waiter.get().result.body, "theirs");
}

TEST_F(SingleFlight, ReplaysToFollowersOfALeaderThatOnlyAsked) {
    auto& engine = make();
    (void)engine.execute<std::string>(order("k", "a"), [] { return std::string{"made"}; });
    std::vector<std::thread> threads;

    for (int i = 0; i < 16; ++i) {
        threads.emplace_back([&, i] {
            for (int turn = 0; turn < 200; ++turn) {
                const bool same = i % 2 == 0;
                const auto out = engine.execute<std::string>(order("k", same ? "a" : "b"), [] {
                    ADD_FAILURE();
                    return std::string{};
                });
                EXPECT_EQ(out.kind(), same ? outcome_kind::replayed : outcome_kind::mismatch);
            }
        });
    }

    for (auto& one : threads) one.join();
}

} // namespace
} // namespace semel::tests
