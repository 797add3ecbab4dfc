#include "counter_desk.hpp"

namespace semel::edge::console_test {
namespace {

using testing::HasSubstr;

json verdict(std::uint64_t fence, json more) {
    more["fence"] = std::to_string(fence);
    more["reason"] = "ticket 7";
    return more;
}

json committed_response() {
    return {{"verdict", "committed"},
            {"response", {{"status", 201}, {"type", "application/json"}, {"text", "{\"id\":1}"}}}};
}

TEST(ConsoleRecords, ARecordIsShownWithAllThatIsKnown) {
    counter_desk desk;
    const auto fence = desk.stuck(payment);

    const json got = desk.api("record?" + payment_at).body;

    EXPECT_EQ(got["standing"], "in_doubt");
    EXPECT_EQ(got["may_resolve"], true);
    EXPECT_EQ(got["fence"], std::to_string(fence));
    EXPECT_EQ(got["at"], payment_at);
    EXPECT_EQ(got["holds"], "responses");
    EXPECT_EQ(got["fingerprint"], fingerprint::raw("body").hex());
    EXPECT_EQ(got["policy"]["on_lease_expiry"], "hold");
    EXPECT_LT(got["lease_ms"], 0);
}

TEST(ConsoleRecords, AVerdictIsWhatRepeatsGetAndTheAuditKeeps) {
    counter_desk desk;
    const auto fence = desk.stuck(payment);

    const auto got =
        desk.post("record/resolve?" + payment_at, verdict(fence, committed_response()));
    const json now = desk.api("record?" + payment_at).body;

    EXPECT_EQ(got.status, 200) << got.body;
    EXPECT_EQ(now["state"], "succeeded");
    EXPECT_EQ(now["result"]["response"]["status"], 201);
    EXPECT_EQ(now["result"]["response"]["body"]["text"], "{\"id\":1}");
    EXPECT_EQ(now["audit"][0]["act"], "resolve: committed");
    EXPECT_EQ(now["audit"][0]["reason"], "ticket 7");
    EXPECT_EQ(now["audit"][0]["actor"],
              "console ops " + fingerprint::raw("admin").hex().substr(0, 12));
    const auto begun = desk.records.call(payment, commands::begin{.owner = {.high = 2, .low = 2}});
    const auto replay = std::get<answers::replay>(begun.value().said);
    EXPECT_EQ(http::decode(replay.result, {}).value().status, 201);
}

TEST(ConsoleRecords, AVerdictOnAnotherAttemptChangesNothing) {
    counter_desk desk;
    const auto fence = desk.stuck(payment);

    const auto got =
        desk.post("record/resolve?" + payment_at, verdict(fence + 1, committed_response()));

    EXPECT_EQ(got.status, 409);
    EXPECT_EQ(desk.api("record?" + payment_at).body["state"], "processing");
}

TEST(ConsoleRecords, AVerdictWhileItsOwnerWorksChangesNothing) {
    counter_desk desk;
    const auto begun =
        desk.records.call(payment, commands::begin{.owner = {.high = 1, .low = 1}, .lease = 1h});
    const auto fence = std::get<answers::started>(begun.value().said).by.fence;

    const auto got =
        desk.post("record/resolve?" + payment_at, verdict(fence, {{"verdict", "not_executed"}}));

    EXPECT_EQ(got.status, 409);
    EXPECT_EQ(desk.api("record?" + payment_at).body["standing"], "running");
}

TEST(ConsoleRecords, WhatIsWrongWithAVerdictIsSaid) {
    counter_desk desk;
    const auto fence = desk.stuck(payment);
    const auto said = [&](json body) {
        const auto got = desk.post("record/resolve?" + payment_at, body);
        EXPECT_EQ(got.status, 400) << body;
        return got.body.value("detail", "");
    };

    EXPECT_THAT(said(json::array()), HasSubstr("object"));
    EXPECT_THAT(said({{"fence", "1"}, {"verdict", "not_executed"}}), HasSubstr("reason"));
    EXPECT_THAT(said({{"verdict", "not_executed"}, {"reason", "r"}}), HasSubstr("fence"));
    EXPECT_THAT(said(verdict(fence, {{"verdict", "perhaps"}})), HasSubstr("verdict"));
    EXPECT_THAT(said(verdict(fence, {{"verdict", "failed"}})), HasSubstr("error"));
    EXPECT_THAT(said(verdict(fence, {{"verdict", "committed"}})), HasSubstr("result"));
    EXPECT_THAT(said(verdict(fence, {{"verdict", "committed"}, {"result", {{"text", "x"}}}})),
                HasSubstr("HTTP"));
    EXPECT_THAT(said(verdict(fence, {{"verdict", "committed"}, {"response", {{"status", 199}}}})),
                HasSubstr("status"));
    EXPECT_THAT(said(verdict(fence, {{"verdict", "committed"},
                                     {"response", {{"status", 200}, {"type", "a\r\nb"}}}})),
                HasSubstr("type"));
    EXPECT_THAT(
        said(verdict(fence,
                     {{"verdict", "committed"},
                      {"response",
                       {{"status", 201}, {"type", "application/json"}, {"text", "{\"id\": 9"}}}})),
        HasSubstr("not the JSON"));
    EXPECT_THAT(said(verdict(fence, {{"verdict", "not_executed"}, {"extra", 1}})),
                HasSubstr("extra"));
}

TEST(ConsoleRecords, AVerdictCanBeCorrectedByWhoHasSeenIt) {
    counter_desk desk;
    const auto fence = desk.stuck(payment);
    EXPECT_EQ(desk.api("record?" + payment_at).body["may_correct"], false);
    const auto first = desk.post("record/resolve?" + payment_at,
                                 verdict(fence, {{"verdict", "failed"}, {"error", "refused"}}));
    const json settled = desk.api("record?" + payment_at).body;

    const auto corrected =
        desk.post("record/resolve?" + payment_at,
                  verdict(std::stoull(settled["fence"].get<std::string>()), committed_response()));
    const auto late =
        desk.post("record/resolve?" + payment_at,
                  verdict(std::stoull(settled["fence"].get<std::string>()), committed_response()));
    const json now = desk.api("record?" + payment_at).body;

    EXPECT_EQ(first.status, 200) << first.body;
    EXPECT_EQ(settled["may_resolve"], false);
    EXPECT_EQ(settled["may_correct"], true);
    EXPECT_EQ(corrected.status, 200) << corrected.body;
    EXPECT_EQ(late.status, 409) << "another one has corrected it meanwhile";
    EXPECT_EQ(now["state"], "succeeded");
    EXPECT_FALSE(now.contains("error"));
    EXPECT_EQ(now["audit"][1]["act"], "correct: committed");
    EXPECT_EQ(now["audit"][1]["from"], "failed_final");
}

TEST(ConsoleRecords, WhereNoConfigurationNamesTheOperationWhatIsGivenCounts) {
    counter_desk desk;
    const record_id id{.tenant = "acme", .operation = "EMBEDDED", .key = "s"};
    const std::string at = "tenant=acme&operation=EMBEDDED&key=s";
    const auto fence = desk.stuck(id);
    EXPECT_EQ(desk.api("record?" + at).body["holds"], "unknown");

    const auto got = desk.post("record/resolve?" + at, verdict(fence, committed_response()));

    EXPECT_EQ(got.status, 200) << got.body;
    EXPECT_EQ(desk.api("record?" + at).body["result"]["response"]["status"], 201);
}

TEST(ConsoleRecords, ACenterOperationHoldsPlainResults) {
    counter_desk desk;
    const record_id id{.tenant = "acme", .operation = "SHIP", .key = "s"};
    const std::string at = "tenant=acme&operation=SHIP&key=s";
    const auto fence = desk.stuck(id);

    const auto got = desk.post(
        "record/resolve?" + at,
        verdict(fence, {{"verdict", "committed"},
                        {"result", {{"base64", "/w=="}, {"type", "x/y"}, {"ref", "r1"}}}}));
    const json now = desk.api("record?" + at).body;

    EXPECT_EQ(got.status, 200) << got.body;
    EXPECT_EQ(now["result"]["body"]["base64"], "/w==");
    EXPECT_EQ(now["result"]["ref"], "r1");
    EXPECT_EQ(desk.api("records?result_ref=r1").body["records"].size(), 1);
}

TEST(ConsoleRecords, ARemovedRecordLeavesItsAudit) {
    counter_desk desk;
    desk.stuck(payment);

    EXPECT_EQ(desk.post("record/remove?" + payment_at, {{"reason", ""}}).status, 400);
    const auto own = desk.post("record/remove?tenant=semel&operation=reconcile&key=ask%2F1",
                               {{"reason", "a test"}});
    EXPECT_EQ(own.status, 403);
    EXPECT_NE(own.body["detail"].get<std::string>().find("reconciler's own"), std::string::npos);
    EXPECT_EQ(desk.post("record/remove?" + payment_at, {{"reason", "a test"}}).status, 200);
    EXPECT_EQ(desk.post("record/remove?" + payment_at, {{"reason", "again"}}).status, 404);
    const auto gone = desk.api("record?" + payment_at);

    EXPECT_EQ(gone.status, 404);
    EXPECT_EQ(gone.body["audit"][0]["act"], "remove");
}

TEST(ConsoleRecords, KeysThatAreNoTextAreFoundByTheirLink) {
    counter_desk desk;
    const record_id odd{.tenant = "acme", .operation = "PAY", .key = "\xFF<script>&=%"};
    desk.stuck(odd);

    const json line = desk.api("records").body["records"][0];
    const auto got = desk.api("record?" + line["at"].get<std::string>());

    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(line["at"], "tenant=acme&operation=PAY&key=%FF%3Cscript%3E%26%3D%25");
}

TEST(ConsoleRecords, LapsedOnesAreFoundAndCounted) {
    counter_desk desk;
    desk.stuck(payment);

    EXPECT_EQ(desk.api("records?lapsed_for=1s").body["records"].size(), 1);
    EXPECT_EQ(desk.api("records?lapsed_for=1h").body["records"].size(), 0);
    EXPECT_FALSE(desk.api("overview").body.contains("lapsed")); // asked for by now
    EXPECT_EQ(desk.api("overview").body["lapsed"]["records"], 1);
}

TEST(ConsoleRecords, MismatchesAreShownToWhomTheyConcern) {
    const auto log = std::make_shared<mismatch_log>(2);
    counter_desk desk{{.mismatches = log}};
    const auto seen = [](std::string tenant, std::string_view asked) {
        return mismatch_seen{.id = {.tenant = std::move(tenant), .operation = "PAY", .key = "k"},
                             .held = fingerprint::raw("held"),
                             .asked = fingerprint::raw(asked)};
    };
    log->add(seen("acme", "old"));
    log->add(seen("acme", "other"));
    log->add(seen("acme", "other"));
    log->add(seen("bolt", "other"));

    const json all = desk.api("mismatches").body["mismatches"];
    const json own = desk.api("mismatches", "reader").body["mismatches"];

    ASSERT_EQ(all.size(), 2);
    ASSERT_EQ(own.size(), 1);
    EXPECT_EQ(all[0]["tenant"], "bolt");
    EXPECT_EQ(own[0]["times"], 2);
    EXPECT_EQ(own[0]["held"], fingerprint::raw("held").hex());
    EXPECT_EQ(own[0]["asked"], fingerprint::raw("other").hex());
}

} // namespace
} // namespace semel::edge::console_test
