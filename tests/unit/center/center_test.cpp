#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "center/desk.hpp"

namespace semel::edge::center_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Center, TheFirstBeginStartsAndTheRepeatGetsTheResult) {
    desk at;
    const auto first = at.post("/v1/begin", desk::of("k", "", {{"content", R"({"a":1,"b":2})"}}));
    const std::string attempt = first.body["attempt"];

    const auto done = at.post(
        "/v1/complete",
        desk::of(
            "k", attempt,
            {{"result", {{"text", "{\"id\":7}"}, {"type", "application/json"}, {"ref", "o_7"}}}}));
    const auto repeat = at.post("/v1/begin", desk::of("k", "", {{"content", R"({"b":2, "a":1})"}}));

    EXPECT_EQ(first.status, 200);
    EXPECT_EQ(first.body["outcome"], "started");
    EXPECT_EQ(first.body["kind"], "first");
    EXPECT_EQ(first.body["attempt_number"], 1);
    EXPECT_EQ(first.body["lease_ms"], 30'000);
    EXPECT_EQ(done.status, 200) << done.body;
    EXPECT_EQ(done.body["outcome"], "stored");
    EXPECT_EQ(repeat.body["outcome"], "replay");
    EXPECT_EQ(repeat.body["result"], json({{"kind", "value"},
                                           {"text", "{\"id\":7}"},
                                           {"type", "application/json"},
                                           {"ref", "o_7"}}));
    EXPECT_EQ(*repeat.headers.find("Content-Type"), "application/json");
    EXPECT_EQ(*repeat.headers.find("Cache-Control"), "no-store");
}

TEST(Center, WhatIsNestedTooDeeplyIsRefused) {
    desk at;
    json deep = json::array();
    for (int i = 0; i < 150; ++i) deep = json::array({std::move(deep)});

    const auto got = at.post("/v1/begin", desk::of("k", "", {{"attributes", {{"a", deep}}}}));

    EXPECT_EQ(got.status, 400);
    EXPECT_THAT(got.body["detail"], HasSubstr("nested too deeply"));
}

TEST(Center, OtherContentUnderTheKeyIsAMismatch) {
    desk at;
    at.post("/v1/begin", desk::of("k", "", {{"content", "one"}}));

    const auto other = at.post("/v1/begin", desk::of("k", "", {{"content", "two"}}));
    const auto hashed =
        at.post("/v1/begin", desk::of("k", "", {{"fingerprint", std::string(64, 'a')}}));

    EXPECT_EQ(other.status, 422);
    EXPECT_EQ(problem_of(other), "mismatch");
    EXPECT_EQ(*other.headers.find("Content-Type"), "application/problem+json");
    EXPECT_EQ(hashed.status, 422);
}

TEST(Center, ARepeatOfARunningRequestIsToldWhenToComeAgain) {
    desk at;
    at.begin("k");

    const auto repeat = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(repeat.status, 409);
    EXPECT_EQ(problem_of(repeat), "in-progress");
    EXPECT_GT(repeat.body["retry_after_ms"], 29'000);
    EXPECT_NE(repeat.headers.find("Retry-After"), nullptr);
    EXPECT_FALSE(repeat.body.dump().find("attempt\"") != std::string::npos);
}

TEST(Center, ASecondCompletionSaysWhichResultIsKept) {
    desk at;
    const auto attempt = at.begin("k");
    const auto complete = [&](const char* text) {
        at.pass(1s);
        return at.post("/v1/complete",
                       desk::of("k", attempt, {{"result", {{"text", text}, {"type", "t"}}}}));
    };
    const auto first = complete("one");

    const auto same = complete("one");
    const auto other = complete("two");

    EXPECT_EQ(same.status, 200);
    EXPECT_EQ(same.body, first.body);
    EXPECT_EQ(other.status, 200);
    EXPECT_EQ(other.body["outcome"], "already_stored");
    EXPECT_EQ(other.body["result"], json({{"kind", "value"}, {"type", "t"}, {"text", "one"}}));
    EXPECT_EQ(other.body["expires_at"], first.body["expires_at"]);
    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "")).body["result"]["text"], "one");
}

