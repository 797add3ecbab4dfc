#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "semel/http.hpp"

namespace semel::http::answer_test {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

protected_call call_of(route one = {}, problem_options problems = {}) {
    one.operation = "ORDER_CREATE";
    const gate by = gate::make({.routes = {std::move(one)},
                                .tenants = single_tenant{"acme"},
                                .problems = std::move(problems)})
                        .value();
    const request_head head{.method = "POST",
                            .target = "/orders",
                            .headers = {{"Host", "a"}, {"Idempotency-Key", "\"k\""}}};
    return std::get<protected_call>(decide(by, head, "{}"));
}

response created() {
    return {.status = 201,
            .headers = {{"Content-Type", "application/json"}, {"Location", "/orders/17"}},
            .body = R"({"id":17})"};
}

constexpr claim own_claim{.fence = 7, .owner = {.high = 1, .low = 2}};

raw_outcome ran(outcome_kind kind) {
    return {.kind = kind, .by = own_claim, .attempt = 1};
}

raw_outcome replay_of(const protected_call& call, const response& what,
                      std::size_t bytes_max = 1U << 20U) {
    return {.kind = outcome_kind::replayed,
            .result = encode(what, call.how->replay, bytes_max),
            .by = {.fence = 7},
            .expires_at = time_point{std::chrono::seconds{784'111'777}}};
}

std::string problem_type(const response& answer) {
    const std::string type = json::parse(answer.body)["type"];
    return std::to_string(answer.status) + " " + type.substr(type.rfind(':') + 1);
}

// ---- settle

TEST(Settle, KeepsSuccess) {
    const protected_call call = call_of();

    const settled done = settle(call, full_answer{created()});

    const auto& kept = std::get<answered_end>(done.end).result;
    EXPECT_EQ(kept.kind, result_kind::value);
    EXPECT_EQ(decode(kept, {}).value(), created());
    EXPECT_EQ(done.own, created());
}

TEST(Settle, TheFirstCallerGetsAllHeadersButHopByHopOnes) {
    response got = created();
    got.headers.add("Set-Cookie", "a=b");
    got.headers.add("Connection", "close, X-Private");
    got.headers.add("X-Private", "1");
    got.headers.add("X-Split", "a\r\nb");

    const settled done = settle(call_of(), full_answer{got});

    EXPECT_TRUE(done.own.headers.contains("Set-Cookie"));
    EXPECT_FALSE(done.own.headers.contains("Connection"));
    EXPECT_FALSE(done.own.headers.contains("X-Private"));
    EXPECT_FALSE(done.own.headers.contains("X-Split"));
    const auto& kept = std::get<answered_end>(done.end).result;
    EXPECT_FALSE(decode(kept, {}).value().headers.contains("Set-Cookie"));
}

TEST(S3_Settle, StripeKeepsA500AsARejection) {
    const settled done =
        settle(call_of({.responses = profile::stripe_v1}), full_answer{{.status = 500}});

    EXPECT_EQ(std::get<answered_end>(done.end).result.kind, result_kind::rejection);
}

TEST(S4_Settle, WhatDidNotBeginIsReleased) {
    const settled done = settle(call_of({.responses = profile::stripe_v1}),
                                full_answer{.got = {.status = 400}, .so_far = progress::not_begun});

    const auto& threw = std::get<threw_end>(done.end);
    EXPECT_THROW(std::rethrow_exception(threw.thrown), response_released);
    EXPECT_EQ(done.own.status, 400);
}

TEST(R32_Settle, ARetryableFailureWaitsAsLongAsTheServiceSays) {
    const response busy{.status = 503, .headers = {{"Retry-After", "7"}}};

    const settled done = settle(call_of(), full_answer{busy});

    const auto& later = std::get<retry_later_verdict>(done.end);
    EXPECT_EQ(later.delay, 7s);
    EXPECT_EQ(later.error, "http 503");
    EXPECT_EQ(done.own, busy);
}

TEST(R21_Settle, NothingSentIsRetryableAndSaysSo) {
    const settled done = settle(call_of(), nothing_sent{.why = "connection refused"});

    EXPECT_EQ(std::get<retry_later_verdict>(done.end).error, "http 503 connection refused");
    EXPECT_EQ(problem_type(done.own), "503 upstream-unreachable");
    EXPECT_EQ(*done.own.headers.find("Retry-After"), "1");
    EXPECT_EQ(done.own.body.find("refused"), std::string::npos);
}

TEST(R21_Settle, NothingSentByTheFirstAttemptIsReleased) {
    const settled done = settle(call_of(), nothing_sent{.why = "refused", .attempt = 1});

    const auto& threw = std::get<threw_end>(done.end);
    EXPECT_THROW(std::rethrow_exception(threw.thrown), response_released);
    EXPECT_EQ(problem_type(done.own), "503 upstream-unreachable");
}

TEST(R21_Settle, NothingSentByALaterAttemptKeepsTheRecord) {
    const settled done = settle(call_of(), nothing_sent{.attempt = 2});

    EXPECT_TRUE(std::holds_alternative<retry_later_verdict>(done.end));
}

TEST(R21_Settle, SentWithoutAFullAnswerIsUnknown) {
    const settled done = settle(call_of(), no_answer{.why = "reset after 10 bytes"});

    EXPECT_TRUE(std::holds_alternative<unknown_verdict>(done.end));
    EXPECT_EQ(problem_type(done.own), "504 outcome-unknown");
}

TEST(Settle, ARuleOfTheRouteMayHoldAStatus) {
    const route held{.statuses = {{.first = 500, .last = 599, .becomes = disposition::unknown}}};

    const settled done = settle(call_of(held), full_answer{{.status = 500}});

    EXPECT_TRUE(std::holds_alternative<unknown_verdict>(done.end));
    EXPECT_EQ(done.own.status, 500);
}

TEST(R12_Settle, OverTheLimitOfTheRouteLeavesATombstone) {
    route small;
    small.policy.result_bytes_max = 200;
    response large = created();
    large.body.assign(300, 'x');

    const settled done = settle(call_of(small), full_answer{large});

    EXPECT_EQ(std::get<answered_end>(done.end).result.kind, result_kind::tombstone);
    EXPECT_EQ(done.own.body.size(), 300U);
}

// ---- answer_for

TEST(Answer, ExecutedIsTheOwnResponseWithItsExpiry) {
    raw_outcome outcome = ran(outcome_kind::executed);
    outcome.expires_at = time_point{std::chrono::seconds{784'111'777}};

    const response answer = answer_for(call_of(), outcome, created());

    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(answer.body, created().body);
    EXPECT_EQ(*answer.headers.find("Idempotency-Expires"), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_FALSE(answer.headers.contains("Idempotent-Replayed"));
    EXPECT_FALSE(answer.headers.contains("Idempotency-Stored"));
}

TEST(R12_Answer, ExecutedWithATombstoneSaysThatItWasNotStored) {
    raw_outcome outcome = ran(outcome_kind::executed);
    outcome.result.kind = result_kind::tombstone;

    const response answer = answer_for(call_of(), outcome, created());

    EXPECT_EQ(answer.status, 201);
    EXPECT_EQ(*answer.headers.find("Idempotency-Stored"), "false");
}

TEST(I10_Answer, AReplayIsTheStoredResponse) {
    const protected_call call = call_of();
    for (const int status : {200, 201, 303, 404, 500}) {
        response stored = created();
        stored.status = status;

        const response answer = answer_for(call, replay_of(call, stored));

        EXPECT_EQ(answer.status, status);
        EXPECT_EQ(answer.body, stored.body);
        EXPECT_EQ(*answer.headers.find("Location"), "/orders/17");
    }
}

TEST(S9_Answer, AReplayIsMarkedAndReflectsTheKey) {
    const protected_call call = call_of({.responses = profile::stripe_v1});

    const response answer = answer_for(call, replay_of(call, created()));

    EXPECT_EQ(*answer.headers.find("Idempotent-Replayed"), "true");
    EXPECT_EQ(*answer.headers.find("Idempotency-Key"), "\"k\"");
    EXPECT_EQ(*answer.headers.find("Idempotency-Expires"), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_FALSE(
        answer_for(call_of(), replay_of(call, created())).headers.contains("Idempotency-Key"));
}

TEST(R12_Answer, AReplayOfATombstoneIsAProblemThatNamesWhatIsKnown) {
    const protected_call call = call_of();

    const response answer = answer_for(call, replay_of(call, created(), 85));

    EXPECT_EQ(problem_type(answer), "409 result-not-kept");
    EXPECT_EQ(json::parse(answer.body)["original_status"], 201);
    EXPECT_EQ(*answer.headers.find("Idempotency-Stored"), "false");
    EXPECT_EQ(*answer.headers.find("Idempotent-Replayed"), "true");
    EXPECT_EQ(*answer.headers.find("Location"), "/orders/17");
    EXPECT_EQ(answer.headers.count("Content-Type"), 1U);
}

TEST(Answer, StoredBytesThatCannotBeReadAre500NotSplit) {
    const protected_call call = call_of();
    raw_outcome outcome = replay_of(call, created());
    outcome.result.body.replace(outcome.result.body.find("/orders/17"), 10, "/o\r\nX: yy");

    const response answer = answer_for(call, outcome);

    EXPECT_EQ(problem_type(answer), "500 result-unreadable");
    EXPECT_EQ(problem_type(answer_for(call, {.kind = outcome_kind::unavailable,
                                             .why = failure{.code = errc::corrupt}})),
              "500 result-unreadable");
}

TEST(I11_Answer, InProgressIs409WithTheLeaseAsRetryAfter) {
    const response answer =
        answer_for(call_of(), {.kind = outcome_kind::in_progress, .retry_after = 12'300ms});

    EXPECT_EQ(problem_type(answer), "409 in-progress");
    EXPECT_EQ(*answer.headers.find("Retry-After"), "13");
}

TEST(I12_Answer, MismatchIs422) {
    const response answer = answer_for(call_of(), {.kind = outcome_kind::mismatch});

    EXPECT_EQ(problem_type(answer), "422 mismatch");
    EXPECT_FALSE(answer.headers.contains("Retry-After"));
    EXPECT_EQ(problem_type(answer_for(call_of({.responses = profile::stripe_v1}),
                                      {.kind = outcome_kind::mismatch})),
              "400 mismatch");
}

TEST(Answer, InDoubtHasItsOwnTypeAndNoRetryAfter) {
    const response answer = answer_for(call_of(), {.kind = outcome_kind::in_doubt});

    EXPECT_EQ(problem_type(answer), "409 in-doubt");
    EXPECT_FALSE(answer.headers.contains("Retry-After"));
}

TEST(Answer, TheCallerWhoseOwnAttemptIsInDoubtGetsWhatItMet) {
    const settled done = settle(call_of(), no_answer{});

    EXPECT_EQ(problem_type(answer_for(call_of(), ran(outcome_kind::in_doubt), done.own)),
              "504 outcome-unknown");
}

TEST(Answer, AttemptsUsedUpGiveTheStoredFailure) {
    const response known = answer_for(
        call_of(), {.kind = outcome_kind::failed, .error = "http 503 refused", .attempt = 100});
    const response other =
        answer_for(call_of(), {.kind = outcome_kind::failed, .error = "secret at 10.0.0.1"});

    EXPECT_EQ(problem_type(known), "503 failed");
    EXPECT_EQ(json::parse(known.body)["attempts"], 100);
    EXPECT_EQ(problem_type(other), "500 failed");
    EXPECT_EQ(other.body.find("secret"), std::string::npos);
    for (const char* odd : {"http 200", "http", "http 999", "http 5x3"}) {
        EXPECT_EQ(answer_for(call_of(), {.kind = outcome_kind::failed, .error = odd}).status, 500);
    }
}

TEST(Answer, AFailureOfItsOwnGivesTheServicesResponse) {
    const response busy{.status = 503, .body = "busy"};

    EXPECT_EQ(answer_for(call_of(), ran(outcome_kind::failed), busy), busy);
}

// Its lease was lost: somebody else's answer counts, whatever this attempt got.
TEST(R4_Answer, AFencedOffCallerNeverGetsItsOwnResponse) {
    const protected_call call = call_of();
    const response mine{.status = 201, .body = "mine"};
    const response winner{.status = 201, .body = "winner"};

    EXPECT_EQ(answer_for(call, replay_of(call, winner), mine).body, "winner");
    EXPECT_EQ(answer_for(call, {.kind = outcome_kind::in_progress}, mine).status, 409);
    EXPECT_EQ(answer_for(call, {.kind = outcome_kind::mismatch}, mine).status, 422);
    EXPECT_EQ(answer_for(call, {.kind = outcome_kind::failed}, mine).status, 500);
    EXPECT_EQ(answer_for(call, {.kind = outcome_kind::in_doubt}, mine).status, 409);
}

// The record is not durable yet: no byte of the response may leave.
TEST(R2_Answer, UnconfirmedIs503AndNotTheResponse) {
    const response answer =
        answer_for(call_of(), ran(outcome_kind::unconfirmed), response{.body = "mine"});

    EXPECT_EQ(problem_type(answer), "503 unconfirmed");
    EXPECT_TRUE(answer.headers.contains("Retry-After"));
}

TEST(R27_Answer, AStoreThatCannotBeAskedIs503) {
    const protected_call call = call_of({}, {.retry_after = 5s});
    for (const errc code : {errc::unavailable, errc::timed_out, errc::overloaded, errc::no_space}) {
        const response answer =
            answer_for(call, {.kind = outcome_kind::unavailable,
                              .why = failure{.code = code, .detail = "db-7.internal"}});

        EXPECT_EQ(problem_type(answer), "503 unavailable");
        EXPECT_EQ(*answer.headers.find("Retry-After"), "5");
        EXPECT_EQ(answer.body.find("internal"), std::string::npos);
    }
    EXPECT_EQ(answer_for(call, {.kind = outcome_kind::unavailable,
                                .why = failure{.code = errc::limit_exceeded}})
                  .status,
              500);
}

TEST(R27_MayPass, OnlyWhereTheRouteSaysSoAndNothingRan) {
    const protected_call open = call_of({.outage = store_outage::pass});
    const auto because = [](errc code) {
        return raw_outcome{.kind = outcome_kind::unavailable, .why = failure{.code = code}};
    };

    EXPECT_TRUE(may_pass(open, because(errc::unavailable)));
    EXPECT_TRUE(may_pass(open, because(errc::timed_out)));
    EXPECT_TRUE(may_pass(open, because(errc::read_only)));
    EXPECT_TRUE(may_pass(open, because(errc::no_space)));
    EXPECT_FALSE(may_pass(open, ran(outcome_kind::unconfirmed)));
    EXPECT_FALSE(may_pass(open, {.kind = outcome_kind::in_progress}));
    EXPECT_FALSE(may_pass(call_of(), because(errc::unavailable)));
}

// The store is there, or it is not known that nothing ran.
TEST(R27_MayPass, NotForAnyOtherReason) {
    const protected_call open = call_of({.outage = store_outage::pass});
    for (const errc code :
         {errc::invalid_argument, errc::limit_exceeded, errc::unknown_store, errc::not_a_store,
          errc::schema_missing, errc::schema_newer, errc::overloaded, errc::conflict, errc::corrupt,
          errc::unsupported, errc::stopped, errc::transaction_broken, errc::internal}) {
        EXPECT_FALSE(
            may_pass(open, {.kind = outcome_kind::unavailable, .why = failure{.code = code}}))
            << name(code);
    }
}

TEST(Answer, AReplayHasTheCacheControlOfTheFirstAnswerOrNoStore) {
    const protected_call call = call_of();
    response first = created();
    EXPECT_EQ(*answer_for(call, replay_of(call, first)).headers.find("Cache-Control"), "no-store");

    first.headers.add("Cache-Control", "private, max-age=5");
    const response again = answer_for(call, replay_of(call, first));

    EXPECT_EQ(again.headers.count("Cache-Control"), 1U);
    EXPECT_EQ(*again.headers.find("Cache-Control"), "private, max-age=5");
}

// Behind this gateway there may be another one, or a service with keys of its own.
TEST(Settle, WhatTheServiceSaysAboutItsOwnRecordsIsNotSaidAboutThis) {
    response got = created();
    got.headers.add("Idempotent-Replayed", "true");
    got.headers.add("idempotency-stored", "false");
    got.headers.add("Idempotency-Expires", "Sun, 06 Nov 1994 08:49:37 GMT");
    got.headers.add("Idempotency-Protected", "false");

    const settled done = settle(call_of(), full_answer{got});

    EXPECT_EQ(done.own, created());
}

} // namespace
} // namespace semel::http::answer_test
