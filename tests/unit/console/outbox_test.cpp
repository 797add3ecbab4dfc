#include "counter_desk.hpp"
#include "support/dead_letters.hpp"

namespace semel::edge::console_test {
namespace {

using support::dead_letters;

TEST(ConsoleOutbox, SaysThatThereIsNone) {
    counter_desk desk;

    EXPECT_EQ(desk.api("outbox").status, 404);
    EXPECT_EQ(desk.api("outbox").body["detail"], "no outbox is configured");
    EXPECT_EQ(desk.post("outbox/requeue", {{"rows", {"1"}}}).status, 404);
}

TEST(ConsoleOutbox, ShowsTheBacklogAndItsRows) {
    const dead_letters outbox{3};
    counter_desk desk{{.outbox = outbox.opener()}};

    const json backlog = desk.api("outbox").body;
    desk.allow("operator", "ops", http::scope::operate);
    const json got = desk.api("outbox/rows?status=dead&after=1", "operator").body;
    const json row = desk.api("outbox/row?row=2").body;

    EXPECT_EQ(backlog["dead"], 3);
    EXPECT_EQ(backlog["waiting"], 1);
    EXPECT_GE(backlog["oldest_ms"], 90'000);
    EXPECT_LT(backlog["oldest_ms"], 9'000'000);
    EXPECT_EQ(got["rows"].size(), 2);
    EXPECT_EQ(got["rows"][0]["row"], "2");
    EXPECT_EQ(got["rows"][0]["id"], "event-2");
    EXPECT_EQ(got["rows"][0]["status"], "dead");
    EXPECT_EQ(got["rows"][0]["attempts"], 12);
    EXPECT_EQ(got["rows"][0]["error"], "5");
    EXPECT_EQ(got["after"], "");
    EXPECT_FALSE(got["rows"][0].contains("payload"));
    EXPECT_EQ(desk.api("outbox/rows").body["rows"].size(), 4);
    EXPECT_EQ(desk.api("outbox/rows?topic=others").body["rows"].size(), 0);
    EXPECT_EQ(row["payload"]["text"], "{}");
    EXPECT_EQ(row["headers"][0], json::array({"a", "b"}));
}

TEST(ConsoleOutbox, PayloadsAreNotForReadersAndSendingAgainIsForAdmins) {
    const dead_letters outbox{3};
    counter_desk desk{{.outbox = outbox.opener()}};

    EXPECT_EQ(desk.api("outbox/row?row=2", "reader").status, 403);
    EXPECT_EQ(desk.post("outbox/requeue", {{"rows", {"2"}}}, "reader").status, 403);
    EXPECT_EQ(outbox.measure().dead, 3U);
    EXPECT_EQ(desk.post("outbox/requeue", {{"rows", {"2", "3"}}}).body["count"], 2);
    EXPECT_EQ(outbox.measure().dead, 1U);
    EXPECT_EQ(desk.api("outbox/rows?status=dead").body["rows"][0]["row"], "1");
}

TEST(ConsoleOutbox, WhatIsWrongIsSaid) {
    const dead_letters outbox{1};
    counter_desk desk{{.outbox = outbox.opener()}};

    EXPECT_EQ(desk.api("outbox/rows?status=nonsense").status, 400);
    EXPECT_EQ(desk.api("outbox/rows?after=x").status, 400);
    EXPECT_EQ(desk.api("outbox/row?row=8").status, 404);
    EXPECT_EQ(desk.api("outbox/row?row=").status, 400);
    for (const json& body :
         {json::array(), json{{"rows", "1"}}, json{{"rows", json::array()}}, json{{"rows", {1}}},
          json{{"rows", {"x"}}}, json{{"rows", {"1"}}, {"more", 1}}}) {
        EXPECT_EQ(desk.post("outbox/requeue", body).status, 400) << body;
    }
}

// A table that was lost is opened again for the next question.
TEST(ConsoleOutbox, OpensTheTableAgainAfterAFailure) {
    const dead_letters outbox{1};
    int opened = 0;
    counter_desk desk{{.outbox = [&]() -> result<std::unique_ptr<outbox::table>> {
        if (++opened == 1) return failure{.code = errc::unavailable};
        return outbox.opener()();
    }}};

    EXPECT_EQ(desk.api("outbox").status, 503);
    EXPECT_EQ(desk.api("outbox").status, 200);
    EXPECT_EQ(desk.api("outbox").status, 200);
    EXPECT_EQ(opened, 2);
}

} // namespace
} // namespace semel::edge::console_test
