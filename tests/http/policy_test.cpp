// Tenants, stores that are away, probes, drains: what the options promise.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include <nlohmann/json.hpp>

#include "edge/gateway/probe.hpp"
#include "http/support/rig.hpp"
#include "semel/http/response.hpp"
#include "semel/http/tenant.hpp"
#include "support/faulty_store.hpp"
#include "support/hostile_json.hpp"

namespace semel::edge::policy_test {
namespace {

using namespace support;
using namespace std::chrono_literals;

// ---- tenants

rig_options by_header(std::string trusted) {
    return {.tenants = http::tenant_header{"X-Tenant"}, .adjust = [=](gateway_options& options) {
                options.server.trusted = {net::network::parse(trusted).value()};
            }};
}

TEST(Tenant, R_23_TwoTenantsWithTheSameKeyAreIndependent) {
    rig all{by_header("127.0.0.1")};
    const post_options acme{.key = "k", .headers = "X-Tenant: acme\r\n"};
    const post_options bolt{.key = "k", .headers = "X-Tenant: bolt\r\n"};

    EXPECT_EQ(all.send(acme).body, "order 1");
    EXPECT_EQ(all.send(bolt).body, "order 2");
    EXPECT_EQ(all.send(acme).body, "order 1");
    // Another's record shows in nothing: neither as a mismatch …
    EXPECT_EQ(all.send({.key = "k", .body = "{\"other\":1}", .headers = "X-Tenant: carl\r\n"}).body,
              "order 3");
    EXPECT_EQ(all.behind.requests(), 3);
}

TEST(Tenant, CrossTenantProbesLearnNothingFromARequestInProgress) {
    rig all{by_header("127.0.0.1")};
    gate_flag go;
    all.behind.now_does([&](const seen_request& request, socket& to) {
        if (request.nth == 1) go.wait();
        to.write(response_text(201, "order " + std::to_string(request.nth)));
    });
    client first{all.port()};
    first.send(post_text({.key = "k", .headers = "X-Tenant: acme\r\n"}));
    ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));

    EXPECT_EQ(all.send({.key = "k", .headers = "X-Tenant: bolt\r\n"}).body, "order 2");
    go.open();
    EXPECT_EQ(first.receive().body, "order 1");
}

TEST(Tenant, TheHeaderOfAnUntrustedPeerIsRefused) {
    rig all{by_header("10.0.0.0/8")};
    EXPECT_EQ(all.send({.key = "k", .headers = "X-Tenant: acme\r\n"}).problem(),
              "403 tenant-missing");
    EXPECT_EQ(all.behind.requests(), 0);
}

TEST(Tenant, TheHeaderOfAnUntrustedPeerDoesNotReachTheUpstream) {
    for (const auto& [trusted, passed] : {std::pair{"10.0.0.0/8", false}, {"127.0.0.1", true}}) {
        rig all{by_header(trusted)};
        std::atomic<bool> seen = false;
        all.behind.now_does([&](const seen_request& request, socket& to) {
            seen = request.head.headers.contains("X-Tenant");
            to.write(response_text(200, "fine"));
        });
        client one{all.port()};
        one.send("GET / HTTP/1.1\r\nHost: a\r\nx-tenant: acme\r\n\r\n");

        EXPECT_EQ(one.receive().status, 200);
        EXPECT_EQ(seen, passed) << trusted;
    }
}

TEST(Tenant, NoOrTwoTenantsAreRefused) {
    rig all{by_header("127.0.0.1")};
    EXPECT_EQ(all.send({.key = "k"}).problem().substr(0, 1), "4");
    EXPECT_EQ(
        all.send({.key = "k", .headers = "X-Tenant: a\r\nX-Tenant: b\r\n"}).problem().substr(4),
        "tenant-missing");
    EXPECT_EQ(
        all.send({.key = "k", .headers = "Connection: X-Tenant\r\nX-Tenant: a\r\n"}).problem(),
        "400 request-malformed");
    EXPECT_EQ(all.behind.requests(), 0);
}

