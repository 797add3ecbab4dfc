#include "counter_desk.hpp"
#include "support/hostile_json.hpp"

namespace semel::edge::console_test {
namespace {

using testing::HasSubstr;

TEST(ConsoleAccess, NobodyGetsInWithoutATokenOrSession) {
    counter_desk desk;

    for (const char* path : {"session", "overview", "records", "mismatches", "configuration",
                             "outbox", "record?tenant=a&operation=b&key=c"}) {
        EXPECT_EQ(desk.send({.path = desk.api_at(path)}).status, 401) << path;
        EXPECT_EQ(desk.api(path, "nonsense").status, 401) << path;
        EXPECT_EQ(desk.api(path, "user").status, 403) << path;
    }
}

TEST(ConsoleAccess, ASessionIsACookieThatNoScriptSees) {
    counter_desk desk;

    const auto got = desk.send({.method = "POST",
                                .path = desk.api_at("session"),
                                .headers = {{"Content-Type", "application/json"}},
                                .body = R"({"token":"admin"})"});

    EXPECT_EQ(got.status, 200);
    EXPECT_THAT(*got.headers.find("Set-Cookie"),
                testing::MatchesRegex("semel_session=[0-9a-f]{64}; Path=/; HttpOnly; "
                                      "SameSite=Strict; Max-Age=28800"));
    EXPECT_EQ(got.body.find("semel_session"), std::string::npos);
}

TEST(ConsoleAccess, OnlyLookersAndAdminsSignIn) {
    counter_desk desk;

    EXPECT_EQ(desk.sign_in("user").cookie, "");
    EXPECT_EQ(desk.sign_in("nonsense").cookie, "");
    EXPECT_NE(desk.sign_in("reader").cookie, "");
}

TEST(ConsoleAccess, AForgedOrEndedOrDoubledCookieIsRefused) {
    counter_desk desk{{.sessions = {.length = 10min}}};
    const auto who = desk.sign_in("admin");
    const auto status = [&](const std::string& cookie) {
        return desk.send({.path = desk.api_at("session"), .headers = {{"Cookie", cookie}}}).status;
    };

    EXPECT_EQ(status(who.cookie), 200);
    EXPECT_EQ(status("other=1; " + who.cookie + "; more=2"), 200);
    EXPECT_EQ(status("semel_session=" + std::string(64, 'a')), 401);
    EXPECT_EQ(status("semel_session="), 401);
    EXPECT_EQ(status(who.cookie + "; semel_session=" + std::string(64, 'a')), 401);
    desk.runtime.pass(10min);
    EXPECT_EQ(status(who.cookie), 401);
}

TEST(ConsoleAccess, ARevokedTokenEndsItsSessions) {
    counter_desk desk;
    const auto who = desk.sign_in("admin");

    desk.tokens = {};

    EXPECT_EQ(desk.send(desk.with(who, {.path = desk.api_at("session")})).status, 401);
}

TEST(ConsoleAccess, WhoSignsOutIsOut) {
    counter_desk desk;
    const auto who = desk.sign_in("admin");

    const auto out = desk.send(desk.with(who, {.method = "DELETE",
                                               .path = desk.api_at("session"),
                                               .headers = {{"Origin", "http://here:7071"}}}));

    EXPECT_EQ(out.status, 200);
    EXPECT_THAT(*out.headers.find("Set-Cookie"), HasSubstr("Max-Age=0"));
    EXPECT_EQ(desk.send(desk.with(who, {.path = desk.api_at("session")})).status, 401);
}

TEST(ConsoleAccess, AChangeNeedsTheSessionsOwnSecretAndOrigin) {
    counter_desk desk;
    const auto who = desk.sign_in("admin");
    const auto stranger = desk.sign_in("admin");
    const auto fence = desk.stuck(payment);
    const json verdict = {
        {"fence", std::to_string(fence)}, {"verdict", "not_executed"}, {"reason", "asked them"}};
    const auto post = [&](http::header_list headers) {
        headers.add("Content-Type", "application/json");
        return desk
            .send(desk.with(who, {.method = "POST",
                                  .path = desk.api_at("record/resolve?" + payment_at),
                                  .headers = std::move(headers),
                                  .body = verdict.dump()}))
            .status;
    };

    const std::string origin = "http://here:7071";
    EXPECT_EQ(post({}), 403);
    EXPECT_EQ(post({{"X-Semel-Csrf", who.csrf}}), 403);
    EXPECT_EQ(post({{"Origin", origin}}), 403);
    EXPECT_EQ(post({{"Origin", origin}, {"X-Semel-Csrf", stranger.csrf}}), 403);
    EXPECT_EQ(post({{"Origin", "http://evil"}, {"X-Semel-Csrf", who.csrf}}), 403);
    EXPECT_EQ(post({{"Origin", "null"}, {"X-Semel-Csrf", who.csrf}}), 403);
    EXPECT_EQ(desk.api("record?" + payment_at).body["state"], "processing");
    EXPECT_EQ(post({{"Origin", origin}, {"X-Semel-Csrf", who.csrf}}), 200);
}

TEST(ConsoleAccess, AnotherSiteSignsNobodyIn) {
    counter_desk desk;
    const auto status = [&](http::header_list headers) {
        return desk
            .send({.method = "POST",
                   .path = desk.api_at("session"),
                   .headers = std::move(headers),
                   .body = R"({"token":"admin"})"})
            .status;
    };

    EXPECT_EQ(status({{"Content-Type", "application/json"},
                      {"Host", "here:7071"},
                      {"Origin", "http://evil"}}),
              403);
    EXPECT_EQ(status({{"Content-Type", "text/plain"}, {"Host", "here:7071"}}), 415);
}

TEST(ConsoleAccess, ReadersSeeTheirTenantAndChangeNothing) {
    counter_desk desk;
    const auto fence = std::to_string(desk.stuck(payment));
    const record_id other{.tenant = "bolt", .operation = "PAY", .key = "q"};
    desk.stuck(other);
    const json verdict = {{"fence", fence}, {"verdict", "not_executed"}, {"reason", "no"}};

    EXPECT_EQ(desk.api("record?" + payment_at, "reader").status, 200);
    EXPECT_EQ(desk.api("record?tenant=bolt&operation=PAY&key=q", "reader").status, 403);
    EXPECT_EQ(desk.api("records?tenant=bolt", "reader").status, 403);
    EXPECT_EQ(desk.api("records", "reader").body["records"].size(), 1);
    EXPECT_EQ(desk.api("records").body["records"].size(), 2);
    EXPECT_EQ(desk.post("record/resolve?" + payment_at, verdict, "reader").status, 403);
    EXPECT_EQ(desk.post("record/remove?" + payment_at, {{"reason", "no"}}, "reader").status, 403);
    EXPECT_EQ(desk.api("record?" + payment_at).body["state"], "processing");
}

TEST(ConsoleAccess, SessionsAreBoundedAndTheOldestGoesFirst) {
    sessions all{{.length = 1h, .idle = 1h, .count_max = 2}};
    const auto token = fingerprint::raw("t");
    const local_time start{};

    const auto first = all.open(token, start);
    const auto second = all.open(token, start + 1s);
    const auto third = all.open(token, start + 2s);

    EXPECT_FALSE(all.find(first.id, start + 3s));
    EXPECT_TRUE(all.find(second.id, start + 3s));
    EXPECT_TRUE(all.find(third.id, start + 3s));
    EXPECT_FALSE(all.find(third.id, start + 2s + 1h));
}

TEST(ConsoleAccess, OneTokenPushesNobodyElseOut) {
    sessions all{{.length = 1h, .idle = 1h, .count_max = 10, .per_token_max = 4}};
    const auto busy = fingerprint::raw("busy");
    const local_time start{};

    const auto admin = all.open(fingerprint::raw("admin"), start);
    for (int i = 0; i < 100; ++i) {
        static_cast<void>(all.open(busy, start + 1s));
        static_cast<void>(all.open(fingerprint::raw(std::to_string(i % 3)), start + 1s));
    }

    EXPECT_TRUE(all.find(admin.id, start + 2s));
    EXPECT_FALSE(all.find(admin.id, start + 1h));
}

TEST(ConsoleAccess, AnIdleSessionEnds) {
    sessions all{{.length = 8h, .idle = 1h}};
    const local_time start{};

    const auto one = all.open(fingerprint::raw("t"), start);

    EXPECT_TRUE(all.find(one.id, start + 59min));
    EXPECT_TRUE(all.find(one.id, start + 118min));
    EXPECT_FALSE(all.find(one.id, start + 178min));
}

TEST(ConsoleAccess, ASecureCookieIsOfThisHostAndForTlsOnly) {
    counter_desk desk{{.cookie = console_options::cookies::secure}};

    const auto got = desk.send({.method = "POST",
                                .path = desk.api_at("session"),
                                .headers = {{"Content-Type", "application/json"}},
                                .body = R"({"token":"admin"})"});
    const auto who = desk.sign_in("admin");

    EXPECT_THAT(*got.headers.find("Set-Cookie"),
                testing::MatchesRegex("__Host-semel_session=[0-9a-f]{64}; Path=/; HttpOnly; "
                                      "SameSite=Strict; Secure; Max-Age=28800"));
    EXPECT_EQ(desk.send(desk.with(who, {.path = desk.api_at("session")})).status, 200);
}

TEST(ConsoleAccess, OperatorsSeeAllTenantsAndChangeNothing) {
    counter_desk desk;
    desk.allow("operator", "ops", http::scope::operate);
    const auto fence = std::to_string(desk.stuck(payment));
    desk.stuck({.tenant = "bolt", .operation = "PAY", .key = "q"});
    const json verdict = {{"fence", fence}, {"verdict", "not_executed"}, {"reason", "no"}};

    EXPECT_EQ(desk.api("session", "operator").body["role"], "operate");
    EXPECT_EQ(desk.api("records", "operator").body["records"].size(), 2);
    EXPECT_EQ(desk.api("overview", "operator").status, 200);
    EXPECT_EQ(desk.api("outbox", "operator").status, 404); // there is none
    EXPECT_EQ(desk.api("configuration", "operator").status, 403);
    EXPECT_EQ(desk.post("record/resolve?" + payment_at, verdict, "operator").status, 403);
    EXPECT_EQ(desk.post("outbox/requeue", {{"rows", {"7"}}}, "operator").status, 403);
}

TEST(ConsoleAccess, ReadersSeeNothingThatIsNotTheirTenants) {
    counter_desk desk;

    for (const char* path :
         {"overview", "outbox", "outbox/rows", "outbox/row?row=1", "configuration"}) {
        EXPECT_EQ(desk.api(path, "reader").status, 403) << path;
    }
    EXPECT_EQ(desk.api("mismatches", "reader").status, 200);
    EXPECT_EQ(desk.api("configuration").status, 200);
}

TEST(ConsoleAccess, ThoseWhoWatchAreToldWhoCameIn) {
    std::vector<std::string> seen;
    counter_desk desk{{.watch = [&seen](const security_event& one) {
        seen.push_back(std::string{name(one.what)} + " " + one.tenant + " " + one.token);
    }}};
    const auto id_of = [](const char* token) {
        return fingerprint::raw(token).hex().substr(0, 12);
    };

    const auto who = desk.sign_in("admin");
    desk.sign_in("nonsense");
    desk.sign_in("user");
    desk.api("records", "nonsense");
    desk.api("overview", "reader");
    desk.api("records?tenant=bolt", "reader");
    desk.send(
        desk.with(who, {.method = "POST", .path = desk.api_at("record/remove?" + payment_at)}));
    desk.send({.path = desk.api_at("session")}); // a page that asks whether anybody is signed in

    EXPECT_THAT(seen,
                testing::ElementsAre("signed_in ops " + id_of("admin"), "sign_in_refused  ",
                                     "sign_in_refused acme " + id_of("user"), "token_refused  ",
                                     "scope_refused acme " + id_of("reader"),
                                     "scope_refused acme " + id_of("reader"),
                                     "site_refused ops " + id_of("admin")));
}

TEST(CursorSeal, OpensWhatItClosedForTheSameTenantOnly) {
    const cursor_seal seal{std::string(32, 's')};
    const record_query acme{.tenant = "acme"};
    const record_query bolt{.tenant = "bolt"};
    const std::string cursor = "62657461.5041.6b6579";

    const std::string sealed = seal.close(cursor, acme);

    EXPECT_EQ(seal.open(sealed, acme), cursor);
    EXPECT_EQ(sealed.find(cursor), std::string::npos);
    EXPECT_FALSE(seal.open(sealed, bolt));
    EXPECT_FALSE(seal.open(sealed, {}));
    EXPECT_FALSE(seal.open(cursor, acme));
    EXPECT_FALSE(seal.open("", acme));
    EXPECT_FALSE(seal.open(sealed + "00", acme));
    EXPECT_FALSE((cursor_seal{std::string(32, 't')}.open(sealed, acme)));
    EXPECT_EQ(seal.close("", acme), "");
    EXPECT_EQ(seal.close("a", acme).size(), seal.close(std::string(99, 'a'), acme).size());
}

// The search of stuck records looks at those of all tenants; where it stopped is nobody's business.
TEST(ConsoleAccess, ACursorNamesNoRecordAndCannotBeMadeUp) {
    counter_desk desk;
    for (const char* key : {"secret-1", "secret-2"}) {
        desk.stuck({.tenant = "acme", .operation = "PAY", .key = key});
    }

    const auto first = desk.api("records?limit=1", "reader");
    const std::string cursor = first.body["cursor"];
    const auto second = desk.api("records?limit=1&cursor=" + cursor, "reader");

    ASSERT_NE(cursor, "");
    EXPECT_EQ(cursor.find("7365637265742d"), std::string::npos) << "the key, in hex";
    ASSERT_EQ(second.body["records"].size(), 1);
    EXPECT_NE(first.body["records"][0]["key"], second.body["records"][0]["key"]);
    EXPECT_EQ(desk.api("records?limit=1&cursor=" + cursor).status, 400) << "of all tenants";
    EXPECT_EQ(desk.api("records?cursor=61636d65.504159.70", "reader").status, 400);
}

// ---- before a body is taken

body_admission at_door(counter_desk& desk, std::string path, http::header_list headers) {
    return desk.pages->door()(
        {.method = "POST", .target = desk.api_at(std::move(path)), .headers = std::move(headers)},
        "127.0.0.1");
}

TEST(ConsoleDoor, TakesLargeBodiesOnlyFromAdmins) {
    counter_desk desk;
    const auto status = [&](const std::string& path, const std::string& token) {
        const auto says = at_door(desk, path, {{"Authorization", "Bearer " + token}});
        return says.refusal ? says.refusal->status : 200;
    };

    for (const std::string path : {"record/resolve", "record/remove", "outbox/requeue", "else"}) {
        EXPECT_EQ(at_door(desk, path, {}).refusal->status, 401) << path;
        EXPECT_EQ(status(path, "nonsense"), 401) << path;
        EXPECT_EQ(status(path, "reader"), 403) << path;
        EXPECT_EQ(status(path, "admin"), 200) << path;
    }
    EXPECT_TRUE(at_door(desk, "record/resolve", {}).refusal->headers.contains("X-Frame-Options"));
}

TEST(ConsoleDoor, TheBodyOfASignInIsSmall) {
    counter_desk desk;

    const body_admission says = at_door(desk, "session", {});

    EXPECT_FALSE(says.refusal);
    EXPECT_EQ(says.bytes_max, 1'024U);
    EXPECT_EQ(desk.pages->door()({.method = "GET", .target = "/"}, "127.0.0.1").bytes_max, 1'024U);
}

TEST(ConsoleInput, HostileTextsAreAnsweredSoon) {
    counter_desk desk;
    for (const auto& [name, text] : support::hostile_jsons()) {
        for (const std::string& path : {std::string{"session"}, "record/resolve?" + payment_at}) {
            const auto took = support::time_of([&, &text = text] {
                const auto got = desk.send({.method = "POST",
                                            .path = desk.api_at(path),
                                            .headers = {{"Authorization", "Bearer admin"},
                                                        {"Content-Type", "application/json"}},
                                            .body = text});
                EXPECT_EQ(got.status, 400) << name << " " << path;
            });
            EXPECT_LT(took, 1s) << name << " " << path;
        }
    }
}

} // namespace
} // namespace semel::edge::console_test
