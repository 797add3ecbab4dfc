// consume_batch: N messages, one round trip for all claims and one for all completions.
#include <algorithm>
#include <set>
#include <vector>

#include "async_call.hpp"

namespace semel::tests {
namespace {

using support::answer_lost;
using support::fails;
using support::fault;

std::vector<message> messages(std::initializer_list<const char*> keys) {
    std::vector<message> made;
    for (const auto* key : keys) made.push_back({.key = key});
    return made;
}

class Batch : public on_every_store {
protected:
    const request scope_{.tenant = "acme", .operation = "MAIL"};
    std::multiset<std::size_t> ran_;

    std::vector<consumed> consume(engine& on, std::vector<message> what) {
        return on.consume_batch(scope_, std::move(what),
                                [&](std::size_t index, execution&) { ran_.insert(index); });
    }
    request named(std::string key) const {
        request made = scope_;
        made.key = std::move(key);
        return made;
    }
};
SEMEL_ON_EVERY_STORE(Batch);

using answers_t = std::vector<consumed>;

TEST_P(Batch, RunsEachNewMessageOnceInTwoRoundTrips) {
    auto& engine = open();

    const auto first = consume(engine, messages({"a", "b", "c"}));
    EXPECT_EQ(script_->batches(), 2U);
    const auto second = consume(engine, messages({"b", "d"}));

    EXPECT_EQ(first, answers_t(3, consumed::executed));
    EXPECT_EQ(second, (answers_t{consumed::duplicate, consumed::executed}));
    EXPECT_EQ(ran_, (std::multiset<std::size_t>{0, 1, 1, 2}));
    EXPECT_EQ(engine.counters().executed, 4U);
    EXPECT_EQ(engine.counters().replayed, 1U);
    EXPECT_EQ(engine.counters().running, 0U);
}

TEST_P(Batch, AnEmptyOneIsNothing) {
    auto& engine = open();

    EXPECT_TRUE(consume(engine, {}).empty());
}

TEST_P(Batch, TheSameKeyTwiceRunsOnce) {
    auto& engine = open();

    const auto got = consume(engine, messages({"a", "a", "b", "a"}));

    EXPECT_EQ(got, (answers_t{consumed::executed, consumed::duplicate, consumed::executed,
                              consumed::duplicate}));
    EXPECT_EQ(engine.counters().replayed, 2U);
}

TEST_P(Batch, TheSameKeyWithOtherContentIsNoDuplicate) {
    auto& engine = open();
    const auto a = fingerprint::raw("a");
    const auto b = fingerprint::raw("b");

    const auto got = consume(engine, {{"k", a}, {"k", b}, {"k", a}, {"k", {}}});

    EXPECT_EQ(got, (answers_t{consumed::executed, consumed::failed, consumed::duplicate,
                              consumed::duplicate}));
    EXPECT_EQ(engine.counters().mismatched, 1U);
    EXPECT_EQ(ran_.size(), 1U);
}

TEST_P(Batch, AnExceptionStopsNoOtherMessage) {
    auto& engine = open();

    const auto got = engine.consume_batch(scope_, messages({"a", "bad", "c"}),
                                          [](std::size_t index, execution&) {
                                              if (index == 1) throw std::domain_error{"bad mail"};
                                          });

    EXPECT_EQ(got, (answers_t{consumed::executed, consumed::failed, consumed::executed}));
    EXPECT_EQ(stored(named("bad"))->error, "bad mail");
    EXPECT_EQ(consume(engine, messages({"bad"})), answers_t{consumed::executed});
}

TEST_P(Batch, AClassifierThatThrowsStopsNoOtherMessage) {
    auto& engine = open({.failures = {{.matches = [](const std::exception_ptr&) -> bool {
                             throw std::runtime_error{"confused"};
                         }}}});

    const auto got =
        engine.consume_batch(scope_, messages({"bad", "b"}), [](std::size_t index, execution&) {
            if (index == 0) throw std::domain_error{"bad mail"};
        });

    EXPECT_EQ(got, (answers_t{consumed::failed, consumed::executed}));
    EXPECT_EQ(engine.counters().running, 0U);
}

TEST_P(Batch, ABadKeyStopsNoOtherMessage) {
    auto& engine = open();

    const auto got = consume(engine, {{.key = std::string(256, 'x')}, {.key = ""}, {.key = "c"}});

    EXPECT_EQ(got, (answers_t{consumed::unavailable, consumed::unavailable, consumed::executed}));
    EXPECT_EQ(engine.counters().unavailable, 2U);
}

TEST_P(Batch, WhatIsHeldElsewhereIsInProgress) {
    auto& engine = open();
    async_call owner{engine, named("b")};
    owner.wait_started();

    EXPECT_EQ(consume(engine, messages({"a", "b"})),
              (answers_t{consumed::executed, consumed::in_progress}));
    owner.end(answered_with(""));
    EXPECT_EQ(owner.get().kind, outcome_kind::executed);
}

TEST_P(Batch, StepsAreRefusedByName) {
    auto& engine = open();
    errc code = errc::internal;

    (void)engine.consume_batch(scope_, messages({"a"}), [&](std::size_t, execution& run) {
        try {
            run.step("charge", [] { ADD_FAILURE() << "run in vain"; });
        } catch (const failure_error& why) {
            code = why.why().code;
        }
    });

    EXPECT_EQ(code, errc::unsupported);
}

TEST_P(Batch, WorkMayExecuteAndConsumeOtherKeys) {
    auto& engine = open({.wait_max = 20ms});
    consumed inner = consumed::unavailable;
    outcome_kind own = outcome_kind::unavailable;

    (void)engine.consume_batch(scope_, messages({"a"}), [&](std::size_t, execution& run) {
        inner = engine.consume(named(run.child_key("x")), 1h, [] {});
        own = engine.execute<void>(named("a"), [] { ADD_FAILURE(); }).kind();
    });

    EXPECT_EQ(inner, consumed::executed);
    EXPECT_EQ(own, outcome_kind::in_progress);
}

class BatchFaults : public engine_test {
protected:
    const request scope_{.tenant = "acme", .operation = "MAIL"};
};

TEST_F(BatchFaults, EveryQuestionMayFailOnceAndEachEffectTakesPlaceOnce) {
    const fault every[] = {{}, {fails::before, answer_lost()}, {fails::after, answer_lost()}};
    for (const auto& with : every) {
        for (std::size_t nth = 0; nth < 6; ++nth) {
            SCOPED_TRACE(std::to_string(nth) + ": " + describe(with.why));
            auto& engine = make();
            script_->fail_nth(script_->questions() + nth, with);
            std::vector<int> effects(3);
            const auto work = [&](std::size_t index, execution&) { ++effects[index]; };

            (void)engine.consume_batch(scope_, messages({"a", "b", "c"}), work);

            EXPECT_EQ(effects, (std::vector{1, 1, 1}));
            EXPECT_TRUE(soon([&] { return engine.counters().running == 0; }));
            EXPECT_EQ(engine.consume_batch(scope_, messages({"a", "b", "c"}), work),
                      answers_t(3, consumed::duplicate));
        }
    }
}

TEST_F(BatchFaults, ACompletionThatFailsGoesOnByItself) {
    auto& engine = make();
    script_->fail_all("complete", {});

    const auto got = engine.consume_batch(scope_, messages({"a"}), [](std::size_t, execution&) {});

    EXPECT_EQ(got, answers_t{consumed::unavailable});
    EXPECT_EQ(engine.counters().unconfirmed, 1U);
    EXPECT_EQ(engine.counters().running, 1U);
    script_->well();
    EXPECT_TRUE(soon([&] { return engine.counters().running == 0; }));
    EXPECT_EQ(engine.consume_batch(scope_, messages({"a"}), [](std::size_t, execution&) {}),
              answers_t{consumed::duplicate});
}

TEST_F(BatchFaults, AMessageWhoseLeaseIsLostBeforeItsTurnIsNotRun) {
    auto& engine = make({.lease = 40ms, .grace = 1ms});
    script_->fail_all("renew", {});
    int second = 0;

    const auto got =
        engine.consume_batch(scope_, messages({"a", "b"}), [&](std::size_t index, execution& run) {
            if (index == 0) {
                EXPECT_TRUE(soon([&] { return engine.counters().lost_leases == 2; }));
                EXPECT_TRUE(soon([&] { return run.stop_token().stop_requested(); }));
                std::this_thread::sleep_for(20ms);
            }
            second += index == 1 ? 1 : 0;
        });

    EXPECT_EQ(got, (answers_t{consumed::executed, consumed::in_progress}));
    EXPECT_EQ(second, 0);
    script_->well();
    EXPECT_EQ(engine.consume_batch(scope_, messages({"b"}), [](std::size_t, execution&) {}),
              answers_t{consumed::executed});
}

TEST_F(BatchFaults, AMessageThatIsNotRunAfterAllKeepsTheStepsOfEarlierAttempts) {
    auto& engine = make({.lease = 40ms, .grace = 1s});
    request alone = scope_;
    alone.key = "b";
    int charges = 0;
    const auto work = [&](execution& run) {
        run.step("charge", [&] { ++charges; });
        if (run.attempt() == 1) throw std::domain_error{"after the charge"};
    };
    EXPECT_THROW((void)engine.execute<void>(alone, work), std::domain_error);
    script_->fail_all("renew", {});

    const auto got =
        engine.consume_batch(scope_, messages({"a", "b"}), [&](std::size_t index, execution&) {
            EXPECT_EQ(index, 0U);
            EXPECT_TRUE(soon([&] { return engine.counters().lost_leases == 2; }));
        });
    (void)engine.execute<void>(alone, work);

    EXPECT_EQ(got, (answers_t{consumed::executed, consumed::in_progress}));
    EXPECT_EQ(charges, 1);
}

} // namespace
} // namespace semel::tests
