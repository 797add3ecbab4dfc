#include "engine/outcomes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "semel/engine/execution.hpp"
#include "support/noon.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

using test::noon;

stored_result sealed(std::string body) {
    stored_result made{.body = std::move(body)};
    seal(made);
    return made;
}

class Ending : public testing::Test {
protected:
    plan planned() {
        return plan_of({.tenant = "t", .operation = "o", .key = "k"}, policy_, limits{}).value();
    }
    ending of(work_end end, std::string ref = {}) {
        return ending_of(std::move(end), planned(), started_, std::move(ref));
    }
    template <class E> ending thrown(E what) {
        return of(threw_end{std::make_exception_ptr(std::move(what))});
    }

    operation_policy policy_;
    const answers::started started_{.by = {.fence = 9, .owner = {.low = 1}}, .attempt = 2};
};

TEST_F(Ending, AnAnswerIsSealedAndStoredForTheRetention) {
    policy_.retention = 5h;

    const auto made = of(answered_end{{.body = "b", .type = "text/plain"}}, "order_1");

    const auto& what = std::get<commands::complete>(made.what);
    EXPECT_EQ(what.by, started_.by);
    EXPECT_EQ(what.retention, 5h);
    EXPECT_EQ(what.result.ref, "order_1");
    EXPECT_TRUE(holds(what.result));
    EXPECT_EQ(made.own.kind, outcome_kind::executed);
    EXPECT_EQ(made.own.attempt, 2U);
    EXPECT_EQ(made.then, ending::next::settled);
}

TEST_F(Ending, AnAnswerOverTheLimitBecomesATombstone) {
    policy_.result_bytes_max = 3;

    const auto exact = of(answered_end{{.body = "abc"}});
    const auto over = of(answered_end{{.body = "abcd"}}, "order_1");

    EXPECT_EQ(std::get<commands::complete>(exact.what).result.body, "abc");
    const auto& kept = std::get<commands::complete>(over.what).result;
    EXPECT_EQ(kept.kind, result_kind::tombstone);
    EXPECT_EQ(kept.body, "");
    EXPECT_EQ(kept.ref, "order_1");
    EXPECT_TRUE(holds(kept));
}

TEST_F(Ending, RetryLaterIsARetryableFailureWithADelay) {
    const auto made = of(retry_later_verdict{.error = "busy", .delay = 3s});

    const auto& what = std::get<commands::fail>(made.what);
    EXPECT_EQ(what.kind, commands::failure_kind::retryable);
    EXPECT_EQ(what.error, "busy");
    EXPECT_EQ(what.retry_after, 3s);
    EXPECT_EQ(made.own.retry_after, 3s);
    EXPECT_EQ(made.then, ending::next::open);
}

TEST_F(Ending, ADelayIsBoundedAndNeverNegative) {
    const auto delay_of = [&](duration asked) {
        return std::get<commands::fail>(of(retry_later_verdict{.error = "", .delay = asked}).what)
            .retry_after;
    };

    EXPECT_EQ(delay_of(duration::min()), 0s);
    EXPECT_EQ(delay_of(duration::max()), limits{}.duration_max);
}

TEST_F(Ending, ErrorsAreCutToTheLimitBetweenTwoCharacters) {
    const std::string euro = "\xE2\x82\xAC";
    std::string text(limits{}.error_bytes_max - 1, 'x');

    const auto later = of(retry_later_verdict{.error = text + euro});
    const auto threw = thrown(std::runtime_error{text + "yz"});

    EXPECT_EQ(std::get<commands::fail>(later.what).error, text);
    EXPECT_EQ(std::get<commands::fail>(threw.what).error, text + "y");
}

TEST_F(Ending, BytesThatAreNoTextAreCutToo) {
    const std::string garbage(limits{}.error_bytes_max + 10, '\x80');

    const auto made = of(retry_later_verdict{.error = garbage});

    EXPECT_LE(std::get<commands::fail>(made.what).error.size(), limits{}.error_bytes_max);
    EXPECT_GE(std::get<commands::fail>(made.what).error.size(), limits{}.error_bytes_max - 3);
}

