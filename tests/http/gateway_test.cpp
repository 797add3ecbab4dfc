// The gateway as a client sees it: first answers, repeats, refusals.
#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

#include "http/support/rig.hpp"

namespace semel::edge::gateway_test {
namespace {

using namespace support;
using namespace std::chrono_literals;

http::route impatient(http::route one = {.operation = "ORDER"}) {
    one.policy.wait = wait_mode::answer;
    return one;
}

TEST(Gateway, FirstRequestIsExecutedAndItsRepeatGetsTheSameAnswer) {
    rig all;
    all.behind.now_does([](const seen_request& request, socket& to) {
        to.write(response_text(201, "order " + std::to_string(request.nth),
                               "Location: /orders/1\r\nSet-Cookie: a=b\r\nX-Request-Id: 7\r\n"));
    });

    const answer first = all.post("k1", R"({"a":1})");
    const answer second = all.post("k1", R"({ "a": 1 })");

    EXPECT_EQ(first.status, 201);
    EXPECT_EQ(first.body, "order 1");
    EXPECT_FALSE(first.replayed());
    EXPECT_EQ(first.header("Set-Cookie"), "a=b");
    EXPECT_EQ(second.status, 201);
    EXPECT_EQ(second.body, "order 1");
    EXPECT_EQ(second.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(second.header("Location"), "/orders/1");
    EXPECT_EQ(second.header("Set-Cookie"), "");
    EXPECT_EQ(second.header("X-Request-Id"), "");
    EXPECT_EQ(first.header("Idempotency-Expires"), second.header("Idempotency-Expires"));
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Gateway, AnotherBodyUnderTheSameKeyIs422) {
    rig all;
    (void)all.post("k1", R"({"a":1})");

    const answer other = all.post("k1", R"({"a":2})");

    EXPECT_EQ(other.problem(), "422 mismatch");
    EXPECT_EQ(other.header("Content-Type"), "application/problem+json");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Gateway, MissingKeyIs400WhereItIsRequired) {
    rig all{{.routes = {{.operation = "ORDER", .need = http::key_need::required}}}};

    const answer none = support::post(all.port());

    EXPECT_EQ(none.problem(), "400 key-missing");
    EXPECT_EQ(all.behind.requests(), 0);
}

TEST(Gateway, I_8_RequestsWithoutAKeyPassWhereItIsOptional) {
    rig all;

    EXPECT_EQ(support::post(all.port()).body, "order 1");
    EXPECT_EQ(support::post(all.port()).body, "order 2");

    EXPECT_EQ(all.gateway().counts().passed, 2U);
}

TEST(Gateway, I_19_MethodsThatAreIdempotentByDefinitionPassWithTheirKey) {
    rig all;
    for (const std::string method : {"PUT", "DELETE", "GET"}) {
        EXPECT_FALSE(all.send({.key = "k", .method = method}).replayed());
        EXPECT_FALSE(all.send({.key = "k", .method = method}).replayed());
    }
    EXPECT_EQ(all.behind.requests(), 6);
}

TEST(Gateway, RepeatWhileTheFirstRunsIs409WithRetryAfter) {
    rig all{{.routes = {impatient()}}};
    gate_flag go;
    all.behind.now_does([&](const seen_request&, socket& to) {
        go.wait();
        to.write(response_text(201, "done"));
    });
    client first{all.port()};
    first.send(post_text({.key = "k"}));
    ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));

    const answer early = all.post("k");
    const answer other = all.post("k", R"({"other":true})"); // R-9: compared before it waits
    go.open();

    EXPECT_EQ(early.problem(), "409 in-progress");
    EXPECT_FALSE(early.header("Retry-After").empty());
    EXPECT_EQ(other.problem(), "422 mismatch");
    EXPECT_EQ(first.receive().body, "done");
    EXPECT_EQ(all.post("k").body, "done");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Gateway, PreferWaitIsHonoured) {
    rig all{{.routes = {impatient()}}};
    gate_flag go;
    all.behind.now_does([&](const seen_request&, socket& to) {
        go.wait();
        to.write(response_text(201, "done"));
    });
    client first{all.port()};
    first.send(post_text({.key = "k"}));
    ASSERT_TRUE(eventually([&] { return all.behind.requests() == 1; }));
    client waits{all.port()};
    waits.send(post_text({.key = "k", .headers = "Prefer: wait=20\r\n"}));
    ASSERT_TRUE(eventually([&] { return all.engine().counters().waiting == 1; }));

    const answer hurried = all.send({.key = "k", .headers = "Prefer: wait=0\r\n"});
    go.open();

    EXPECT_EQ(hurried.problem(), "409 in-progress");
    EXPECT_EQ(waits.receive().header("Idempotent-Replayed"), "true");
    EXPECT_EQ(first.receive().status, 201);
}

TEST(Gateway, AHundredParallelRepeatsReachTheUpstreamOnce) {
    rig all;
    all.behind.now_does([&](const seen_request& request, socket& to) {
        eventually([&] { return all.gateway().counts().guarded == 100; });
        to.write(response_text(201, "order " + std::to_string(request.nth)));
    });
    std::vector<std::unique_ptr<client>> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(std::make_unique<client>(all.port()));
        clients.back()->send(post_text({.key = "one"}));
    }

