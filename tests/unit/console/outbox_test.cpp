#include "counter_desk.hpp"

namespace semel::edge::console_test {
namespace {

class two_dead final : public outbox_desk {
public:
    result<outbox_backlog> measure() override {
        return outbox_backlog{.waiting = 3, .dead = 2, .count_max = 100, .oldest = 90s};
    }
    result<std::vector<outbox_row>> list(const outbox_query& which) override {
        if (which.status == "nonsense") return failure{.code = errc::invalid_argument};
        asked = which;
        return std::vector<outbox_row>{row(7), row(9)};
    }
    result<std::optional<outbox_row>> show(std::int64_t number) override {
        if (number != 7) return std::optional<outbox_row>{};
        return std::optional{row(7)};
    }
    result<std::size_t> requeue(const std::vector<std::int64_t>& rows) override {
        requeued = rows;
        return rows.size();
    }

    static outbox_row row(std::int64_t number) {
        return {.it = {.row = number,
                       .attempts = 12,
                       .event = {.id = "e" + std::to_string(number),
                                 .topic = "orders",
                                 .payload = "{}",
                                 .headers = {{"a", "b"}}}},
                .status = "dead",
                .error = "refused"};
    }

    outbox_query asked;
    std::vector<std::int64_t> requeued;
};

TEST(ConsoleOutbox, SaysThatThereIsNone) {
    counter_desk desk;

    EXPECT_EQ(desk.api("outbox").status, 404);
    EXPECT_EQ(desk.api("outbox").body["detail"], "no outbox is configured");
    EXPECT_EQ(desk.post("outbox/requeue", {{"rows", {"1"}}}).status, 404);
}

TEST(ConsoleOutbox, ShowsTheBacklogAndItsRows) {
    two_dead outbox;
    counter_desk desk{{.outbox = &outbox}};

    EXPECT_EQ(desk.api("outbox").body["oldest_ms"], 90'000);
    desk.allow("operator", "ops", http::scope::operate);
    const json got = desk.api("outbox/rows?status=dead&after=5", "operator").body;
    const json row = desk.api("outbox/row?row=7").body;

    EXPECT_EQ(got["rows"].size(), 2);
    EXPECT_EQ(got["rows"][0]["row"], "7");
    EXPECT_FALSE(got["rows"][0].contains("payload"));
    EXPECT_EQ(outbox.asked.after, 5);
    EXPECT_EQ(outbox.asked.status, "dead");
    EXPECT_EQ(row["payload"]["text"], "{}");
    EXPECT_EQ(row["headers"], json::array({json::array({"a", "b"})}));
}

TEST(ConsoleOutbox, PayloadsAreNotForReadersAndSendingAgainIsForAdmins) {
    two_dead outbox;
    counter_desk desk{{.outbox = &outbox}};

    EXPECT_EQ(desk.api("outbox/row?row=7", "reader").status, 403);
    EXPECT_EQ(desk.post("outbox/requeue", {{"rows", {"7"}}}, "reader").status, 403);
    EXPECT_TRUE(outbox.requeued.empty());
    EXPECT_EQ(desk.post("outbox/requeue", {{"rows", {"7", "9"}}}).body["count"], 2);
    EXPECT_EQ(outbox.requeued, (std::vector<std::int64_t>{7, 9}));
}

TEST(ConsoleOutbox, WhatIsWrongIsSaid) {
    two_dead outbox;
    counter_desk desk{{.outbox = &outbox}};

    EXPECT_EQ(desk.api("outbox/rows?status=nonsense").status, 400);
    EXPECT_EQ(desk.api("outbox/rows?after=x").status, 400);
    EXPECT_EQ(desk.api("outbox/row?row=8").status, 404);
    EXPECT_EQ(desk.api("outbox/row?row=").status, 400);
    for (const json& body :
         {json::array(), json{{"rows", "7"}}, json{{"rows", json::array()}}, json{{"rows", {7}}},
          json{{"rows", {"x"}}}, json{{"rows", {"7"}}, {"more", 1}}}) {
        EXPECT_EQ(desk.post("outbox/requeue", body).status, 400) << body;
    }
}

} // namespace
} // namespace semel::edge::console_test