TEST(Tenant, BearerTokensNameTheTenant) {
    const auto table = std::make_shared<http::token_table>();
    const http::scope_set use{http::scope::use};
    ASSERT_TRUE(table->add(fingerprint::raw("secret-a"), {.tenant = "acme", .may = use}));
    ASSERT_TRUE(table->add(fingerprint::raw("secret-b"), {.tenant = "bolt", .may = use}));
    rig all{{.tenants =
                 http::tenant_token{[table](std::string_view token) -> std::optional<std::string> {
                     const auto found = table->find(token);
                     if (!found) return std::nullopt;
                     return found->tenant;
                 }}}};
    const auto as = [&](const std::string& token) {
        return all.send({.key = "k", .headers = "Authorization: Bearer " + token + "\r\n"});
    };

    EXPECT_EQ(as("secret-a").body, "order 1");
    EXPECT_EQ(as("secret-b").body, "order 2");
    EXPECT_EQ(as("secret-a").body, "order 1");
    EXPECT_EQ(as("guessed").problem(), "401 tenant-missing");
    EXPECT_FALSE(as("guessed").header("WWW-Authenticate").empty());
}

TEST(Tenant, NoSourceRefusesToStart) {
    gateway_options options;
    options.upstream.url.at = {.host = "127.0.0.1", .port = 1};
    options.gate.routes = {{.operation = "ORDER"}};
    EXPECT_FALSE(check(options));
}

// ---- the store

struct faulty {
    std::shared_ptr<semel::support::store_script> script =
        std::make_shared<semel::support::store_script>();
    std::unique_ptr<store> records() const {
        return std::make_unique<semel::support::faulty_store>(open_memory_store(), script);
    }
};

TEST(StoreOutage, R_27_FailsClosedWith503) {
    faulty bad;
    rig all{{.records = bad.records(), .engine = {.store_patience = 50ms}}};
    bad.script->fail_all("begin", {});

    EXPECT_EQ(all.post("k").problem(), "503 unavailable");
    EXPECT_EQ(all.behind.requests(), 0);
}

TEST(StoreOutage, R_27_FailsOpenMarkedAndCountedWhereTheRouteSaysSo) {
    faulty bad;
    rig all{{.routes = {{.operation = "ORDER", .outage = http::store_outage::pass}},
             .records = bad.records(),
             .engine = {.store_patience = 50ms}}};
    bad.script->fail_all("begin", {});

    const answer first = all.post("k");
    const answer second = all.post("k");

    EXPECT_EQ(first.body, "order 1");
    EXPECT_EQ(first.header("Idempotency-Protected"), "false");
    EXPECT_EQ(second.body, "order 2");
    EXPECT_EQ(all.gateway().counts().bypassed, 2U);
}

// A route that goes on without the store, after it has asked the store for this long.
rig_options open_rig(faulty& bad, duration store_patience, duration wait_max = 10s) {
    http::route route{.operation = "ORDER", .outage = http::store_outage::pass};
    route.policy.wait_max = wait_max;
    return {
        .routes = {route}, .records = bad.records(), .engine = {.store_patience = store_patience}};
}

// Sent at the same time, and all told at the same moment that the store is away.
std::vector<answer> equal_posts(rig& all, int number) {
    std::vector<std::future<answer>> sent;
    for (int i = 0; i < number; ++i) {
        sent.push_back(std::async(std::launch::async, [&] { return all.post("k"); }));
    }
    const auto followers = static_cast<std::uint64_t>(number - 1);
    EXPECT_TRUE(eventually([&] { return all.engine().counters().waiting == followers; }));
    std::vector<answer> got;
    for (auto& one : sent) got.push_back(one.get());
    return got;
}

TEST(StoreOutage, EqualRequestsShareOneUnprotectedExecution) {
    faulty bad;
    rig all{open_rig(bad, 500ms)};
    bad.script->fail_all("begin", {});

    for (const answer& got : equal_posts(all, 4)) {
        EXPECT_EQ(got.body, "order 1");
        EXPECT_EQ(got.header("Idempotency-Protected"), "false");
    }
    EXPECT_EQ(all.behind.requests(), 1);
    EXPECT_EQ(all.gateway().counts().bypassed, 1U);
    EXPECT_EQ(all.post("other").body, "order 2"); // another request is not equal
}