    int executed = 0;
    for (const auto& one : clients) {
        const answer got = one->receive();
        EXPECT_EQ(got.status, 201);
        EXPECT_EQ(got.body, "order 1");
        if (!got.replayed()) ++executed;
    }

    EXPECT_EQ(executed, 1);
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Gateway, TheKeyTravelsOnWithWhereTheRequestCameFrom) {
    rig all;
    (void)all.send({.key = R"("k 1")",
                    .headers = "X-Forwarded-For: 6.6.6.6\r\nForwarded: for=6.6.6.6\r\n"
                               "Connection: X-Secret-Hop\r\nX-Secret-Hop: 1\r\nTE: gzip\r\n"});

    const auto seen = all.behind.seen().front();
    EXPECT_EQ(*seen.head.headers.find("Idempotency-Key"), R"("k 1")");
    EXPECT_EQ(*seen.head.headers.find("X-Forwarded-For"), "127.0.0.1");
    EXPECT_EQ(*seen.head.headers.find("X-Forwarded-Proto"), "http");
    EXPECT_EQ(*seen.head.headers.find("Host"), "shop.test");
    EXPECT_EQ(*seen.head.headers.find("Via"), "1.1 semel");
    for (const char* gone : {"Forwarded", "X-Secret-Hop", "TE", "Connection"}) {
        EXPECT_FALSE(seen.head.headers.contains(gone)) << gone;
    }
}

TEST(Gateway, TrustedProxiesAreBelievedAboutWhereARequestCameFrom) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.trusted = {net::network::parse("127.0.0.0/8").value()};
    }}};
    (void)all.send(
        {.key = "k", .headers = "X-Forwarded-For: 10.1.1.1\r\nX-Forwarded-Proto: https\r\n"});

    const auto seen = all.behind.seen().front();
    EXPECT_EQ(*seen.head.headers.find("X-Forwarded-For"), "10.1.1.1, 127.0.0.1");
    EXPECT_EQ(*seen.head.headers.find("X-Forwarded-Proto"), "https");
}

TEST(Gateway, ChildKeysAndDerivedKeysAreForwarded) {
    http::route child{
        .operation = "CHILD", .path = "/child", .forward = http::key_forwarding::child};
    http::route derived{.operation = "DERIVED",
                        .path = "/derived",
                        .need = http::key_need::derived,
                        .principal = {"shared"}};
    rig all{{.routes = {child, derived}}};
    (void)all.send({.key = "k", .target = "/child"});
    (void)all.send({.target = "/derived"});
    const answer again = all.send({.target = "/derived"});

    EXPECT_TRUE(again.replayed());
    const auto seen = all.behind.seen();
    ASSERT_EQ(seen.size(), 2U);
    EXPECT_NE(*seen[0].head.headers.find("Idempotency-Key"), "k");
    EXPECT_TRUE(seen[1].head.headers.contains("Idempotency-Key"));
}

TEST(Gateway, R_22_AnotherPathOrHostNeverGetsTheOthersAnswer) {
    rig all;
    (void)all.send({.key = "k", .target = "/a"});

    EXPECT_EQ(all.send({.key = "k", .target = "/b"}).problem(), "422 mismatch");
    EXPECT_EQ(all.send({.key = "k", .target = "/a?x=1"}).problem(), "422 mismatch");
}

TEST(Gateway, R_24_TheSameBodyUnderAnotherKeyIsANewRequest) {
    rig all;
    EXPECT_EQ(all.post("k1").body, "order 1");
    EXPECT_EQ(all.post("k2").body, "order 2");
}

TEST(Gateway, R_10_EmptyAndFalsyBodiesAreReplayed) {
    rig all;
    int nth = 0;
    for (const std::string body : {"", "0", "false", "null", "\"\""}) {
        all.behind.now_does([&](const seen_request&, socket& to) {
            to.write(response_text(200, body, "Content-Type: application/json\r\n"));
        });
        const std::string key = "k" + std::to_string(++nth);
        EXPECT_EQ(all.post(key).body, body);
        EXPECT_TRUE(all.post(key).replayed()) << body;
        EXPECT_EQ(all.post(key).body, body);
    }
    all.behind.now_does(
        [](const seen_request&, socket& to) { to.write("HTTP/1.1 204 No Content\r\n\r\n"); });
    EXPECT_EQ(all.post("empty").status, 204);
    const answer again = all.post("empty");
    EXPECT_EQ(again.status, 204);
    EXPECT_TRUE(again.replayed());
    EXPECT_FALSE(again.headers.contains("Content-Length"));
    EXPECT_EQ(all.behind.requests(), 6);
}

