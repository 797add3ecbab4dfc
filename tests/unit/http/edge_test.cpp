// The statements of the drafts and the bugs of the peers, from request to answer, over a real
// engine and the memory store.
#include "unit/http/edge.hpp"

#include <gtest/gtest.h>

namespace semel::http::edge_test {
namespace {

using namespace std::chrono_literals;
using edge_support::edge;
using edge_support::exchange;

auto always(int status, std::string body = "") {
    return [status, body](int) -> std::optional<upstream_result> {
        return full_answer{{.status = status, .body = body}};
    };
}

auto held() {
    return [](int) -> std::optional<upstream_result> { return std::nullopt; };
}

TEST(I8_Edge, WithoutAKeyEveryRequestIsExecuted) {
    edge it;

    it.post("");
    it.post("");

    EXPECT_EQ(it.executions, 2);
    EXPECT_EQ(it.asked(), 0U);
}

TEST(I10_Edge, ARepeatGetsTheFirstAnswer) {
    edge it;

    const auto first = it.post("k");
    const auto repeat = it.post("\"k\"");

    EXPECT_EQ(it.executions, 1);
    EXPECT_EQ(first->answer->body, "order 1");
    EXPECT_FALSE(first->replayed());
    EXPECT_EQ(repeat->answer->status, 201);
    EXPECT_EQ(repeat->answer->body, "order 1");
    EXPECT_TRUE(repeat->replayed());
    EXPECT_EQ(*repeat->answer->headers.find("Idempotency-Expires"),
              *first->answer->headers.find("Idempotency-Expires"));
}

TEST(I10_Edge, UnderIetfAnErrorIsReplayedToo) {
    edge it{{.responses = profile::ietf}};
    it.service = always(402, "no funds");

    it.post("k");
    const auto repeat = it.post("k");

    EXPECT_EQ(it.executions, 1);
    EXPECT_EQ(repeat->answer->status, 402);
    EXPECT_EQ(repeat->answer->body, "no funds");
    EXPECT_TRUE(repeat->replayed());
}

TEST(I11_Edge, ARepeatOfARunningRequestIs409WithTheRestOfItsLease) {
    edge it;
    it.service = held();

    const auto first = it.post("k");
    const auto repeat = it.post("k");

    EXPECT_FALSE(first->answer.has_value());
    EXPECT_EQ(repeat->type(), "409 in-progress");
    const int seconds = std::stoi(*repeat->answer->headers.find("Retry-After"));
    EXPECT_GE(seconds, 1);
    EXPECT_LE(seconds, 31);
    it.answer(full_answer{{.status = 200, .body = "done"}});
    EXPECT_EQ(first->answer->body, "done");
    EXPECT_EQ(it.post("k")->answer->body, "done");
    EXPECT_EQ(it.executions, 1);
}

TEST(I12_Edge, AnotherBodyIs422AndStaysSo) {
    edge it;
    it.post("k", R"({"a":1})");

    EXPECT_EQ(it.post("k", R"({"a":2})")->type(), "422 mismatch");
    EXPECT_EQ(it.post("k", R"({"a":2})")->type(), "422 mismatch");
    EXPECT_TRUE(it.post("k", R"({ "a": 1.0 })")->replayed());
    EXPECT_EQ(it.executions, 1);
}

TEST(R9_Edge, AMismatchOfARunningRequestIs422NotAWait) {
    edge it;
    it.service = held();

    it.post("k", "1");

    EXPECT_EQ(it.post("k", "2")->type(), "422 mismatch");
    EXPECT_EQ(it.executions, 1);
    it.answer(full_answer{});
}

TEST(I15_Edge, AfterItsRetentionTheKeyIsNew) {
    route short_lived;
    short_lived.policy.retention = 1h;
    edge it{short_lived};

    it.post("k");
    it.pass(59min);
    EXPECT_TRUE(it.post("k")->replayed());
    it.pass(2min);
    const auto later = it.post("k", "[\"another body\"]");

    EXPECT_FALSE(later->replayed()); // R-18: nothing has been swept
    EXPECT_EQ(later->answer->body, "order 2");
}

TEST(I16_Edge, AKeyOutOfFormatNeverReachesTheStore) {
    edge it{{.need = key_need::required}};

    EXPECT_EQ(it.post("")->type(), "400 key-missing");
    EXPECT_EQ(it.post("a b")->type(), "400 key-malformed");
    EXPECT_EQ(it.post(std::string(256, 'k'))->type(), "400 key-too-long");

    EXPECT_EQ(it.asked(), 0U);
    EXPECT_EQ(it.executions, 0);
}

TEST(S3_Edge, StripeReplaysA500) {
    edge it{{.responses = profile::stripe_v1}};
    it.service = always(500, "oops");

    it.post("k");
    it.service = always(200);
    const auto repeat = it.post("k");

    EXPECT_EQ(it.executions, 1);
    EXPECT_EQ(repeat->answer->status, 500);
    EXPECT_EQ(repeat->answer->body, "oops");
    EXPECT_EQ(*repeat->answer->headers.find("Idempotency-Key"), "k");
}

TEST(S4_Edge, StripeKeepsNothingOfWhatWasRejectedAtTheDoor) {
    for (const int status : {401, 409, 429}) {
        edge it{{.responses = profile::stripe_v1}};
        it.service = always(status);
        EXPECT_EQ(it.post("k", "1")->answer->status, status);
        it.service = always(200, "fine");

        EXPECT_EQ(it.post("k", "2")->answer->body, "fine") << status; // another body, too
    }
}

TEST(S5_Edge, StripeReplaysA400ThatExecutionGave) {
    edge it{{.responses = profile::stripe_v1}};
    it.service = always(400, "bad amount");

    it.post("k", "-1");

    EXPECT_TRUE(it.post("k", "-1")->replayed());
    EXPECT_EQ(it.post("k", "1")->type(), "400 mismatch"); // S-6
    EXPECT_EQ(it.executions, 1);
}

TEST(S8_Edge, KeysAreKeptForADayByDefault) {
    edge it;

    it.post("k");
    it.pass(24h - 1s);
    EXPECT_TRUE(it.post("k")->replayed());
    it.pass(2s);

    EXPECT_FALSE(it.post("k")->replayed());
}

TEST(S10_Edge, StripeV2DrivesFailedWorkAgainAndSucceededWorkNever) {
    edge it{{.responses = profile::stripe_v2}};
    it.service = always(500);
    EXPECT_EQ(it.post("k")->answer->status, 500);
    it.service = always(200, "at last");

    EXPECT_EQ(it.post("k")->answer->body, "at last");
    EXPECT_TRUE(it.post("k")->replayed());
    EXPECT_EQ(it.executions, 2);
}

TEST(R2_Edge, ACompletionThatFailsIsNotAnsweredWithTheResponseNorExecutedAgain) {
    edge it;
    it.script->fail_all("complete", {});

    const auto first = it.post("k");
    EXPECT_FALSE(first->answer.has_value());
    it.pass(11s);
    EXPECT_EQ(first->type(), "503 unconfirmed");
    EXPECT_EQ(it.post("k")->type(), "409 in-progress");
    it.script->well();
    it.pass(5s);

    EXPECT_EQ(it.post("k")->answer->body, "order 1");
    EXPECT_EQ(it.executions, 1);
}

TEST(R10_Edge, EmptyAndFalsyAnswersAreReplayedWithoutExecution) {
    for (const char* body : {"", "0", "false", "null", "\"\""}) {
        edge it;
        it.service = always(body[0] == '\0' ? 204 : 200, body);

        it.post("k");
        const auto repeat = it.post("k");

        EXPECT_TRUE(repeat->replayed());
        EXPECT_EQ(repeat->answer->body, body);
        EXPECT_EQ(it.executions, 1);
    }
}

TEST(R11_Edge, BinaryBodiesAreTheSameBytes) {
    std::string body;
    for (int byte = 255; byte >= 0; --byte) body += static_cast<char>(byte);
    edge it;
    it.service = always(200, body);

    EXPECT_EQ(it.post("k")->answer->body, body);
    EXPECT_EQ(it.post("k")->answer->body, body);
}

TEST(R12_Edge, AnAnswerTooLargeToKeepIsRememberedWithoutItsBody) {
    route small;
    small.policy.result_bytes_max = 1000;
    edge it{small};
    it.service = always(201, std::string(2000, 'x'));

    const auto first = it.post("k");
    const auto repeat = it.post("k");

    EXPECT_EQ(first->answer->body.size(), 2000U);
    EXPECT_EQ(*first->answer->headers.find("Idempotency-Stored"), "false");
    EXPECT_EQ(repeat->type(), "409 result-not-kept");
    EXPECT_EQ(*repeat->answer->headers.find("Idempotency-Stored"), "false");
    EXPECT_EQ(it.executions, 1);
}

TEST(R13_Edge, TheFirstAnswerHasItsCookieAndTheReplayHasNot) {
    edge it;
    it.service = [](int) -> std::optional<upstream_result> {
        return full_answer{{.status = 201,
                            .headers = {{"Set-Cookie", "s=1"},
                                        {"Date", "x"},
                                        {"ETag", "\"1\""},
                                        {"Transfer-Encoding", "chunked"}}}};
    };

    const auto first = it.post("k");
    const auto repeat = it.post("k");

    EXPECT_TRUE(first->answer->headers.contains("Set-Cookie"));
    EXPECT_FALSE(first->answer->headers.contains("Transfer-Encoding"));
    EXPECT_FALSE(repeat->answer->headers.contains("Set-Cookie"));
    EXPECT_FALSE(repeat->answer->headers.contains("Date"));
    EXPECT_TRUE(repeat->answer->headers.contains("ETag"));
}

TEST(R21_Edge, AServiceThatCouldNotBeReachedMayBeTriedAgain) {
    edge it;
    it.service = [](int) -> std::optional<upstream_result> { return nothing_sent{}; };
    EXPECT_EQ(it.post("k")->type(), "503 upstream-unreachable");
    it.service = always(200, "fine");

    EXPECT_EQ(it.post("k", "[1]")->type(), "422 mismatch");
    EXPECT_EQ(it.post("k")->answer->body, "fine");
    EXPECT_TRUE(it.post("k")->replayed());
}

TEST(R21_Edge, AnAnswerThatNeverCameIsDecidedByThePolicy) {
    for (const lease_expiry policy : {lease_expiry::hold, lease_expiry::probe}) {
        route held_back;
        held_back.policy.on_lease_expiry = policy;
        edge it{held_back};
        it.service = [](int) -> std::optional<upstream_result> { return no_answer{}; };
        EXPECT_EQ(it.post("k")->type(), "504 outcome-unknown");
        it.service = always(200);
        it.pass(1h);

        EXPECT_EQ(it.post("k")->type(), "409 in-doubt");
        EXPECT_EQ(it.executions, 1);
    }
}

TEST(R21_Edge, UnderRetryAnAnswerThatNeverCameIsTriedAgain) {
    edge it;
    it.service = [](int) -> std::optional<upstream_result> { return no_answer{}; };
    it.post("k");
    it.service = always(200, "second");
    it.pass(1s);

    EXPECT_EQ(it.post("k")->answer->body, "second");
    EXPECT_EQ(it.executions, 2);
}

TEST(R22_Edge, AnotherPathOrHostNeverGetsTheOthersAnswer) {
    edge it;
    it.post("k");
    const auto sent = [&](std::string target, std::string host) {
        return it.send({.head = {.method = "POST",
                                 .target = std::move(target),
                                 .headers = {{"Host", std::move(host)},
                                             {"Content-Type", "application/json"},
                                             {"Idempotency-Key", "k"}}},
                        .body = "{}"});
    };

    EXPECT_EQ(sent("/refunds", "a")->type(), "422 mismatch");
    EXPECT_EQ(sent("/orders", "b")->type(), "422 mismatch");
    EXPECT_EQ(sent("/orders?x", "a")->type(), "422 mismatch");
    EXPECT_TRUE(sent("/orders", "a")->replayed());
}

TEST(R22_Edge, TwoRoutesHaveTheirOwnRecords) {
    edge it{std::vector<route>{{.operation = "A", .path = "/orders"},
                               {.operation = "B", .path = "/refunds"}},
            single_tenant{"acme"}};
    it.post("k");

    const auto other = it.send({.head = {.method = "POST",
                                         .target = "/refunds",
                                         .headers = {{"Host", "a"}, {"Idempotency-Key", "k"}}},
                                .body = "{}"});

    EXPECT_EQ(other->answer->body, "order 2");
}

std::shared_ptr<exchange> from(edge& it, std::string tenant, std::string body = "{}",
                               peer_trust peer = peer_trust::trusted) {
    return it.send({.head = {.method = "POST",
                             .target = "/orders",
                             .headers = {{"Host", "a"},
                                         {"X-Tenant", std::move(tenant)},
                                         {"Idempotency-Key", "k"}}},
                    .body = std::move(body)},
                   peer);
}

TEST(R23_Edge, TwoTenantsWithOneKeyDoNotMeet) {
    edge it{route{}, tenant_header{"X-Tenant"}};

    const auto first = from(it, "acme");
    const auto other = from(it, "bolt");
    const auto guess = from(it, "bolt2", "{\"other\":1}");

    EXPECT_EQ(first->answer->body, "order 1");
    EXPECT_EQ(other->answer->body, "order 2");
    EXPECT_EQ(guess->answer->body, "order 3"); // neither 409 nor 422: nothing is given away
    EXPECT_TRUE(from(it, "acme")->replayed());
}

TEST(I17_Edge, AStrangerCannotNameATenant) {
    edge it{route{}, tenant_header{"X-Tenant"}};
    from(it, "acme");

    EXPECT_EQ(from(it, "acme", "{}", peer_trust::untrusted)->type(), "403 tenant-missing");
    EXPECT_EQ(it.executions, 1);
}

TEST(R24_Edge, TheSameBodyUnderAnotherKeyIsExecuted) {
    edge it;

    it.post("a");
    it.post("b");

    EXPECT_EQ(it.executions, 2);
}

TEST(R26_Edge, AReplayAsksOnceAndWritesNothing) {
    edge it;
    it.post("k");
    const std::size_t before = it.asked();

    it.post("k");

    EXPECT_EQ(it.asked(), before + 1);
    EXPECT_EQ(it.script->questions("complete"), 1U);
}

TEST(R27_Edge, WithoutItsStoreNothingIsExecuted) {
    edge it;
    it.script->fail_all("begin", {});

    const auto sent = it.post("k");
    it.pass(10s);

    EXPECT_EQ(sent->type(), "503 unavailable");
    EXPECT_TRUE(sent->answer->headers.contains("Retry-After"));
    EXPECT_EQ(it.executions, 0);
    it.script->well();
    EXPECT_EQ(it.post("k")->answer->body, "order 1");
}

TEST(R32_Edge, A503IsTriedAgainNotBeforeTheServiceSays) {
    edge it;
    it.service = [](int) -> std::optional<upstream_result> {
        return full_answer{{.status = 503, .headers = {{"Retry-After", "7"}}}};
    };
    EXPECT_EQ(it.post("k")->answer->status, 503);
    it.service = always(200, "fine");

    EXPECT_EQ(it.post("k")->type(), "409 in-progress");
    it.pass(7s);

    EXPECT_EQ(it.post("k")->answer->body, "fine");
    EXPECT_EQ(it.executions, 2);
}

TEST(R32_Edge, AttemptsUsedUpGiveTheStoredFailure) {
    route impatient;
    impatient.policy.attempts_max = 2;
    edge it{impatient};
    it.service = always(500);

    EXPECT_EQ(it.post("k")->answer->status, 500);
    EXPECT_EQ(it.post("k")->answer->status, 500);
    const auto third = it.post("k");

    EXPECT_EQ(third->type(), "500 failed");
    EXPECT_EQ(it.executions, 2);
}

TEST(R3_Edge, ACallerThatLostItsLeaseGetsTheWinnersAnswer) {
    edge it;
    it.service = held();
    const auto slow = it.post("k");
    it.script->fail_all("renew", {});
    it.pass(2min);
    it.script->well();

    const auto fast = it.post("k");
    ASSERT_EQ(it.held(), 2U);
    it.answer(full_answer{{.status = 201, .body = "slow"}});
    it.answer(full_answer{{.status = 201, .body = "fast"}});

    EXPECT_EQ(fast->answer->body, "fast");
    EXPECT_NE(slow->answer->body, "slow");
    EXPECT_EQ(it.counters().fenced_completions, 1U);
    EXPECT_EQ(it.post("k")->answer->body, "fast");
}

} // namespace
} // namespace semel::http::edge_test
