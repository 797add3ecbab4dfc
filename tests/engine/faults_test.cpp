// A store that fails at any moment, and engines that end while work is under way.
#include <atomic>

#include "async_call.hpp"
#include "support/shared_store.hpp"

namespace semel::tests {
namespace {

using support::answer_lost;
using support::away;
using support::fails;
using support::fault;

engine_options quick() {
    engine_options options;
    options.log = null_logger();
    options.store_patience = 300ms;
    options.confirm_max = 5s;
    return options;
}

const fault every_fault[] = {
    {fails::before, away()},
    {fails::before, answer_lost()},
    {fails::after, answer_lost()},
    {fails::before, {.code = errc::conflict}},
    {fails::before, {.code = errc::overloaded}},
    {fails::before, {.code = errc::no_space}},
};

class Faults : public engine_test {
protected:
    // One call with a step in it; counts its effects.
    outcome<std::string> place_order(engine& on, int& effects) {
        return on.execute<std::string>(order("k", "body"), [&](execution& run) {
            run.step("reserve", [] {});
            return "effect " + std::to_string(++effects);
        });
    }

    // Whatever went wrong before: the effect is there once, and everybody hears of that one.
    void expect_settled(engine& on, int& effects) {
        script_->well();
        const auto again = place_order(on, effects);
        EXPECT_EQ(effects, 1);
        EXPECT_EQ(again.value(), "effect 1");
        EXPECT_EQ(stored(order("k"))->result.body, "effect 1");
        EXPECT_EQ(on.counters().running, 0U);
    }
};

TEST_F(Faults, AResultThatTheStoreCannotHoldIsNotExecutedAgain) {
    auto& engine = make({}, quick());
    script_->on_each([](std::size_t, const command& what) -> std::optional<fault> {
        const auto* done = std::get_if<commands::complete>(&what);
        if (done == nullptr || done->result.body.empty()) return std::nullopt;
        return fault{fails::before, {.code = errc::limit_exceeded, .possible = effect::none}};
    });
    int effects = 0;

    const auto first = place_order(engine, effects);
    const auto again = place_order(engine, effects);

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(first.value(), "effect 1");
    EXPECT_TRUE(again.replayed());
    EXPECT_THROW((void)again.value(), tombstone_error);
    EXPECT_EQ(effects, 1);
    EXPECT_EQ(engine.counters().tombstones, 1U);
}

TEST_F(Faults, EveryQuestionMayFailOnceAndTheEffectTakesPlaceOnce) {
    for (const auto& with : every_fault) {
        for (std::size_t nth = 0; nth < 5; ++nth) {
            SCOPED_TRACE(std::to_string(nth) + ": " + describe(with.why));
            auto& engine = make({}, quick());
            script_->fail_nth(script_->questions() + nth, with);
            int effects = 0;
            try {
                const auto out = place_order(engine, effects);
                EXPECT_TRUE(out.executed() || out.kind() == outcome_kind::unavailable);
                EXPECT_EQ(effects, out.executed() ? 1 : 0);
            } catch (const failure_error&) {
                EXPECT_EQ(effects, 0); // the step before it could not be kept
            }
            expect_settled(engine, effects);
        }
    }
}

TEST_F(Faults, AnyTwoAnswersMayBeLost) {
    for (std::size_t first = 0; first < 6; ++first) {
        for (std::size_t second = first + 1; second < 7; ++second) {
            SCOPED_TRACE(std::to_string(first) + ", " + std::to_string(second));
            auto& engine = make({}, quick());
            const std::size_t before = script_->questions();
            script_->on_each([=](std::size_t place, const command&) -> std::optional<fault> {
                if (place != before + first && place != before + second) return std::nullopt;
                return fault{fails::after, answer_lost()};
            });
            int effects = 0;
            EXPECT_TRUE(place_order(engine, effects).executed());
            expect_settled(engine, effects);
        }
    }
}

TEST_F(Faults, EveryQuestionOfAnAsynchronousCallMayFailOnce) {
    for (const auto& with : every_fault) {
        for (std::size_t nth = 0; nth < 4; ++nth) {
            SCOPED_TRACE(std::to_string(nth) + ": " + describe(with.why));
            auto& engine = make({}, quick());
            script_->fail_nth(script_->questions() + nth, with);
            async_call call{engine, order("k")};
            ASSERT_TRUE(soon([&] { return call.started() || call.answered(); }));
            if (call.answered()) {
                EXPECT_EQ(call.get().kind, outcome_kind::unavailable);
                continue;
            }
            call.end(answered_with("done"));
            EXPECT_EQ(call.get().kind, outcome_kind::executed);
            script_->well();
            EXPECT_EQ(stored(order("k"))->result.body, "done");
        }
    }
}

TEST_F(Faults, AStoreThatStaysAwayIsUnavailableInTimeAndNothingRuns) {
    auto& engine = make({}, quick());
    script_->on_each([](std::size_t, const command&) { return fault{}; });
    const auto before = local_clock::now();

    const auto out = engine.execute<void>(order("k"), [] { ADD_FAILURE(); });

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(out.why()->code, errc::unavailable);
    EXPECT_THROW(out.value(), unavailable_error);
    EXPECT_LT(local_clock::now() - before, 5s);
}

TEST_F(Faults, AnUnconfirmedCompletionGoesOnByItself) {
    auto options = quick();
    options.confirm_max = 20ms;
    auto& engine = make({.lease = 300ms}, options);
    script_->fail_all("complete", {});

    const auto out = engine.execute<std::string>(order("k"), [] { return std::string{"done"}; });

    EXPECT_EQ(out.kind(), outcome_kind::unconfirmed);
    EXPECT_FALSE(out.has_value());
    // Renewed after each third, so the lease is kept for longer than it was given.
    EXPECT_TRUE(soon([&] { return script_->questions("renew") > 3; }));
    EXPECT_EQ(stored(order("k"))->state, record_state::processing);
    script_->well();
    EXPECT_TRUE(soon([&] { return stored(order("k"))->state == record_state::succeeded; }));
    EXPECT_EQ(engine.execute<std::string>(order("k"), [] { return std::string{}; }).value(),
              "done");
    EXPECT_EQ(engine.counters().unconfirmed, 1U);
    EXPECT_EQ(engine.counters().lost_leases, 0U);
}

TEST_F(Faults, AnAsynchronousCompletionIsUnconfirmedInTimeToo) {
    auto options = quick();
    options.confirm_max = 20ms;
    auto& engine = make({}, options);
    async_call call{engine, order("k")};
    script_->fail_all("complete", {});

    call.end(answered_with("done"));

    EXPECT_EQ(call.get().kind, outcome_kind::unconfirmed);
    script_->well();
    EXPECT_TRUE(soon([&] { return stored(order("k"))->state == record_state::succeeded; }));
}

TEST_F(Faults, R_25_TheWorksExceptionReachesItsCallerThoughTheStoreIsAway) {
    auto options = quick();
    options.confirm_max = 20ms;
    auto& engine = make({}, options);
    script_->fail_all("fail", {});
    const auto failing = [] { throw std::domain_error{"card refused"}; };

    EXPECT_THROW((void)engine.execute<void>(order("k"), failing), std::domain_error);

    EXPECT_EQ(engine.counters().unconfirmed, 1U);
    script_->well();
}

TEST_F(Faults, ACompletionIsGivenUpInTheEndAndCounted) {
    auto options = quick();
    options.confirm_max = 10ms;
    options.completion_patience = 50ms;
    auto& engine = make({.lease = 60ms, .grace = 1ms}, options);
    script_->fail_all("complete", {});

    (void)engine.execute<void>(order("k"), [] {});

    EXPECT_TRUE(soon([&] { return engine.counters().lost_completions == 1; }));
    script_->well();
    bool taken_over = false;
    (void)engine.execute<void>(order("k"), [&](execution& run) { taken_over = run.taken_over(); });
    EXPECT_TRUE(taken_over);
}

TEST_F(Faults, ACompletionTheStoreCanNeverTakeIsUnconfirmedAtOnce) {
    auto& engine = make({}, quick());
    script_->fail_all("complete", {fails::before, {.code = errc::unsupported}});

    const auto out = engine.execute<void>(order("k"), [] {});

    EXPECT_EQ(out.kind(), outcome_kind::unconfirmed);
    EXPECT_EQ(engine.counters().lost_completions, 1U);
}

// What a store may throw, if nothing else, is std::bad_alloc.
void throw_on(support::store_script& script, std::string_view command_name) {
    script.on_each([text = std::string{command_name}](std::size_t, const command& what) {
        if (name(what) == text) throw std::bad_alloc{};
        return std::optional<fault>{};
    });
}

TEST_F(Faults, AnEndThatCannotBeSentFreesTheKey) {
    auto& engine = make({.grace = 1ms}, quick());
    throw_on(*script_, "complete");

    const auto out = engine.execute<std::string>(order("k"), [] { return std::string{"done"}; });
    script_->well();
    const auto next = engine.execute<std::string>(
        order("k"), [](execution& run) { return std::to_string(run.attempt()); });

    EXPECT_EQ(out.kind(), outcome_kind::unconfirmed);
    EXPECT_EQ(next.value(), "2");
    EXPECT_EQ(engine.counters().running, 0U);
}

TEST_F(Faults, AnAsynchronousEndThatCannotBeSentFreesTheKey) {
    auto& engine = make({.grace = 1ms}, quick());
    async_call call{engine, order("k")};
    call.wait_started();
    throw_on(*script_, "complete");

    call.end(answered_with("done"));
    script_->well();
    const auto next = engine.execute<std::string>(
        order("k"), [](execution& run) { return std::to_string(run.attempt()); });

    EXPECT_EQ(call.get().kind, outcome_kind::unconfirmed);
    EXPECT_EQ(next.value(), "2");
    EXPECT_EQ(engine.counters().running, 0U);
}

class EndOfEngine : public Faults {
protected:
    engine& make_on(const std::shared_ptr<store>& records, engine_options options) {
        auto shared = std::make_unique<support::shared_store>(records);
        engine_.emplace(std::make_unique<support::faulty_store>(std::move(shared), script_),
                        operation_policy{}, std::move(options));
        return *engine_;
    }
    record_state state_in(store& records) {
        auto got = records.call(id_of(order("k")), commands::lookup{});
        return std::get<answers::found>(got.value().said).current->state;
    }

