// Owners that are slow, hang or die, and those who come after them.
#include <atomic>

#include "async_call.hpp"
#include "support/shared_store.hpp"

namespace semel::tests {
namespace {

operation_policy short_lease() {
    return {.lease = 90ms, .wait_max = 5s, .grace = 5ms};
}

class Leases : public engine_test {
protected:
    // A second engine on the same records, as in another process.
    engine make_peer(std::shared_ptr<store> records, const operation_policy& policy) {
        engine_options options;
        options.log = null_logger();
        return engine{std::make_unique<support::shared_store>(std::move(records)), policy, options};
    }
    engine& make_first(const std::shared_ptr<store>& records, const operation_policy& policy) {
        engine_options options;
        options.log = null_logger();
        auto shared = std::make_unique<support::shared_store>(records);
        engine_.emplace(std::make_unique<support::faulty_store>(std::move(shared), script_), policy,
                        options);
        return *engine_;
    }
    std::shared_ptr<store> records_ = open_memory_store();
};

// An owner that died: its claim is there, and nobody works.
void die_at_work(store& records, const request& what, record_policy policy) {
    const commands::begin begun{.owner = {.low = 7}, .lease = 10ms, .policy = policy};
    ASSERT_TRUE(records.call(id_of(what), begun));
    ASSERT_TRUE(soon([&] {
        const auto got = records.call(id_of(what), commands::lookup{}).value();
        const auto& left = std::get<answers::found>(got.said).current;
        return got.now > left->lease_until + policy.grace;
    }));
}

TEST_F(Leases, ASlowOwnerKeepsItsLeaseForAsLongAsItWorks) {
    auto& owner = make_first(records_, short_lease());
    auto peer = make_peer(records_, short_lease());
    auto impatient = order("k");
    impatient.with.wait = wait_mode::answer;

    const auto out = owner.execute<std::string>(order("k"), [&] {
        for (int i = 0; i < 10; ++i) {
            std::this_thread::sleep_for(50ms);
            EXPECT_TRUE(peer.execute<void>(impatient, [] { ADD_FAILURE(); }).in_progress());
        }
        return std::string{"slow"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_GE(script_->questions("renew"), 5U);
    EXPECT_EQ(owner.counters().lost_leases, 0U);
    EXPECT_EQ(peer.execute<std::string>(order("k"), [] { return std::string{}; }).value(), "slow");
}

TEST_F(Leases, ADeadOwnersWorkIsTakenOver) {
    auto& engine = make();
    die_at_work(engine.records(), order("k"), {.grace = 1ms});
    bool taken_over = false;

    const auto out =
        engine.execute<void>(order("k"), [&](execution& run) { taken_over = run.taken_over(); });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(out.attempt(), 2U);
    EXPECT_TRUE(taken_over);
}

TEST_F(Leases, TheDeadOwnersOwnPolicyDecidesNotThePeers) {
    auto& engine = make({.on_lease_expiry = lease_expiry::retry});
    const auto hold = lease_expiry::hold;
    const auto probe = lease_expiry::probe;
    die_at_work(engine.records(), order("hold"), {.on_lease_expiry = hold, .grace = 1ms});
    die_at_work(engine.records(), order("probe"), {.on_lease_expiry = probe, .grace = 1ms});
    die_at_work(engine.records(), order("last"), {.attempts_max = 1, .grace = 1ms});

    for (const auto* key : {"hold", "probe", "last"}) {
        const auto out = engine.execute<void>(order(key), [] { ADD_FAILURE(); });
        EXPECT_EQ(out.kind(), outcome_kind::in_doubt) << key;
    }
}

TEST_F(Leases, R_28_AnOwnerThatLostItsLeaseIsStoppedAndGetsTheWinnersAnswer) {
    auto& owner = make_first(records_, short_lease());
    auto peer = make_peer(records_, short_lease());
    script_->fail_all("renew", {});
    std::string winner;

    const auto out = owner.execute<std::string>(order("k"), [&](execution& run) {
        EXPECT_TRUE(soon([&] { return run.stop_token().stop_requested(); }));
        winner =
            peer.execute<std::string>(order("k"), [] { return std::string{"peer's"}; }).value();
        return std::string{"own"};
    });

    EXPECT_EQ(winner, "peer's");
    EXPECT_TRUE(out.replayed());
    EXPECT_EQ(out.value(), "peer's");
    EXPECT_EQ(owner.counters().lost_leases, 1U);
    EXPECT_EQ(owner.counters().fenced_completions, 1U);
}

TEST_F(Leases, AFencedOwnerIsToldOfAnotherContentNotGivenItsResult) {
    auto policy = short_lease();
    policy.mismatch = on_mismatch::overwrite;
    auto& owner = make_first(records_, policy);
    auto peer = make_peer(records_, policy);
    script_->fail_all("renew", {});

    const auto out = owner.execute<std::string>(order("k", "a"), [&] {
        (void)peer.execute<std::string>(order("k", "b"), [] { return std::string{"B"}; });
        return std::string{"A"};
    });

    EXPECT_EQ(out.kind(), outcome_kind::mismatch);
}

TEST_F(Leases, ALateCompletionIsRightIfNobodyTookOver) {
    auto& owner = make_first(records_, short_lease());
    script_->fail_all("renew", {});

    const auto out = owner.execute<std::string>(order("k"), [&](execution& run) {
        EXPECT_TRUE(soon([&] { return run.stop_token().stop_requested(); }));
        std::this_thread::sleep_for(30ms);
        return std::string{"late"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(owner.counters().lost_leases, 1U);
    EXPECT_EQ(owner.counters().fenced_completions, 0U);
}

TEST_F(Leases, AStepAfterALostLeaseThrowsAndTheCallerGetsTheWinnersAnswer) {
    auto& owner = make_first(records_, short_lease());
    auto peer = make_peer(records_, short_lease());
    script_->fail_all("renew", {});

    const auto out = owner.execute<std::string>(order("k"), [&](execution& run) {
        (void)peer.execute<std::string>(order("k"), [] { return std::string{"peer's"}; });
        run.step("late", [] {});
        ADD_FAILURE() << "the step must throw";
        return std::string{"own"};
    });

    EXPECT_EQ(out.value(), "peer's");
}

TEST_F(Leases, ARepeatInTheSameProcessMayTakeOverFromAHangingOwner) {
    auto& engine = make(short_lease());
    script_->fail_all("renew", {});
    async_call hanging{engine, order("k")};
    ASSERT_TRUE(soon([&] { return hanging.stop().stop_requested(); }));

    const auto out = engine.execute<std::string>(order("k"), [] { return std::string{"rescued"}; });

    EXPECT_TRUE(out.executed());
    hanging.end(answered_with("too late"));
    EXPECT_EQ(hanging.get().result.body, "rescued");
}

TEST_F(Leases, NoRenewalKeepsAnAttemptAliveForEver) {
    auto policy = short_lease();
    policy.processing_max = 150ms;
    auto& engine = make(policy);

    const auto before = local_clock::now();
    (void)engine.execute<void>(order("k"), [&](execution& run) {
        EXPECT_TRUE(soon([&] { return run.stop_token().stop_requested(); }));
    });

    // Stopped before the store's lease ends, which no renewal moves past processing_max.
    EXPECT_LT(local_clock::now() - before, 150ms + 5ms + 1s);
    EXPECT_EQ(engine.counters().lost_leases, 1U);
}

TEST_F(Leases, AStopCallbackThatBlocksCostsNobodyElseTheLease) {
    auto hopeless = short_lease();
    hopeless.processing_max = 60ms;
    engine_options options;
    options.operations["HOPELESS"] = hopeless;
    auto& engine = make(short_lease(), options);
    gate go_on;
    std::atomic<bool> blocking = false;
    auto doomed = order("a");
    doomed.operation = "HOPELESS";
    std::thread first{[&] {
        (void)engine.execute<void>(doomed, [&](execution& run) {
            const std::stop_callback on_stop{run.stop_token(), [&] {
                                                 blocking = true;
                                                 go_on.wait();
                                             }};
            EXPECT_TRUE(soon([&] { return blocking.load(); }));
            go_on.wait();
        });
    }};
    ASSERT_TRUE(soon([&] { return blocking.load(); }));

    const auto out = engine.execute<void>(order("b"), [] { std::this_thread::sleep_for(300ms); });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(engine.counters().lost_leases, 1U);
    go_on.open();
    first.join();
}

TEST_F(Leases, ARecordInDoubtIsSettledByAnOperator) {
    auto& engine = make({.on_lease_expiry = lease_expiry::hold});
    (void)engine.execute<void>(order("k"), []() -> verdict<void> { return unknown(); });
    const commands::resolve not_executed{.expected_fence = stored(order("k"))->holder.fence,
                                         .retention = 1h,
                                         .actor = "ann",
                                         .reason = "nothing at the bank"};

    ASSERT_TRUE(engine.records().call(id_of(order("k")), not_executed));

    EXPECT_TRUE(engine.execute<void>(order("k"), [] {}).executed());
}

TEST_F(Leases, OneThatIsOverBeforeItIsKnownRunsNothing) {
    auto& engine = make({.lease = 50ms});
    script_->fail_nth(0, {.when = support::fails::late, .by = 200ms});

    const auto late = engine.execute<std::string>(order("k"), never);
    const auto next = engine.execute<std::string>(order("k"), [] { return std::string{"run"}; });

    EXPECT_EQ(late.kind(), outcome_kind::unavailable);
    ASSERT_TRUE(late.why());
    EXPECT_EQ(late.why()->code, errc::timed_out);
    EXPECT_EQ(late.why()->possible, effect::none);
    EXPECT_TRUE(next.executed());
}

TEST_F(Leases, OneThatIsOverBeforeItIsKnownKeepsTheStepsOfEarlierAttempts) {
    auto& engine = make({.lease = 50ms, .on_lease_expiry = lease_expiry::hold});
    int charges = 0;
    const auto work = [&](execution& run) {
        run.step("charge", [&] { ++charges; });
        if (run.attempt() == 1) throw std::domain_error{"after the charge"};
        return std::to_string(run.attempt());
    };
    EXPECT_THROW((void)engine.execute<std::string>(order("k", "a"), work), std::domain_error);
    script_->fail_nth(script_->questions(), {.when = support::fails::late, .by = 200ms});

    const auto late = engine.execute<std::string>(order("k", "a"), never);
    const auto other = engine.execute<std::string>(order("k", "b"), never);
    const auto next = engine.execute<std::string>(order("k", "a"), work);

    EXPECT_EQ(late.kind(), outcome_kind::unavailable);
    EXPECT_EQ(other.kind(), outcome_kind::mismatch);
    EXPECT_EQ(next.value(), "2"); // the attempt that was never run does not count
    EXPECT_EQ(charges, 1);
}

TEST_F(Leases, OneThatIsOverBeforeItIsKnownUsesNoAttemptUp) {
    auto& engine = make({.lease = 50ms, .attempts_max = 2, .grace = 1ms});
    const auto fails = [](execution&) -> std::string { throw std::domain_error{"no"}; };
    EXPECT_THROW((void)engine.execute<std::string>(order("k"), fails), std::domain_error);
    for (int i = 0; i < 3; ++i) {
        script_->fail_nth(script_->questions(), {.when = support::fails::late, .by = 100ms});
        EXPECT_EQ(engine.execute<std::string>(order("k"), never).kind(), outcome_kind::unavailable);
    }

    EXPECT_EQ(stored(order("k"))->error, "no");
    EXPECT_TRUE(engine.execute<std::string>(order("k"), [] { return std::string{}; }).executed());
}

TEST_F(Leases, OneThatIsOverBeforeItIsKnownGivesTheOverwrittenResultBack) {
    auto& engine = make({.lease = 50ms, .mismatch = on_mismatch::overwrite});
    const auto first = [] { return std::string{"A"}; };
    ASSERT_TRUE(engine.execute<std::string>(order("k", "a"), first).executed());
    script_->fail_nth(script_->questions(), {.when = support::fails::late, .by = 200ms});

    const auto late = engine.execute<std::string>(order("k", "b"), never);
    const auto again = engine.execute<std::string>(order("k", "a"), never);

    EXPECT_EQ(late.kind(), outcome_kind::unavailable);
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.value(), "A");
}

TEST_F(Leases, OneFoundByReadingThatIsOverUsesNoAttemptUp) {
    auto& engine = make({.lease = 20ms, .attempts_max = 2, .grace = 1ms});
    const auto fails = [](execution&) -> std::string { throw std::domain_error{"no"}; };
    EXPECT_THROW((void)engine.execute<std::string>(order("k"), fails), std::domain_error);
    const std::size_t begin = script_->questions();
    script_->on_each([begin](std::size_t at, const command&) {
        if (at == begin)
            return std::optional{support::fault{support::fails::after, support::answer_lost()}};
        if (at == begin + 1)
            return std::optional{support::fault{.when = support::fails::late, .by = 60ms}};
        return std::optional<support::fault>{};
    });

    const auto late = engine.execute<std::string>(order("k"), never);

    EXPECT_EQ(late.kind(), outcome_kind::unavailable);
    EXPECT_EQ(stored(order("k"))->attempts, 1U);
    EXPECT_TRUE(engine.execute<std::string>(order("k"), [] { return std::string{}; }).executed());
}

} // namespace
} // namespace semel::tests