TEST(StoreOutage, HeadersForOneClientAreNotInASharedAnswer) {
    faulty bad;
    rig all{open_rig(bad, 500ms)};
    bad.script->fail_all("begin", {});
    all.behind.now_does([](const seen_request&, socket& to) {
        to.write(response_text(201, "done",
                               "Set-Cookie: session=secret\r\nX-Csrf-Token: secret\r\n"
                               "X-Order: 7\r\n"));
    });

    const std::vector<answer> got = equal_posts(all, 4);

    const auto with = [&](std::string_view name) {
        return std::count_if(got.begin(), got.end(),
                             [&](const answer& one) { return one.headers.contains(name); });
    };
    EXPECT_EQ(with("Set-Cookie"), 1);
    EXPECT_EQ(with("X-Csrf-Token"), 1);
    EXPECT_EQ(with("X-Order"), 4);
    EXPECT_EQ(all.behind.requests(), 1);
}

// The first requests get an answer that no record keeps.
void refuses_first(upstream& behind, int requests) {
    behind.now_does([requests](const seen_request& request, socket& to) {
        to.write(response_text(request.nth <= requests ? 401 : 201,
                               "order " + std::to_string(request.nth)));
    });
}

TEST(StoreOutage, AnswersThatAreNotKeptAreNotShared) {
    faulty bad;
    rig all{open_rig(bad, 500ms)};
    bad.script->fail_all("begin", {});
    refuses_first(all.behind, 2);

    std::vector<std::string> bodies;
    for (const answer& one : equal_posts(all, 4)) {
        EXPECT_EQ(one.status, one.body == "order 3" ? 201 : 401);
        bodies.push_back(one.body);
    }

    std::sort(bodies.begin(), bodies.end());
    EXPECT_EQ(bodies, (std::vector<std::string>{"order 1", "order 2", "order 3", "order 3"}));
    EXPECT_EQ(all.behind.requests(), 3);
    EXPECT_EQ(all.gateway().counts().bypassed, 3U);
}

TEST(StoreOutage, AClaimIsNotSettledByAnUnprotectedAnswerThatIsNotKept) {
    faulty bad;
    rig all{open_rig(bad, 10s, 100ms)};
    bad.script->fail_all("begin", {});
    refuses_first(all.behind, 1);
    auto first = std::async(std::launch::async, [&] { return all.post("k"); });
    EXPECT_TRUE(eventually([&] { return bad.script->questions() > 0; }));

    const answer second = all.post("k"); // has waited long enough before the first
    bad.script->well();

    EXPECT_EQ(second.status, 401);
    EXPECT_EQ(first.get().body, "order 2");
    EXPECT_EQ(all.post("k").header("Idempotent-Replayed"), "true");
    EXPECT_EQ(all.behind.requests(), 2);
}

