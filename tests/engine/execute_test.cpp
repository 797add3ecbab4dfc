// What one caller after another gets from the engine.
#include <stdexcept>
#include <vector>

#include "engine_fixture.hpp"
#include "semel/engine/verdict.hpp"

namespace semel::tests {
namespace {

class Execute : public on_every_store {};
SEMEL_ON_EVERY_STORE(Execute);

TEST_P(Execute, RunsTheWorkOnceAndReplaysItsAnswer) {
    auto& engine = open();

    const auto first = engine.execute<std::string>(order("k"), [] { return std::string{"made"}; });
    const auto second = engine.execute<std::string>(order("k"), never);

    EXPECT_TRUE(first.executed());
    EXPECT_TRUE(second.replayed());
    EXPECT_EQ(first.value(), "made");
    EXPECT_EQ(second.value(), "made");
    EXPECT_EQ(first.fence(), second.fence());
}

TEST_P(Execute, CostsOneRoundTripMoreThanAReplay) {
    auto& engine = open();

    (void)engine.execute<void>(order("k"), [] {});
    EXPECT_EQ(script_->questions(), 2U);
    (void)engine.execute<void>(order("k"), [] {});

    EXPECT_EQ(script_->questions(), 3U);
}

TEST_P(Execute, RefusesOtherContentUnderTheSameKey) {
    auto& engine = open();
    (void)engine.execute<std::string>(order("k", "a"), [] { return std::string{"made"}; });

    const auto other = engine.execute<std::string>(order("k", "b"), never);

    EXPECT_EQ(other.kind(), outcome_kind::mismatch);
    EXPECT_THROW((void)other.value(), mismatch_error);
}

TEST_P(Execute, AMismatchIsToldWithBothFingerprints) {
    std::vector<mismatch_seen> seen;
    auto& engine =
        open({}, {.on_mismatch = [&](const mismatch_seen& one) { seen.push_back(one); }});
    const auto work = [&] {
        // While it runs the engine knows without asking the store.
        (void)engine.execute<std::string>(order("k", "during"), never);
        return std::string{"made"};
    };

    (void)engine.execute<std::string>(order("k", "first"), work);
    (void)engine.execute<std::string>(order("k", "after"), never);
    (void)engine.execute<std::string>(order("k", "first"), never);

    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[0].id, id_of(order("k")));
    EXPECT_EQ(seen[0].held, fingerprint::raw("first"));
    EXPECT_EQ(seen[0].asked, fingerprint::raw("during"));
    EXPECT_EQ(seen[1].asked, fingerprint::raw("after"));
}

TEST_P(Execute, DoesNotCompareWhereOneSideHasNoContent) {
    auto& engine = open();
    (void)engine.execute<std::string>(order("k", "a"), [] { return std::string{"made"}; });

    EXPECT_TRUE(engine.execute<std::string>(order("k"), never).replayed());
}

TEST_P(Execute, DerivesTheKeyFromTheContentWhereThereIsNone) {
    auto& engine = open();

    std::string key;
    (void)engine.execute<void>(order("", "body"), [&](execution& run) { key = run.key(); });

    EXPECT_EQ(key, "fp-" + fingerprint::raw("body").hex());
    EXPECT_TRUE(engine.execute<void>(order("", "body"), [] {}).replayed());
    EXPECT_TRUE(engine.execute<void>(order("", "other"), [] {}).executed());
}

TEST_P(Execute, KeysAreBytes) {
    auto& engine = open();
    const std::string with_zero{"a\0b", 3};

    for (const auto& key : {std::string{"k"}, std::string{"K"}, std::string{"k "}, with_zero}) {
        EXPECT_TRUE(engine.execute<void>(order(key), [] {}).executed());
    }
}

TEST_P(Execute, ReplaysABusinessNoAsSuch) {
    auto& engine = open();
    const auto work = [] { return reject(std::string{"no stock"}); };

    const auto first = engine.execute<std::string>(order("k"), work);
    const auto second = engine.execute<std::string>(order("k"), never);

    EXPECT_TRUE(first.rejected());
    EXPECT_TRUE(second.rejected());
    EXPECT_EQ(second.value(), "no stock");
}

TEST_P(Execute, RunsAgainAfterARetryableException) {
    auto& engine = open();
    const auto failing = []() -> std::string { throw std::domain_error{"card refused"}; };

    EXPECT_THROW((void)engine.execute<std::string>(order("k"), failing), std::domain_error);
    EXPECT_EQ(stored(order("k"))->error, "card refused");
    const auto second = engine.execute<std::string>(
        order("k"), [](execution& run) { return std::to_string(run.attempt()); });

    EXPECT_EQ(second.value(), "2");
}

TEST_P(Execute, ReplaysAFinalFailureWithoutTheException) {
    auto& engine = open({.failures = {when<std::domain_error>(exception_class::final)}});
    const auto failing = []() -> std::string { throw std::domain_error{"card refused"}; };

    EXPECT_THROW((void)engine.execute<std::string>(order("k"), failing), std::domain_error);
    const auto second = engine.execute<std::string>(order("k"), never);

    EXPECT_EQ(second.kind(), outcome_kind::failed);
    EXPECT_EQ(second.error(), "card refused");
    EXPECT_THROW((void)second.value(), failed_error);
}

TEST_P(Execute, ForgetsWhatAnExceptionOfTheReleaseClassEnded) {
    auto& engine = open({.on_exception = exception_class::release});
    const auto failing = [] { throw std::runtime_error{"busy"}; };

    EXPECT_THROW((void)engine.execute<void>(order("k", "a"), failing), std::runtime_error);

    EXPECT_FALSE(stored(order("k")).has_value());
    EXPECT_TRUE(engine.execute<void>(order("k", "b"), [] {}).executed());
}

TEST_P(Execute, ForgetsWhatWorkReleasesWhateverThePolicySaysOfExceptions) {
    auto& engine = open({.on_exception = exception_class::final});
    const auto releasing = [] { throw released{}; };

    EXPECT_THROW((void)engine.execute<void>(order("k", "a"), releasing), released);

    EXPECT_FALSE(stored(order("k")).has_value());
    EXPECT_TRUE(engine.execute<void>(order("k", "b"), [] {}).executed());
}

TEST_P(Execute, StaysAwayAsLongAsTheWorkAsked) {
    auto& engine = open({.wait = wait_mode::answer});
    const auto work = []() -> verdict<std::string> { return retry_later("later", 1h); };

    const auto first = engine.execute<std::string>(order("k"), work);
    const auto second = engine.execute<std::string>(order("k"), never);

    EXPECT_EQ(first.kind(), outcome_kind::failed);
    EXPECT_EQ(first.error(), "later");
    EXPECT_TRUE(second.in_progress());
    EXPECT_GT(second.retry_after(), 59min);
    EXPECT_LE(second.retry_after(), 1h);
}

TEST_P(Execute, TakesADelayThatMakesNoSenseAsFarAsItCan) {
    auto& engine = open({.wait = wait_mode::answer});
    const auto endless = []() -> verdict<void> { return retry_later("never", duration::max()); };
    const auto before = []() -> verdict<void> { return retry_later("now", duration::min()); };

    (void)engine.execute<void>(order("endless"), endless);
    (void)engine.execute<void>(order("before"), before);

    EXPECT_TRUE(engine.execute<void>(order("endless"), [] {}).in_progress());
    EXPECT_TRUE(engine.execute<void>(order("before"), [] {}).executed());
}

TEST_P(Execute, HoldsWhatTheWorkCannotTell) {
    auto& engine = open({.on_lease_expiry = lease_expiry::hold});
    const auto work = []() -> verdict<std::string> { return unknown(); };

    const auto first = engine.execute<std::string>(order("k"), work);
    const auto second = engine.execute<std::string>(order("k"), never);

    EXPECT_EQ(first.kind(), outcome_kind::in_doubt);
    EXPECT_EQ(second.kind(), outcome_kind::in_doubt);
    EXPECT_THROW((void)second.value(), in_doubt_error);
}

TEST_P(Execute, RunsAgainWhatTheWorkCannotTellWhereThePolicySaysSo) {
    auto& engine = open();
    (void)engine.execute<void>(order("k"), []() -> verdict<void> { return unknown(); });

    bool taken_over = false;
    const auto second =
        engine.execute<void>(order("k"), [&](execution& run) { taken_over = run.taken_over(); });

    EXPECT_TRUE(second.executed());
    EXPECT_TRUE(taken_over);
}

TEST_P(Execute, LastWriterWinsUnderOverwrite) {
    auto& engine = open({.mismatch = on_mismatch::overwrite});
    (void)engine.execute<std::string>(order("k", "a"), [] { return std::string{"A"}; });

    const auto second =
        engine.execute<std::string>(order("k", "b"), [] { return std::string{"B"}; });

    EXPECT_TRUE(second.executed());
    EXPECT_EQ(engine.execute<std::string>(order("k", "b"), never).value(), "B");
}

TEST_P(Execute, StopsAtTheLastAttempt) {
    auto& engine = open({.attempts_max = 2});
    int runs = 0;
    const auto failing = [&] { throw std::runtime_error{"no " + std::to_string(++runs)}; };

    for (int i = 0; i < 2; ++i) {
        EXPECT_THROW((void)engine.execute<void>(order("k"), failing), std::runtime_error);
    }
    const auto third = engine.execute<void>(order("k"), failing);

    EXPECT_EQ(third.kind(), outcome_kind::failed);
    EXPECT_EQ(third.error(), "no 2");
    EXPECT_EQ(runs, 2);
}

TEST_P(Execute, KeepsAReferenceBesideTheResult) {
    auto& engine = open();
    const auto work = [](execution& run) { run.set_result_ref("order_1"); };

    EXPECT_EQ(engine.execute<void>(order("k"), work).result_ref(), "order_1");
    EXPECT_EQ(engine.execute<void>(order("k"), work).result_ref(), "order_1");
}

TEST_P(Execute, RefusesAReferenceOverTheLimit) {
    auto& engine = open();
    const auto work = [](execution& run) { run.set_result_ref(std::string(256, 'x')); };

    EXPECT_THROW((void)engine.execute<void>(order("k"), work), failure_error);
}

TEST_P(Execute, KeepsTheAttributes) {
    auto& engine = open();
    auto what = order("k");
    what.with.attributes = R"({"customer":7})";

    (void)engine.execute<void>(what, [] {});

    EXPECT_EQ(stored(order("k"))->attributes, R"({"customer":7})");
}

TEST_P(Execute, HonoursTheRequestsOwnRetention) {
    auto& engine = open();
    auto what = order("k");
    what.with.retention = 30ms;
    (void)engine.execute<void>(what, [] {});

    EXPECT_TRUE(soon([&] { return engine.execute<void>(what, [] {}).executed(); }));
}

TEST_P(Execute, CountsExactlyWhatItAnswered) {
    auto& engine = open({.wait = wait_mode::answer});
    (void)engine.execute<void>(order("a", "1"), [] {});
    (void)engine.execute<void>(order("a", "1"), [] {});
    (void)engine.execute<void>(order("a", "2"), [] {});
    (void)engine.execute<void>(order("b"), []() -> verdict<void> { return retry_later("x", 1h); });
    (void)engine.execute<void>(order("b"), [] {});
    (void)engine.execute<void>(order(""), [] {});

    const auto counted = engine.counters();

    EXPECT_EQ(counted.executed, 1U);
    EXPECT_EQ(counted.replayed, 1U);
    EXPECT_EQ(counted.mismatched, 1U);
    EXPECT_EQ(counted.failed, 1U);
    EXPECT_EQ(counted.in_progress, 1U);
    EXPECT_EQ(counted.unavailable, 1U);
    EXPECT_EQ(counted.running, 0U);
    EXPECT_EQ(counted.waiting, 0U);
}

TEST_P(Execute, ConsumesAMessageOnce) {
    auto& engine = open();
    int effects = 0;
    const auto work = [&] { ++effects; };

    EXPECT_EQ(engine.consume(order("m"), 1h, work), consumed::executed);
    EXPECT_EQ(engine.consume(order("m"), 1h, work), consumed::duplicate);
    EXPECT_EQ(effects, 1);
    EXPECT_EQ(engine.consume(order("m"), 0s, work), consumed::unavailable);
    EXPECT_THROW(engine.consume(order("n"), 1h, [] { throw std::domain_error{"bad"}; }),
                 std::domain_error);
}

TEST_P(Execute, DoesPlainDeduplication) {
    auto& engine = open();
    int mails = 0;

    const auto send = [&](const char* id) {
        return engine.once({.application = "mailer", .id = id}, [&] { ++mails; });
    };

    EXPECT_EQ(send("mail-1"), consumed::executed);
    EXPECT_EQ(send("mail-1"), consumed::duplicate);
    EXPECT_EQ(send("mail-2"), consumed::executed);

    EXPECT_EQ(mails, 2);
}

TEST_P(Execute, ApplicationsShareNoIdsOfPlainDeduplication) {
    auto& engine = open();
    int mails = 0, invoices = 0;

    const auto mailed = engine.once({.application = "mailer", .id = "17"}, [&] { ++mails; });
    const auto billed = engine.once({.application = "billing", .id = "17"}, [&] { ++invoices; });

    EXPECT_EQ(mailed, consumed::executed);
    EXPECT_EQ(billed, consumed::executed);
    EXPECT_EQ(mails + invoices, 2);
}

TEST_P(Execute, RefusesPlainDeduplicationWithoutAnApplication) {
    auto& engine = open();

    const auto done = engine.once({.application = "", .id = "17"}, [] { FAIL() << "ran"; });

    EXPECT_EQ(done, consumed::unavailable);
}

TEST_P(Execute, KeepsStepsAcrossAttempts) {
    auto& engine = open();
    int charges = 0;
    int mails = 0;
    const auto work = [&](execution& run) {
        const auto charged = run.step("charge", [&] { return std::to_string(++charges); });
        run.step("mail", [&] { ++mails; });
        if (run.attempt() == 1) throw std::runtime_error{"after the mail"};
        return charged;
    };

    EXPECT_THROW((void)engine.execute<std::string>(order("k"), work), std::runtime_error);
    EXPECT_EQ(engine.execute<std::string>(order("k"), work).value(), "1");

    EXPECT_EQ(charges, 1);
    EXPECT_EQ(mails, 1);
}

TEST_P(Execute, RunsAStepOnceInOneAttemptToo) {
    auto& engine = open();
    int charges = 0;

    (void)engine.execute<void>(order("k"), [&](execution& run) {
        const auto charge = [&] { return std::to_string(++charges); };
        EXPECT_EQ(run.step("charge", charge), "1");
        EXPECT_EQ(run.step("charge", charge), "1");
    });

    EXPECT_EQ(charges, 1);
}

TEST_P(Execute, RefusesStepsOverTheLimits) {
    auto& engine = open({.on_exception = exception_class::release});
    const auto code_of = [&](auto work) {
        try {
            (void)engine.execute<void>(order("k"), work);
        } catch (const failure_error& why) {
            return why.why().code;
        }
        return errc::internal;
    };
    int in_vain = 0;
    const auto many = [&](execution& run) {
        for (int i = 0; i < 64; ++i) run.step(std::to_string(i), [] {});
        run.step("one too many", [&] { ++in_vain; });
    };
    const auto large = [](execution& run) {
        run.step("large", [] { return std::string((64U << 10) + 1, 'x'); });
    };

    EXPECT_EQ(code_of([&](execution& run) { run.step("", [&] { ++in_vain; }); }),
              errc::limit_exceeded);
    EXPECT_EQ(code_of(large), errc::limit_exceeded);
    EXPECT_EQ(code_of(many), errc::limit_exceeded);
    EXPECT_EQ(in_vain, 0) << "what cannot be recorded is not run";
}

TEST_P(Execute, GivesChildKeysThatAreTheSameOnEveryAttempt) {
    auto& engine = open();
    std::vector<std::string> keys;
    const auto work = [&](execution& run) {
        keys.push_back(run.child_key("payment"));
        if (run.attempt() == 1) throw std::runtime_error{"again"};
    };

    EXPECT_THROW((void)engine.execute<void>(order("k"), work), std::runtime_error);
    (void)engine.execute<void>(order("k"), work);

    EXPECT_EQ(keys, (std::vector<std::string>{"k:payment", "k:payment"}));
}

TEST_P(Execute, SweepsWhatHasExpired) {
    engine_options options;
    options.sweep = {.idle = 10ms, .busy = 1ms, .records_max = 10};
    auto& engine = open({.retention = 1ms}, options);
    for (int i = 0; i < 25; ++i) {
        (void)engine.execute<void>(order(std::to_string(i)), [] {});
    }

    EXPECT_TRUE(soon([&] { return engine.counters().swept == 25; })) << engine.counters().swept;
}

TEST_P(Execute, WorkMayExecuteOtherKeys) {
    auto& engine = open();

    const auto outer = engine.execute<std::string>(order("outer"), [&](execution& run) {
        return engine
            .execute<std::string>(order(run.child_key("x")), [] { return std::string{"in"}; })
            .value();
    });

    EXPECT_EQ(outer.value(), "in");
}

TEST_P(Execute, WorkThatExecutesItsOwnKeyIsToldSoInTime) {
    auto& engine = open({.wait_max = 30ms});

    const auto outer = engine.execute<std::string>(order("k"), [&] {
        return std::string{name(engine.execute<std::string>(order("k"), never).kind())};
    });

    EXPECT_EQ(outer.value(), "in_progress");
}

TEST(BadInput, IsNamedBeforeAnythingIsAskedOrRun) {
    auto script = std::make_shared<support::store_script>();
    engine engine{std::make_unique<support::faulty_store>(open_memory_store(), script)};
    const auto code_of = [&](request what) {
        const auto out = engine.execute<std::string>(std::move(what), never);
        EXPECT_EQ(out.kind(), outcome_kind::unavailable);
        return out.why()->code;
    };
    auto bad_lease = order("k");
    bad_lease.with.lease = 0s;

    EXPECT_EQ(code_of(order("")), errc::invalid_argument);
    EXPECT_EQ(code_of(order(std::string(256, 'k'))), errc::limit_exceeded);
    EXPECT_EQ(code_of(bad_lease), errc::invalid_argument);

    EXPECT_EQ(script->questions(), 0U);
}

} // namespace
} // namespace semel::tests
