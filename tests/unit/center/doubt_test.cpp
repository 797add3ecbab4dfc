#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "center/desk.hpp"

namespace semel::edge::center_test {
namespace {

using namespace std::chrono_literals;
using support::answer_lost;
using support::away;
using support::fails;
using support::fault;

answer_of arrived(desk& at) {
    return at.late.back()->value_or(answer_of{.status = -1});
}

// ---- no answer of the store is taken for what it is not

TEST(CenterDoubt, ABeginWhoseAnswerGotLostIsFoundAgain) {
    desk at;
    at.script->fail_nth(0, {.when = fails::after, .why = answer_lost()});

    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "")).status, -1);
    at.pass(1s);

    EXPECT_EQ(arrived(at).body["outcome"], "started");
    EXPECT_EQ(at.script->questions("lookup"), 1U);
    const std::string attempt = arrived(at).body["attempt"];
    EXPECT_EQ(at.post("/v1/complete", desk::of("k", attempt)).status, 200);
}

TEST(CenterDoubt, ABeginThatNeverGetsAnAnswerIsNotASuccess) {
    desk at;
    at.script->on_each([](std::size_t, const command&) {
        return std::optional{fault{.when = fails::after, .why = answer_lost()}};
    });

    at.post("/v1/begin", desk::of("k", ""));
    at.pass(10s);

    EXPECT_EQ(arrived(at).status, 503);
    EXPECT_EQ(problem_of(arrived(at)), "unavailable");
    EXPECT_NE(arrived(at).headers.find("Retry-After"), nullptr);
    EXPECT_EQ(at.center->counts().unavailable, 1U);
}

TEST(CenterDoubt, ACompletionWhoseAnswerGotLostIsAskedAgain) {
    desk at;
    const auto attempt = at.begin("k");
    at.script->fail_nth(1, {.when = fails::after, .why = answer_lost()});

    at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"text", "r"}}}}));
    at.pass(1s);

    EXPECT_EQ(arrived(at).body["outcome"], "stored");
    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "")).body["result"]["text"], "r");
}

TEST(CenterDoubt, ASecondCompletionIsComparedOnceTheStoreIsBack) {
    desk at;
    const auto attempt = at.begin("k");
    at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"text", "one"}}}}));
    at.pass(1s);
    at.script->fail_nth(3, {.why = away()}); // begin, complete, complete: the look-up behind it

    at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"text", "two"}}}}));
    at.pass(1s);

    EXPECT_EQ(arrived(at).body["outcome"], "already_stored");
    EXPECT_EQ(arrived(at).body["result"]["text"], "one");
}

TEST(CenterDoubt, ACompletionThatIsNeverConfirmedSaysSo) {
    desk at;
    const auto attempt = at.begin("k");
    at.script->fail_all("complete", {.when = fails::after, .why = answer_lost()});

    at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"text", "r"}}}}));
    at.pass(10s);

    EXPECT_EQ(arrived(at).status, 503);
    EXPECT_EQ(problem_of(arrived(at)), "unconfirmed");
    // Its repeat, once the store is back, is answered as the first would have been.
    at.script->well();
    const auto again =
        at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"text", "r"}}}}));
    EXPECT_EQ(again.body["outcome"], "stored");
}

TEST(CenterDoubt, AStoreThatWasAwayAfterALostAnswerStaysInDoubt) {
    desk at;
    const auto attempt = at.begin("k");
    at.script->on_each([](std::size_t place, const command&) {
        return std::optional{place == 1 ? fault{.when = fails::after, .why = answer_lost()}
                                        : fault{.when = fails::before, .why = away()}};
    });

    at.post("/v1/complete", desk::of("k", attempt));
    at.pass(10s);

    EXPECT_EQ(problem_of(arrived(at)), "unconfirmed");
}

TEST(CenterDoubt, AReleaseWhoseAnswerGotLostIsStillARelease) {
    desk at;
    const auto attempt = at.begin("k");
    at.script->fail_nth(1, {.when = fails::after, .why = answer_lost()});

    at.post("/v1/release", desk::of("k", attempt));
    at.pass(1s);

    EXPECT_EQ(arrived(at).body["outcome"], "stored") << arrived(at).body;
    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "")).body["outcome"], "started");
}

TEST(CenterDoubt, AStoreThatIsAwayForAMomentIsNotNoticed) {
    desk at;
    at.script->fail_nth(0, {.when = fails::before, .why = away()});

    at.post("/v1/begin", desk::of("k", ""));
    at.pass(1s);

    EXPECT_EQ(arrived(at).body["outcome"], "started");
}

TEST(CenterDoubt, AFullStoreIsSaidAtOnce) {
    desk at;
    at.script->fail_nth(0, {.when = fails::before, .why = {.code = errc::overloaded}});

    const auto got = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(got.status, 503);
    EXPECT_EQ(problem_of(got), "unavailable");
}

TEST(CenterDoubt, DetailsOfTheStoreStayInside) {
    desk at;
    at.script->fail_nth(0, {.when = fails::before,
                            .why = {.code = errc::internal, .detail = "password is hunter2"}});

    const auto got = at.post("/v1/begin", desk::of("k", ""));

    EXPECT_EQ(got.status, 503);
    EXPECT_EQ(got.body.dump().find("hunter2"), std::string::npos);
}