TEST(Gateway, R_11_BinaryBodiesAreTheSameByteForByte) {
    rig all;
    std::string bytes;
    for (int i = 0; i < 1'024; ++i) bytes.push_back(static_cast<char>(i * 7));
    all.behind.now_does([&](const seen_request& request, socket& to) {
        EXPECT_EQ(request.body, bytes);
        to.write(response_text(200, bytes, "Content-Type: application/octet-stream\r\n"));
    });

    EXPECT_EQ(all.post("k", bytes).body, bytes);
    EXPECT_EQ(all.post("k", bytes).body, bytes);
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Gateway, R_12_AnswersOverTheLimitLeaveATombstone) {
    http::route small{.operation = "ORDER"};
    small.policy.result_bytes_max = 1'000;
    rig all{{.routes = {small}}};
    all.behind.now_does([](const seen_request&, socket& to) {
        to.write(response_text(201, std::string(5'000, 'x'), "Location: /orders/9\r\n"));
    });

    const answer first = all.post("k");
    const answer second = all.post("k");

    EXPECT_EQ(first.status, 201);
    EXPECT_EQ(first.body.size(), 5'000U);
    EXPECT_EQ(first.header("Idempotency-Stored"), "false");
    EXPECT_EQ(second.problem(), "409 result-not-kept");
    EXPECT_EQ(second.header("Location"), "/orders/9");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Gateway, AnswersTooLargeToHoldAreRememberedAsExecuted) {
    rig all{{.adjust = [](gateway_options& options) {
        options.upstream.answer_bytes_max = std::size_t{64} << 10U;
    }}};
    all.behind.now_does([](const seen_request&, socket& to) {
        to.write(response_text(200, std::string(std::size_t{4} << 20U, 'x')));
    });

    EXPECT_EQ(all.post("k").problem(), "409 result-not-kept");
    EXPECT_EQ(all.post("k").problem(), "409 result-not-kept");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Gateway, R_32_WhatIsNotKeptRunsAgain) {
    rig all;
    all.behind.now_does([](const seen_request& request, socket& to) {
        to.write(response_text(request.nth == 1 ? 500 : 200, "try " + std::to_string(request.nth)));
    });

    EXPECT_EQ(all.post("k").status, 500);
    EXPECT_EQ(all.post("k").body, "try 2");
    EXPECT_EQ(all.post("k").body, "try 2");
    EXPECT_EQ(all.behind.requests(), 2);
}

TEST(Gateway, S_3_StripeProfileKeepsFailures) {
    rig all{{.routes = {{.operation = "ORDER", .responses = http::profile::stripe_v1}}}};
    all.behind.now_does(
        [](const seen_request&, socket& to) { to.write(response_text(500, "broken")); });

    EXPECT_EQ(all.post("k").status, 500);
    const answer again = all.post("k");
    EXPECT_EQ(again.status, 500);
    EXPECT_EQ(again.header("Idempotent-Replayed"), "true");
    EXPECT_EQ(again.header("Idempotency-Key"), "k");
    EXPECT_EQ(all.behind.requests(), 1);
}

// What docs/http.md publishes about a running gateway holds: format, expiry, kept statuses.
TEST(Gateway, I_14_PublishedKeyFormatAndExpiryAgreeWithTheRunningOne) {
    rig all;
    const auto before = std::chrono::system_clock::now();
    const answer first = all.post(std::string(255, 'k'));
    const answer too_long = all.post(std::string(256, 'k'));

    EXPECT_EQ(first.status, 201);
    EXPECT_EQ(too_long.problem(), "400 key-too-long");
    std::tm parts{};
    ASSERT_NE(strptime(first.header("Idempotency-Expires").c_str(), "%a, %d %b %Y %T GMT", &parts),
              nullptr);
    const auto left = std::chrono::system_clock::from_time_t(timegm(&parts)) - before;
    EXPECT_GE(left, 24h - 2s);
    EXPECT_LE(left, 24h + 60s);
}

TEST(Gateway, CountsWhatItDid) {
    rig all;
    (void)all.post("k");
    (void)all.post("k");
    (void)get(all.port());
    (void)all.send({.key = "\"broken"});

    const gateway_counts counts = all.gateway().counts();
    EXPECT_EQ(counts.guarded, 2U);
    EXPECT_EQ(counts.passed, 1U);
    EXPECT_EQ(counts.refused, 1U);
    EXPECT_EQ(counts.server.requests, 4U);
    EXPECT_EQ(counts.server.accepted, 4U);
}

} // namespace
} // namespace semel::edge::gateway_test