TEST(StoreOutage, ARequestThatGetsItsClaimAfterAllKeepsTheUnprotectedAnswer) {
    faulty bad;
    rig all{open_rig(bad, 10s, 100ms)};
    bad.script->fail_all("begin", {});
    auto first = std::async(std::launch::async, [&] { return all.post("k"); });
    EXPECT_TRUE(eventually([&] { return bad.script->questions() > 0; }));

    const answer second = all.post("k"); // has waited long enough before the first
    bad.script->well();

    EXPECT_EQ(second.body, "order 1");
    EXPECT_EQ(second.header("Idempotency-Protected"), "false");
    const answer stored = first.get();
    EXPECT_EQ(stored.body, "order 1");
    EXPECT_FALSE(stored.headers.contains("Idempotency-Protected"));
    EXPECT_EQ(all.post("k").header("Idempotent-Replayed"), "true");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(StoreOutage, ARequestWhoseEqualIsAtWorkIsNotExecutedWhenTheStoreGoesAway) {
    faulty bad;
    rig all{open_rig(bad, 50ms, 100ms)};
    gate_flag go;
    all.behind.now_does([&](const seen_request& request, socket& to) {
        go.wait();
        to.write(response_text(201, "order " + std::to_string(request.nth)));
    });
    auto first = std::async(std::launch::async, [&] { return all.post("k"); });
    EXPECT_TRUE(eventually([&] { return all.behind.requests() == 1; }));
    bad.script->fail_all("begin", {});
    auto second = std::async(std::launch::async, [&] { return all.post("k"); });
    EXPECT_TRUE(eventually([&] { return bad.script->questions("begin") == 2; }));

    go.open();

    EXPECT_EQ(first.get().body, "order 1");
    EXPECT_EQ(second.get().body, "order 1");
    EXPECT_EQ(all.behind.requests(), 1);
    EXPECT_EQ(all.gateway().counts().bypassed, 0U);
}

TEST(StoreOutage, RequestsThatFollowAnUnprotectedOneAreExecuted) {
    faulty bad;
    rig all{open_rig(bad, 50ms)};
    bad.script->fail_all("begin", {});

    EXPECT_EQ(all.post("k").body, "order 1");
    EXPECT_TRUE(all.settles());

    EXPECT_EQ(all.post("k").body, "order 2");
}

TEST(StoreOutage, R_2_ACompletionThatFailsIsNotASecondExecution) {
    faulty bad;
    rig all{{.records = bad.records(), .engine = {.confirm_max = 50ms}}};
    bad.script->fail_all("complete", {.why = semel::support::answer_lost()});

    EXPECT_EQ(all.post("k").problem(), "503 unconfirmed");
    bad.script->well();

    answer again;
    EXPECT_TRUE(eventually([&] {
        again = all.post("k");
        return again.status == 201;
    }));
    EXPECT_EQ(again.body, "order 1");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(StoreOutage, R_26_ReplaysDoNotWriteToTheStore) {
    faulty bad;
    rig all{{.records = bad.records()}};
    (void)all.post("k");
    const std::size_t before = bad.script->questions();

    for (int i = 0; i < 5; ++i) EXPECT_TRUE(all.post("k").replayed());

    EXPECT_EQ(bad.script->questions(), before + 5);
    EXPECT_EQ(bad.script->questions("complete"), 1U);
}

TEST(StoreOutage, LineEndsInStoredValuesNeverReachAClient) {
    rig all;
    // A record written past the gateway, with a header that would split the response.
    stored_result evil =
        http::encode({.status = 200, .headers = {{"Location", "/fine"}}, .body = "x"}, {}, 1'000);
    const std::size_t at = evil.body.find("/fine");
    ASSERT_NE(at, std::string::npos);
    evil.body.replace(at, 5, "/\r\nX:");
    seal(evil);
    const record_id id{.tenant = "acme", .operation = "ORDER", .key = "k"};
    const owner_id owner{.high = 1, .low = 2};
    auto began = all.engine().records().call(id, commands::begin{.owner = owner, .lease = 10s});
    ASSERT_TRUE(began);
    const auto by = std::get<answers::started>(began->said).by;
    ASSERT_TRUE(all.engine().records().call(
        id, commands::complete{.by = by, .result = evil, .retention = 1h}));

    const answer got = all.post("k");

    EXPECT_EQ(got.problem(), "500 result-unreadable");
    EXPECT_FALSE(got.headers.contains("X"));
    EXPECT_EQ(all.behind.requests(), 0);
}

// ---- probes

http::route probed() {
    http::route one{.operation = "ORDER", .methods = {"POST"}};
    one.policy.on_lease_expiry = lease_expiry::probe;
    one.policy.wait = wait_mode::answer;
    one.policy.grace = 0s;
    return one;
}

// The first POST is lost; the probe then says `verdict`.
rig_options with_probe() {
    return {.routes = {probed()},
            .adjust = [](gateway_options& options) { options.probes["ORDER"] = "/outcome"; }};
}

void loses_the_first(upstream& behind, std::string verdict) {
    behind.now_does([verdict](const seen_request& request, socket& to) {
        if (request.head.path() == "/outcome") return void(to.write(response_text(200, verdict)));
        if (request.nth == 1) return to.reset();
        to.write(response_text(201, "executed again"));
    });
}

TEST(Probe, CommittedIsReplayed) {
    rig all{with_probe()};
    loses_the_first(all.behind, R"({"outcome":"committed","status":201,)"
                                R"("headers":{"Location":"/orders/7"},"json":{"id":7}})");
    EXPECT_EQ(all.post("k / 1").status, 400); // a bare key with a blank: not a key
    EXPECT_EQ(all.send({.key = "\"k / 1\""}).problem(), "504 outcome-unknown");

    const answer again = all.send({.key = "\"k / 1\""});

    EXPECT_EQ(again.status, 201);
    EXPECT_EQ(again.body, R"({"id":7})");
    EXPECT_EQ(again.header("Location"), "/orders/7");
    EXPECT_TRUE(again.replayed());
    const auto seen = all.behind.seen();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_EQ(seen[1].head.target, "/outcome?key=k%20%2F%201&operation=ORDER&tenant=acme");
    EXPECT_EQ(all.gateway().counts().resolved, 1U);
}

TEST(Probe, NotExecutedRunsAgain) {
    rig all{with_probe()};
    loses_the_first(all.behind, R"({"outcome":"not_executed"})");
    EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown");
    EXPECT_EQ(all.post("k").body, "executed again");
    EXPECT_TRUE(all.post("k").replayed());
}

TEST(Probe, UnknownStaysInDoubt) {
    rig all{with_probe()};
    loses_the_first(all.behind, R"({"outcome":"unknown"})");
    EXPECT_EQ(all.post("k").problem(), "504 outcome-unknown");
    EXPECT_EQ(all.post("k").problem(), "409 in-doubt");
    EXPECT_EQ(all.gateway().counts().probes, 1U);
    EXPECT_EQ(all.gateway().counts().resolved, 0U);
}

TEST(Probe, OnlyAPlainWordCountsAsAVerdict) {
    using none = probe_says::unknown;
    const auto read = [](int status, std::string body) {
        return read_probe({.status = status, .body = std::move(body)});
    };
    for (const auto& [status, body] : std::vector<std::pair<int, std::string>>{
             {404, R"({"outcome":"not_executed"})"},
             {500, ""},
             {200, ""},
             {200, "not_executed"},
             {200, "[]"},
             {200, R"({"outcome":7})"},
             {200, R"({"outcome":"NOT_EXECUTED"})"},
             {200, R"({"outcome":"committed","status":"x"})"},
             {200, R"({"outcome":"committed","status":99})"},
             {200, R"({"outcome":"committed","headers":7})"},
             {200, R"({"outcome":"committed","headers":{"A":1}})"}}) {
        EXPECT_TRUE(std::holds_alternative<none>(read(status, body))) << status << body;
    }
    EXPECT_TRUE(std::holds_alternative<probe_says::not_executed>(
        read(200, R"({"outcome":"not_executed"})")));
    EXPECT_TRUE(std::holds_alternative<probe_says::committed>(
        read(200, R"({"outcome":"committed","body":"x"})")));
}

TEST(Probe, HostileAnswersAreReadSoon) {
    for (const auto& [name, text] : semel::support::hostile_jsons()) {
        const std::string body = R"({"outcome":"committed","json":)" + text + "}";
        const auto took = semel::support::time_of(
            [&] { static_cast<void>(read_probe({.status = 200, .body = body})); });
        EXPECT_LT(took, 1s) << name;
    }
}

// ---- drain

TEST(Drain, FinishesProtectedWorkWhoseClientHasGone) {
    rig all;
    gate_flag go;
    all.behind.now_does([&](const seen_request&, socket& to) {
        go.wait();
        to.write(response_text(201, "done"));
    });
    {
        client gone{all.port()};
        gone.send(post_text({.key = "k"}));
        ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));
    }
    drained how = drained::cut_off;
    std::thread drains{[&] { how = all.gateway().drain(); }};
    go.open();
    drains.join();

    EXPECT_EQ(how, drained::all);
    EXPECT_EQ(all.engine().counters().executed, 1U);
}

TEST(Drain, IsBoundedAndWhatIsCutOffIsUnknown) {
    gate_flag over;
    http::route held{.operation = "ORDER"};
    held.policy.on_lease_expiry = lease_expiry::hold;
    held.policy.grace = 0s;
    held.policy.wait = wait_mode::answer;
    rig all{
        {.routes = {held}, .adjust = [](gateway_options& options) { options.drain_time = 50ms; }}};
    all.behind.now_does([&](const seen_request&, socket&) { over.wait(); });
    client busy{all.port()};
    busy.send(post_text({.key = "k"}));
    ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));

    EXPECT_EQ(all.gateway().drain(), drained::cut_off);
    all.stop();
    over.open();

    const auto kept = all.engine().records().call(
        {.tenant = "acme", .operation = "ORDER", .key = "k"}, commands::lookup{});
    ASSERT_TRUE(kept);
    const auto& record = std::get<answers::found>(kept->said).current;
    ASSERT_TRUE(record);
    EXPECT_EQ(record->state, record_state::processing); // held for an operator
}