TEST_F(Ending, UnknownIsAbandoned) {
    const auto made = of(unknown_verdict{});

    EXPECT_EQ(std::get<commands::abandon>(made.what).by, started_.by);
    EXPECT_EQ(made.own.kind, outcome_kind::in_doubt);
    EXPECT_EQ(made.then, ending::next::open);
}

TEST_F(Ending, AnExceptionIsRetryableUnlessPolicySaysOtherwise) {
    policy_.failure_retention = 2h;

    const auto made = thrown(std::domain_error{"no"});

    const auto& what = std::get<commands::fail>(made.what);
    EXPECT_EQ(what.kind, commands::failure_kind::retryable);
    EXPECT_EQ(what.error, "no");
    EXPECT_EQ(what.retention, 2h);
    EXPECT_EQ(made.own.kind, outcome_kind::failed);
    EXPECT_THROW(std::rethrow_exception(made.own.thrown), std::domain_error);
    EXPECT_EQ(made.then, ending::next::open);
}

TEST_F(Ending, WhatIsNoExceptionHasATextToo) {
    EXPECT_EQ(std::get<commands::fail>(thrown(42).what).error, "unknown exception");
}

TEST_F(Ending, TheFirstRuleThatMatchesDecides) {
    policy_.failure_retention = 1h;
    policy_.failures = {when<std::domain_error>(exception_class::final),
                        when<std::logic_error>(exception_class::release),
                        when<std::exception>(exception_class::retryable)};
    policy_.failures[0].retention = 9h;
    policy_.failures[2].retry_after = 4s;

    const auto final = thrown(std::domain_error{"a"});
    const auto forgotten = thrown(std::invalid_argument{"b"});
    const auto again = thrown(std::runtime_error{"c"});

    EXPECT_EQ(std::get<commands::fail>(final.what).kind, commands::failure_kind::final);
    EXPECT_EQ(std::get<commands::fail>(final.what).retention, 9h);
    EXPECT_EQ(final.then, ending::next::settled);
    EXPECT_TRUE(std::holds_alternative<commands::release>(forgotten.what));
    EXPECT_EQ(forgotten.then, ending::next::open);
    EXPECT_EQ(std::get<commands::fail>(again.what).retry_after, 4s);
    EXPECT_EQ(std::get<commands::fail>(again.what).retention, 1h);
}

TEST_F(Ending, WhereNoRuleMatchesThePolicysClassDecides) {
    policy_.on_exception = exception_class::final;
    policy_.failures = {when<std::domain_error>(exception_class::release)};

    EXPECT_EQ(std::get<commands::fail>(thrown(std::runtime_error{"x"}).what).kind,
              commands::failure_kind::final);
}

TEST_F(Ending, ARuleThatThrowsMatchesNothing) {
    const auto confused = [](const std::exception_ptr&) -> bool { throw std::bad_alloc{}; };
    policy_.failures = {{.matches = confused, .becomes = exception_class::release},
                        when<std::domain_error>(exception_class::final)};

    EXPECT_EQ(std::get<commands::fail>(thrown(std::domain_error{"x"}).what).kind,
              commands::failure_kind::final);
}

TEST_F(Ending, ALostLeaseSaysNothingAboutTheRecord) {
    policy_.on_exception = exception_class::final;

    EXPECT_TRUE(std::holds_alternative<commands::abandon>(thrown(lease_lost{}).what));
}

TEST_F(Ending, OfWhatWasNeverRunGivesBackWhatTheBeginHasReplaced) {
    answers::started begun = started_;
    begun.replaced = std::make_shared<record>(record{.error = "before"});

    const auto back = std::get<commands::release>(end_of_unrun(begun));

    EXPECT_EQ(back.by, begun.by);
    EXPECT_EQ(back.replaced, begun.replaced);
    EXPECT_EQ(std::get<commands::release>(end_of_unrun(started_)).replaced, nullptr);
}