TEST(Center, OperationsOfGatewayRoutesAreRefusedBeforeTheWork) {
    desk at{{.responses = {"ORDER"}}};

    const auto refused = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(refused.status, 400);
    EXPECT_THAT(refused.body["detail"].get<std::string>(), HasSubstr("gateway route"));
    EXPECT_EQ(at.get("/v1/records/ORDER/k").status, 404);
}

TEST(Center, BytesThatAreNotTextTravelAsBase64) {
    desk at;
    const auto attempt = at.begin("k");

    at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"base64", "AP8Q"}}}}));
    const auto repeat = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(repeat.body["result"], json({{"kind", "value"}, {"type", ""}, {"base64", "AP8Q"}}));
}

TEST(Center, AResultOverTheLimitLeavesATombstone) {
    desk at{{.operations = {{"ORDER", {.result_bytes_max = 4}}}}};
    const auto attempt = at.begin("k");

    const auto done = at.post(
        "/v1/complete", desk::of("k", attempt, {{"result", {{"text", "12345"}, {"ref", "o_7"}}}}));
    const auto repeat = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(done.status, 200);
    EXPECT_EQ(done.body["kept"], false);
    at.pass(1s);
    const auto other =
        at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"text", "1"}}}}));
    EXPECT_EQ(other.body["outcome"], "already_stored");
    EXPECT_EQ(other.body["kept"], false);
    EXPECT_EQ(repeat.body["result"], json({{"kind", "tombstone"}, {"type", ""}, {"ref", "o_7"}}));
}

TEST(Center, ARejectionIsReplayedAsOne) {
    desk at;
    const auto attempt = at.begin("k");

    at.post("/v1/complete",
            desk::of("k", attempt, {{"result", {{"text", "no"}, {"kind", "rejection"}}}}));

    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "")).body["result"]["kind"], "rejection");
}

TEST(Center, ARetryableFailureRunsAgainWhenItsTimeHasCome) {
    desk at;
    const auto attempt = at.begin("k");

    const auto failed = at.post(
        "/v1/fail", desk::of("k", attempt, {{"error", "card declined"}, {"retry_after", "10s"}}));
    const auto early = at.post("/v1/begin", desk::of("k", ""));
    at.pass(11s);
    const auto later = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(failed.body["outcome"], "stored");
    EXPECT_EQ(problem_of(early), "in-progress");
    EXPECT_EQ(later.body["kind"], "retried");
    EXPECT_EQ(later.body["attempt_number"], 2);
}

TEST(Center, AFinalFailureIsToldToEveryRepeat) {
    desk at;
    const auto attempt = at.begin("k");

    at.post("/v1/fail", desk::of("k", attempt, {{"kind", "final"}, {"error", "no such account"}}));
    const auto repeat = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(repeat.status, 409);
    EXPECT_EQ(problem_of(repeat), "failed");
    EXPECT_EQ(repeat.body["error"], "no such account");
}

TEST(Center, AReleasedKeyIsFree) {
    desk at;
    const auto attempt = at.begin("k");

    EXPECT_EQ(at.post("/v1/release", desk::of("k", attempt)).status, 200);

    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "")).body["outcome"], "started");
}

TEST(Center, AnAbandonedAttemptIsTakenOverOrHeldAsThePolicySays) {
    desk at{{.operations = {{"HELD", {.on_lease_expiry = lease_expiry::hold}}}}};
    const auto attempt = at.begin("k");
    const auto held = at.post("/v1/begin", {{"operation", "HELD"}, {"key", "k"}});

    at.post("/v1/abandon", desk::of("k", attempt));
    at.post("/v1/abandon",
            {{"operation", "HELD"}, {"key", "k"}, {"attempt", held.body["attempt"]}});
    at.pass(1s);

    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "")).body["kind"], "taken_over");
    const auto doubt = at.post("/v1/begin", {{"operation", "HELD"}, {"key", "k"}});
    EXPECT_EQ(doubt.status, 409);
    EXPECT_EQ(problem_of(doubt), "in-doubt");
    EXPECT_TRUE(doubt.body.contains("since"));
}