// ---- key vectors

TEST(KeyVectors, OverHttpStringsAreKeysAndEverythingElseIsRefused) {
    const auto folder = std::filesystem::path{SEMEL_SHARED_DIR} / "vectors" / "structured-fields";
    if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no vectors at " << folder;
    http::route strict{.operation = "ORDER", .need = http::key_need::required};
    strict.keys.form = http::key_form::strict;
    rig all{{.routes = {strict}}};

    int checked = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".json") continue;
        std::ifstream in(entry.path(), std::ios::binary);
        for (const auto& vector : nlohmann::json::parse(in)) {
            std::string lines;
            for (const auto& line : vector["raw"]) {
                lines += "Idempotency-Key: " + line.get<std::string>() + "\r\n";
            }
            const bool item = !vector.value("must_fail", false) &&
                              vector["header_type"] == "item" && vector["raw"].size() == 1 &&
                              vector["expected"][0].is_string();
            const std::string key = item ? vector["expected"][0].get<std::string>() : "";
            const bool fits = !key.empty() && key.size() <= 255;
            const answer got = all.send({.body = std::to_string(++checked), .headers = lines});
            EXPECT_EQ(got.status == 201 || got.status == 422, fits)
                << entry.path().filename() << ": " << vector["name"] << ": " << got.status;
        }
    }
    EXPECT_GE(checked, 300);
}