TEST(OutcomeOf, EveryAnswerOfABegin) {
    const auto said = [](answer what) {
        return outcome_of({.said = std::move(what), .now = noon});
    };

    const auto replay = said(answers::replay{sealed("body"), 7, noon + 1h});
    EXPECT_EQ(replay.kind, outcome_kind::replayed);
    EXPECT_EQ(replay.result.body, "body");
    EXPECT_EQ(replay.by.fence, 7U);
    EXPECT_EQ(replay.expires_at, noon + 1h);
    const auto busy = said(answers::in_progress{.retry_at = noon + 3s, .attempt = 2});
    EXPECT_EQ(busy.kind, outcome_kind::in_progress);
    EXPECT_EQ(busy.retry_after, 3s);
    EXPECT_EQ(said(answers::in_progress{.retry_at = noon - 3s}).retry_after, 0s);
    EXPECT_EQ(said(answers::mismatch{fingerprint{{}}}).kind, outcome_kind::mismatch);
    EXPECT_EQ(said(answers::failed{.error = "no"}).error, "no");
    EXPECT_EQ(said(answers::in_doubt{.fence = 4}).kind, outcome_kind::in_doubt);
}

TEST(OutcomeOf, AResultThatFailsItsChecksumIsNeverReplayed) {
    auto broken = sealed("body");
    broken.body = "bodY";

    const auto out = outcome_of({.said = answers::replay{broken, 7, noon}, .now = noon});

    EXPECT_EQ(out.kind, outcome_kind::unavailable);
    EXPECT_EQ(out.why->code, errc::corrupt);
    EXPECT_TRUE(out.result.body.empty());
}

class Winners : public testing::Test {
protected:
    raw_outcome of(std::optional<record> current) {
        const answers::fenced_off fenced{.current = std::move(current)};
        return winners(fenced, plan_, noon);
    }
    plan plan_{.content = fingerprint{{}}};
    record it_{.content = fingerprint{{}}, .holder = {.fence = 11}};
};

TEST_F(Winners, TheirResultIsTheAnswer) {
    it_.state = record_state::succeeded;
    it_.result = sealed("theirs");

    EXPECT_EQ(of(it_).kind, outcome_kind::replayed);
    EXPECT_EQ(of(it_).result.body, "theirs");
    EXPECT_EQ(of(it_).by.fence, 11U);
}

TEST_F(Winners, TheyAreStillAtWork) {
    it_.lease_until = noon + 2s;
    it_.policy.grace = 1s;

    EXPECT_EQ(of(it_).kind, outcome_kind::in_progress);
    EXPECT_EQ(of(it_).retry_after, 3s);
}

TEST_F(Winners, TheyHaveFailedForGood) {
    it_.error = "theirs";
    it_.state = record_state::failed_final;
    EXPECT_EQ(of(it_).kind, outcome_kind::failed);
    EXPECT_EQ(of(it_).error, "theirs");

    it_.state = record_state::failed_retryable;
    it_.attempts = it_.policy.attempts_max;
    EXPECT_EQ(of(it_).kind, outcome_kind::failed);
    EXPECT_EQ(of(it_).error, "theirs");
}

TEST_F(Winners, TheyHaveFailedAndTheWorkMayRunAgain) {
    it_.state = record_state::failed_retryable;
    it_.attempts = it_.policy.attempts_max - 1;
    it_.retry_after = noon + 2s;

    EXPECT_EQ(of(it_).kind, outcome_kind::in_progress);
    EXPECT_EQ(of(it_).retry_after, 2s);
}

TEST_F(Winners, NobodyIsThereAnyMore) {
    EXPECT_EQ(of(std::nullopt).kind, outcome_kind::in_progress);
}

TEST_F(Winners, TheirContentIsAnother) {
    it_.state = record_state::succeeded;
    it_.result = sealed("theirs");
    it_.content = fingerprint{fingerprint::bytes_type{std::byte{1}}};

    EXPECT_EQ(of(it_).kind, outcome_kind::mismatch);
    EXPECT_TRUE(of(it_).result.body.empty());
}

TEST_F(Winners, TheirResultIsBroken) {
    it_.state = record_state::succeeded;
    it_.result = sealed("theirs");
    it_.result.checksum += 1;

    EXPECT_EQ(of(it_).why->code, errc::corrupt);
}

} // namespace
} // namespace semel