TEST(CenterDoubt, ADamagedResultIsNeitherReplayedNorRunAgain) {
    desk at;
    stored_result result{.body = "good"};
    seal(result);
    result.body = "evil";
    const record_id id{"acme", "ORDER", "k"};
    const auto begun = at.store.call(
        id, commands::begin{.owner = {1, 1}, .lease = 30s, .policy = {}}, std::nullopt);
    const claim by = std::get<answers::started>(begun.value().said).by;
    (void)at.store.call(id, commands::complete{.by = by, .result = result, .retention = 24h * 366},
                        std::nullopt);

    for (const auto& got :
         {at.post("/v1/begin", desk::of("k", "")), at.get("/v1/records/ORDER/k")}) {
        EXPECT_EQ(got.status, 500) << got.body;
        EXPECT_EQ(problem_of(got), "result-unreadable");
        EXPECT_EQ(got.body.dump().find("evil"), std::string::npos);
    }
}

// ---- waiting

json with_wait(const char* time) {
    return desk::of("k", "", {{"wait", time}});
}

TEST(CenterWait, ARepeatGetsTheResultAsSoonAsItIsThere) {
    desk at;
    const auto attempt = at.begin("k");

    EXPECT_EQ(at.post("/v1/begin", with_wait("5s")).status, -1);
    const auto waiter = at.late.back();
    at.pass(1s);
    EXPECT_FALSE(waiter->has_value());
    EXPECT_EQ(at.center->counts().waiting, 1U);
    at.post("/v1/complete", desk::of("k", attempt, {{"result", {{"text", "r"}}}}));
    at.runtime.run_posted(); // no time passes: it was told, it did not poll

    ASSERT_TRUE(waiter->has_value());
    EXPECT_EQ((*waiter)->body["result"]["text"], "r");
    EXPECT_EQ(at.center->counts().waiting, 0U);
}

TEST(CenterWait, AResultThatComesFromElsewhereIsFoundByPolling) {
    desk at;
    const auto attempt = at.begin("k");
    at.post("/v1/begin", with_wait("5s"));
    const auto waiter = at.late.back();
    const record_id id{"acme", "ORDER", "k"};
    const auto found =
        std::get<answers::found>(at.store.call(id, commands::lookup{}, std::nullopt).value().said);

    commands::complete end{.by = found.current->holder, .retention = 1h};
    seal(end.result);
    at.store.submit({.id = id, .what = std::move(end)}, [](result<semel::reply>) {});
    at.pass(500ms);

    ASSERT_TRUE(waiter->has_value());
    EXPECT_EQ((*waiter)->body["outcome"], "replay");
}

TEST(CenterWait, ItEndsWhenItsTimeIsUp) {
    desk at{{.wait_max = 2s}};
    at.begin("k");

    at.post("/v1/begin", with_wait("1s"));
    const auto asked = at.late.back();
    at.post("/v1/begin", with_wait("1h"));
    const auto longer = at.late.back();
    at.pass(1100ms);

    ASSERT_TRUE(asked->has_value());
    EXPECT_EQ(problem_of(**asked), "in-progress");
    EXPECT_FALSE(longer->has_value());
    at.pass(1s);
    EXPECT_TRUE(longer->has_value());
}

TEST(CenterWait, AFreedKeyIsStartedByOneOfThoseWhoWait) {
    desk at;
    const auto attempt = at.begin("k");
    at.post("/v1/begin", with_wait("5s"));
    at.post("/v1/begin", with_wait("5s"));
    const auto one = at.late[1];
    const auto two = at.late[2];

    at.post("/v1/release", desk::of("k", attempt));
    at.pass(6s);

    ASSERT_TRUE(one->has_value() && two->has_value());
    EXPECT_EQ(((*one)->status == 200) + ((*two)->status == 200), 1);
    EXPECT_EQ(((*one)->status == 409) + ((*two)->status == 409), 1);
}

TEST(CenterWait, AMismatchIsToldAtOnce) {
    desk at;
    at.post("/v1/begin", desk::of("k", "", {{"content", "a"}}));

    EXPECT_EQ(at.post("/v1/begin", desk::of("k", "", {{"content", "b"}, {"wait", "5s"}})).status,
              422);
}

TEST(CenterWait, TheNumberOfWaitersIsBounded) {
    desk at{{.waiters_max = 1}};
    at.begin("k");

    EXPECT_EQ(at.post("/v1/begin", with_wait("5s")).status, -1);
    EXPECT_EQ(problem_of(at.post("/v1/begin", with_wait("5s"))), "in-progress");
    EXPECT_EQ(at.center->counts().waiters_refused, 1U);

    desk per_key{{.limits = {.waiters_per_key_max = 1}}};
    per_key.begin("k");
    EXPECT_EQ(per_key.post("/v1/begin", with_wait("5s")).status, -1);
    EXPECT_EQ(problem_of(per_key.post("/v1/begin", with_wait("5s"))), "in-progress");
}

TEST(CenterWait, ADrainAnswersEverybody) {
    desk at;
    at.begin("k");
    at.post("/v1/begin", with_wait("5s"));
    const auto waiter = at.late.back();

    at.center->stop_waiting();

    ASSERT_TRUE(waiter->has_value());
    EXPECT_EQ(problem_of(**waiter), "in-progress");
    EXPECT_EQ(at.post("/v1/begin", with_wait("5s")).status, 409);
}

} // namespace
} // namespace semel::edge::center_test