TEST(GatewayOptions, WhatIsWrongIsNamed) {
    const auto why = [](auto change) {
        gateway_options options;
        options.upstream.url.at = {.host = "127.0.0.1", .port = 1};
        options.gate.routes = {{.operation = "ORDER"}};
        options.gate.tenants = http::single_tenant{"acme"};
        change(options);
        const auto fine = check(options);
        return fine ? std::string{"fine"} : fine.error().detail;
    };
    EXPECT_EQ(why([](gateway_options&) {}), "fine");
    EXPECT_EQ(why([](auto& o) { o.upstream.url.at.host = ""; }),
              "upstream.url: the host is missing");
    EXPECT_EQ(why([](auto& o) { o.upstream.connections_max = 0; }),
              "upstream.connections_max: must not be zero");
    EXPECT_EQ(why([](auto& o) { o.upstream.answer_time = 0s; }),
              "upstream.answer_time: must be longer than nothing");
    EXPECT_EQ(why([](auto& o) { o.server.connections_max = 0; }),
              "connections_max: must not be zero");
    EXPECT_EQ(why([](auto& o) { o.probes["OTHER"] = "/x"; }),
              "probes.OTHER: no route has this operation");
    EXPECT_EQ(why([](auto& o) { o.probes["ORDER"] = "/x"; }),
              "probes.ORDER: the route's on_lease_expiry is not probe");
    EXPECT_EQ(why([](auto& o) {
                  o.gate.routes[0].policy.on_lease_expiry = lease_expiry::probe;
                  o.probes["ORDER"] = "http://169.254.169.254/";
              }),
              "probes.ORDER: must be a path of the upstream, as in /outcome");
    EXPECT_NE(why([](auto& o) { o.gate.tenants = {}; }), "fine");
    EXPECT_NE(why([](auto& o) { o.gate.routes[0].operation = ""; }), "fine");
}

} // namespace
} // namespace semel::edge::policy_test