    std::shared_ptr<store> records_ = open_memory_store();
};

TEST_F(EndOfEngine, TheDestructorWaitsForCompletionsUnderWay) {
    auto options = quick();
    options.confirm_max = 10ms;
    auto& engine = make_on(records_, options);
    script_->fail_all("complete", {});
    EXPECT_EQ(engine.execute<void>(order("k"), [] {}).kind(), outcome_kind::unconfirmed);
    std::thread repair{[&] {
        std::this_thread::sleep_for(50ms);
        script_->well();
    }};

    engine_.reset();

    EXPECT_EQ(state_in(*records_), record_state::succeeded);
    repair.join();
}

TEST_F(EndOfEngine, TheDestructorDoesNotWaitForEver) {
    auto options = quick();
    options.confirm_max = 10ms;
    options.drain_max = 50ms;
    auto& engine = make_on(records_, options);
    script_->fail_all("complete", {});
    (void)engine.execute<void>(order("k"), [] {});
    const auto before = local_clock::now();

    engine_.reset();

    EXPECT_LT(local_clock::now() - before, 5s);
    EXPECT_TRUE(soon([&] { return records_.use_count() == 1; }));
}

TEST_F(EndOfEngine, TheStoreIsGoneWhenTheDestructorReturns) {
    for (int turn = 0; turn < 50; ++turn) {
        auto& engine = make_on(records_, quick());
        async_call call{engine, order(std::to_string(turn))};
        async_call waiter{engine, order(std::to_string(turn))};
        std::thread worker{[&] { call.end(answered_with("done")); }};
        (void)call.get();

        engine_.reset();

        EXPECT_EQ(records_.use_count(), 1);
        worker.join();
        EXPECT_EQ(waiter.get().kind, outcome_kind::replayed);
    }
}

TEST_F(EndOfEngine, WorkThatOutlivesTheEngineIsStoppedAndStillStored) {
    auto options = quick();
    options.drain_max = 20ms;
    auto& engine = make_on(records_, options);
    async_call call{engine, order("k")};

    engine_.reset();

    EXPECT_TRUE(soon([&] { return call.stop().stop_requested(); }));
    EXPECT_FALSE(call.answered());
    call.end(answered_with("late"));
    EXPECT_EQ(call.get().kind, outcome_kind::executed);
    EXPECT_EQ(state_in(*records_), record_state::succeeded);
    EXPECT_TRUE(soon([&] { return records_.use_count() == 1; }));
}

TEST_F(EndOfEngine, AHandleMayOutliveTheEngine) {
    auto& engine = make_on(records_, quick());
    async_call call{engine, order("k")};
    call.end(answered_with("done"));
    (void)call.get();

    engine_.reset();

    EXPECT_EQ(records_.use_count(), 1);
    call.cancel();
}

TEST_F(EndOfEngine, RefusesOptionsThatMakeNoSense) {
    const auto code_of = [](auto change) {
        engine_options options;
        operation_policy policy;
        change(options, policy);
        try {
            engine made{open_memory_store(), policy, options};
        } catch (const failure_error& why) {
            return why.why().code;
        }
        return errc::internal;
    };

    EXPECT_EQ(code_of([](auto& o, auto&) { o.store_patience = -1s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o, auto&) { o.drain_max = duration::max(); }), errc::limit_exceeded);
    EXPECT_EQ(code_of([](auto& o, auto&) { o.sweep.idle = 0s; }), errc::invalid_argument);
    EXPECT_EQ(code_of([](auto& o, auto&) { o.operations["X"].lease = 0s; }),
              errc::invalid_argument);
    EXPECT_EQ(code_of([](auto&, auto& p) { p.retention = -1s; }), errc::invalid_argument);
}

} // namespace
} // namespace semel::tests