TEST(Center, ARenewedLeaseHoldsUntilProcessingMax) {
    desk at{{.operations = {{"ORDER", {.lease = 30s, .processing_max = 60s}}}}};
    const auto attempt = at.begin("k");

    at.pass(20s);
    const auto renewed = at.post("/v1/renew", desk::of("k", attempt, {{"lease", "30s"}}));
    at.pass(20s);
    const auto repeat = at.post("/v1/begin", desk::of("k", ""));
    const auto refused = at.post("/v1/renew", desk::of("k", attempt, {{"lease", "300s"}}));

    EXPECT_EQ(renewed.body["outcome"], "renewed");
    EXPECT_EQ(renewed.body["lease_ms"], 30'000);
    EXPECT_EQ(problem_of(repeat), "in-progress");
    EXPECT_TRUE(refused.status == 409 || refused.body["lease_ms"] <= 20'000) << refused.body;
}

TEST(Center, CheckpointsComeBackToTheNextAttempt) {
    desk at;
    const auto attempt = at.begin("k");

    at.post("/v1/checkpoint", desk::of("k", attempt, {{"name", "paid"}, {"text", "tx 9"}}));
    at.post("/v1/checkpoint", desk::of("k", attempt, {{"name", "raw"}, {"base64", "/w=="}}));
    at.pass(31s);
    const auto next = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(next.body["kind"], "taken_over");
    EXPECT_EQ(next.body["checkpoints"], json::parse(R"([{"name":"paid","text":"tx 9"},
                                                        {"name":"raw","base64":"/w=="}])"));
}

TEST(Center, ALostAttemptIsFencedOffAndToldWhatIsThere) {
    desk at;
    const auto first = at.begin("k");
    at.pass(31s);
    const auto second = at.begin("k");
    at.post("/v1/complete", desk::of("k", second, {{"result", {{"text", "winner"}}}}));

    for (const char* path :
         {"/v1/complete", "/v1/fail", "/v1/release", "/v1/abandon", "/v1/renew"}) {
        const auto late = at.post(path, desk::of("k", first));
        EXPECT_EQ(late.status, 409) << path;
        EXPECT_EQ(problem_of(late), "fenced-off") << path;
        EXPECT_EQ(late.body["current"]["result"]["text"], "winner") << path;
        EXPECT_FALSE(late.body["current"].contains("owner"));
    }
    const auto step = at.post("/v1/checkpoint", desk::of("k", first, {{"name", "n"}}));
    EXPECT_EQ(problem_of(step), "fenced-off");
}

TEST(Center, RecordsCanBeLookedAtButTheirOwnerStaysSecret) {
    desk at;
    const auto attempt = at.post(
        "/v1/begin", desk::of("a/b c", "", {{"attributes", {{"shop", 3}}}, {"content", "x"}}));

    const auto running = at.get("/v1/records/ORDER/a/b%20c");
    at.post("/v1/complete",
            desk::of("a/b c", attempt.body["attempt"], {{"result", {{"text", "r"}}}}));
    const auto done = at.get("/v1/records/ORDER/a%2Fb%20c");

    EXPECT_EQ(running.status, 200) << running.body;
    EXPECT_EQ(running.body["state"], "processing");
    EXPECT_EQ(running.body["attributes"], json({{"shop", 3}}));
    EXPECT_EQ(running.body["fingerprint"].get<std::string>().size(), 64U);
    EXPECT_FALSE(running.body.contains("owner"));
    EXPECT_EQ(running.body.dump().find(attempt.body["attempt"].get<std::string>()),
              std::string::npos);
    EXPECT_EQ(done.body["state"], "succeeded");
    EXPECT_EQ(done.body["result"]["text"], "r");
    EXPECT_EQ(problem_of(at.get("/v1/records/ORDER/other")), "not-found");
}

TEST(Center, ACallerWhoseAnswerGotLostGetsItsClaimBack) {
    desk at;
    const json once = desk::of("k", "", {{"nonce", "0123456789abcdef"}});
    const json other = desk::of("k", "", {{"nonce", "fedcba9876543210"}});

    const auto first = at.post("/v1/begin", once);
    const auto again = at.post("/v1/begin", once);

    EXPECT_EQ(again.body["outcome"], "started");
    EXPECT_EQ(again.body["attempt"], first.body["attempt"]);
    EXPECT_EQ(again.body["attempt_number"], 1);
    EXPECT_EQ(problem_of(at.post("/v1/begin", other)), "in-progress");
    EXPECT_EQ(problem_of(at.post("/v1/begin", once, "bolt")), "");
}

// ---- batches

TEST(CenterBatch, ManyItemsAreOneRoundTripAndEachEndsAlone) {
    desk at;
    const auto a = at.begin("a");
    json items = json::array();
    items.push_back(desk::of("a", a, {{"do", "complete"}, {"result", {{"text", "A"}}}}));
    items.push_back(desk::of("b", "", {{"do", "begin"}}));
    items.push_back(desk::of("c", a, {{"do", "renew"}}));
    items.push_back(json{{"do", "dance"}});
    items.push_back(desk::of("", "", {{"do", "begin"}}));

    const auto got = at.post("/v1/batch", {{"items", items}});

    ASSERT_EQ(got.status, 200);
    const json& made = got.body["items"];
    ASSERT_EQ(made.size(), 5U);
    EXPECT_EQ(made[0]["body"]["outcome"], "stored");
    EXPECT_EQ(made[1]["body"]["outcome"], "started");
    EXPECT_EQ(made[2]["status"], 409);
    EXPECT_EQ(made[3]["status"], 400);
    EXPECT_EQ(made[4]["body"]["type"], "urn:semel:problem:key-missing");
    EXPECT_EQ(at.script->batches(), 1U);
}

TEST(CenterBatch, IsBoundedAndDoesNotWait) {
    desk at{{.batch_max = 2}};
    const json item = desk::of("b", "", {{"do", "begin"}});

    EXPECT_EQ(at.post("/v1/batch", {{"items", {item, item, item}}}).status, 400);
    EXPECT_EQ(at.post("/v1/batch", {{"items", json::array()}}).status, 400);
    EXPECT_EQ(at.post("/v1/batch", json::array()).status, 400);
    EXPECT_EQ(at.post("/v1/batch", {{"items", {item}}, {"more", 1}}).status, 400);
    EXPECT_EQ(at.script->questions(), 0U);
    json waits = item;
    waits["wait"] = "2s";
    const auto got = at.post("/v1/batch", {{"items", {waits}}});
    EXPECT_EQ(got.body["items"][0]["status"], 400);
}

TEST(Center, FindsRecordsByTheReferenceOfTheirResult) {
    desk at;
    for (const char* key : {"a", "b"}) {
        const json result = {{"text", "made"}, {"ref", "order/7"}};
        at.post("/v1/complete", desk::of(key, at.begin(key), {{"result", result}}));
    }
    at.begin("running");

    const auto found = at.search("?result_ref=order%2F7&operation=ORDER");
    ASSERT_EQ(found.status, 200) << found.body;
    ASSERT_EQ(found.body["records"].size(), 2U);
    EXPECT_EQ(found.body["records"][0]["state"], "succeeded");
    EXPECT_EQ(at.search("?result_ref=order%2F7&operation=OTHER").body["records"].size(), 0U);
    EXPECT_EQ(at.search("?result_ref=order%2F7", "bolt").body["records"].size(), 0U);
    EXPECT_EQ(at.search("?result_ref=order%2F7&tenant=acme", "admin").body["records"].size(), 2U);
}

TEST(Center, SaysWhatIsWrongWithASearch) {
    desk at;
    for (const char* query : {"", "?result_ref=", "?result_ref=a&result_ref=b", "?colour=red",
                              "?result_ref", "?result_ref=%2", "?result_ref=a&cursor=nonsense"}) {
        EXPECT_EQ(at.search(query).status, 400) << query;
    }
    EXPECT_EQ(problem_of(at.search("?result_ref=a&tenant=bolt")), "forbidden");
}

} // namespace
} // namespace semel::edge::center_test
