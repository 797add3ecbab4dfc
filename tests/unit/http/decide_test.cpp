#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "semel/fingerprint.hpp"
#include "semel/http.hpp"

namespace semel::http::decide_test {
namespace {

using namespace std::chrono_literals;

gate gate_of(route one, tenant_source tenants = single_tenant{"acme"}) {
    if (one.operation.empty()) one.operation = "ORDER_CREATE";
    return gate::make({.routes = {std::move(one)}, .tenants = std::move(tenants)}).value();
}

request_head post(header_list headers = {}) {
    headers.add("Host", "a");
    headers.add("Content-Type", "application/json");
    return {.method = "POST", .target = "/orders", .headers = std::move(headers)};
}

request_head post_with_key(std::string key) {
    return post({{"Idempotency-Key", std::move(key)}});
}

std::string problem_type(const decision& made) {
    if (!std::holds_alternative<refusal>(made)) return "";
    const response& answer = std::get<refusal>(made).answer;
    EXPECT_EQ(*answer.headers.find("Content-Type"), "application/problem+json");
    const std::string type = nlohmann::json::parse(answer.body)["type"];
    return std::to_string(answer.status) + " " + type.substr(type.rfind(':') + 1);
}

TEST(I7_Decide, RequiredAndMissingIs400) {
    const gate by = gate_of({.need = key_need::required});

    EXPECT_EQ(problem_type(decide(by, post(), "{}")), "400 key-missing");
    EXPECT_EQ(problem_type(decide(by, post_with_key("a b"), "{}")), "400 key-malformed");
    EXPECT_EQ(problem_type(decide(by, post_with_key(""), "{}")), "400 key-malformed");
    EXPECT_EQ(problem_type(decide(by, post_with_key(std::string(256, 'k')), "{}")),
              "400 key-too-long");
}

TEST(I8_Decide, OptionalAndMissingPassesThrough) {
    EXPECT_TRUE(std::holds_alternative<pass_through>(decide(gate_of({}), post(), "{}")));
}

// A client that sends a key wants protection; it would not learn that it has none.
TEST(Decide, OptionalAndMalformedIsRefused) {
    EXPECT_EQ(problem_type(decide(gate_of({}), post_with_key("\"open"), "{}")),
              "400 key-malformed");
}

TEST(I20_Decide, AKeyWhereNoneIsSupportedIsNotAnError) {
    const gate by = gate_of({.path = "/other"});

    EXPECT_TRUE(std::holds_alternative<pass_through>(decide(by, post_with_key("\"open"), "{}")));
}

TEST(S1_Decide, AKeyHasNoEffectOnGetAndDelete) {
    const gate by = gate_of({.responses = profile::stripe_v1});
    for (const char* method : {"GET", "DELETE"}) {
        request_head head = post_with_key("k");
        head.method = method;

        EXPECT_TRUE(std::holds_alternative<pass_through>(decide(by, head, ""))) << method;
    }
}

TEST(I9_Decide, ANewKeyIsProtected) {
    const decision made = decide(gate_of({}), post_with_key("\"k\""), "{}");

    const auto& call = std::get<protected_call>(made);
    EXPECT_EQ(call.what.tenant, "acme");
    EXPECT_EQ(call.what.operation, "ORDER_CREATE");
    EXPECT_EQ(call.what.key, "k");
    EXPECT_EQ(call.what.content, fingerprint_of(post_with_key("\"k\""), "{}"));
    EXPECT_EQ(call.what.with.wait, std::nullopt);
}

TEST(I6_Decide, BareAndQuotedAreOneRequest) {
    const gate by = gate_of({});
    const auto bare = std::get<protected_call>(decide(by, post_with_key("k"), "{}"));
    const auto quoted = std::get<protected_call>(decide(by, post_with_key("\"k\""), "{}"));

    EXPECT_EQ(bare.what.key, quoted.what.key);
    EXPECT_EQ(bare.what.content, quoted.what.content);
}

TEST(R24_Decide, TheSameBodyUnderAnotherKeyIsAnotherRecord) {
    const gate by = gate_of({});
    const auto one = std::get<protected_call>(decide(by, post_with_key("a"), "{}"));
    const auto two = std::get<protected_call>(decide(by, post_with_key("b"), "{}"));

    EXPECT_NE(one.what.key, two.what.key);
    EXPECT_EQ(one.what.content, two.what.content);
}

TEST(R15_Decide, PartsOfTheRecordIdStayApart) {
    const gate by = gate_of({}, tenant_header{"X-Tenant"});
    const auto id = [&](std::string tenant, std::string key) {
        const request_head head = post({{"X-Tenant", tenant}, {"Idempotency-Key", key}});
        const auto call = std::get<protected_call>(decide(by, head, "{}", peer_trust::trusted));
        return record_id{call.what.tenant, call.what.operation, call.what.key};
    };

    EXPECT_NE(id("a:b", "c"), id("a", "b:c"));
    EXPECT_NE(hash_of(id("a:b", "c")), hash_of(id("a", "b:c")));
    EXPECT_EQ(id("a:b", "c").tenant, "a:b");
}

TEST(R23_Decide, WithoutATenantNothingIsProtected) {
    const gate by = gate_of({}, tenant_header{"X-Tenant"});
    const request_head head = post({{"X-Tenant", "acme"}, {"Idempotency-Key", "k"}});

    EXPECT_EQ(problem_type(decide(by, head, "{}", peer_trust::untrusted)), "403 tenant-missing");
    EXPECT_EQ(problem_type(decide(by, post_with_key("k"), "{}", peer_trust::trusted)),
              "401 tenant-missing");
}

TEST(Decide, AMissingTokenIsChallenged) {
    const gate by = gate_of({}, tenant_token{[](std::string_view) { return std::nullopt; }});

    const decision made = decide(by, post_with_key("k"), "{}");

    EXPECT_EQ(problem_type(made), "401 tenant-missing");
    EXPECT_EQ(*std::get<refusal>(made).answer.headers.find("WWW-Authenticate"), "Bearer");
}

TEST(Decide, ABodyOverTheLimitIsRefusedBeforeAndAfterItCame) {
    const gate by = gate_of({.body_bytes_max = 10});
    request_head announced = post_with_key("k");
    announced.headers.add("Content-Length", "11");

    EXPECT_EQ(problem_type(admit(by, announced, peer_trust::untrusted)), "413 body-too-large");
    EXPECT_EQ(problem_type(decide(by, post_with_key("k"), std::string(11, ' '))),
              "413 body-too-large");
    EXPECT_EQ(problem_type(decide(by, post_with_key("k"), std::string(10, ' '))), "");
}

TEST(Decide, APathThatCannotBeReadIsRefusedNotPassed) {
    request_head head = post();
    head.target = "/orders%zz";

    EXPECT_EQ(problem_type(decide(gate_of({.need = key_need::required}), head, "{}")),
              "400 request-malformed");
}

TEST(Decide, AKeyMayBeDerivedFromTheRequest) {
    const decision made =
        decide(gate_of({.need = key_need::derived, .principal = {"shared"}}), post(), "{}");

    const auto& call = std::get<protected_call>(made);
    ASSERT_TRUE(call.what.content.has_value());
    EXPECT_EQ(call.what.key, key_from(*call.what.content));
    EXPECT_EQ(*upstream_headers(post(), &call).find("Idempotency-Key"),
              key_from(*call.what.content));
}

TEST(Decide, PreferWaitIsHonouredUpToTheLimit) {
    const auto wishes = [](std::string prefer, duration limit) {
        const gate by = gate_of({.wait_limit = limit});
        const request_head head = post({{"Idempotency-Key", "k"}, {"Prefer", prefer}});
        return std::get<protected_call>(decide(by, head, "{}")).what.with;
    };

    EXPECT_EQ(wishes("wait=2", 5s).wait, wait_mode::wait);
    EXPECT_EQ(wishes("wait=2", 5s).wait_max, 2s);
    EXPECT_EQ(wishes("wait=60", 5s).wait_max, 5s);
    EXPECT_EQ(wishes("wait=0", 5s).wait, wait_mode::answer);
    EXPECT_EQ(wishes("wait=2", 0s).wait, std::nullopt);
    EXPECT_EQ(wishes("wait=x", 5s).wait, std::nullopt);
}

TEST(UpstreamHeaders, CarryTheKeyAsTheRouteSays) {
    const auto forwarded = [](key_forwarding how, std::string key) {
        const request_head head = post({{"idempotency-key", key},
                                        {"Connection", "close, X-A"},
                                        {"X-A", "1"},
                                        {"Content-Length", "2"}});
        const gate by = gate_of({.forward = how});
        const auto call = std::get<protected_call>(decide(by, head, "{}"));
        const header_list headers = upstream_headers(head, &call);
        EXPECT_FALSE(headers.contains("Connection") || headers.contains("X-A") ||
                     headers.contains("Content-Length"));
        EXPECT_TRUE(headers.contains("Host"));
        const std::string* value = headers.find("Idempotency-Key");
        return value != nullptr ? *value : "none";
    };

    EXPECT_EQ(forwarded(key_forwarding::same, "k"), "k");
    EXPECT_EQ(forwarded(key_forwarding::same, "\"k\";p=1"), "\"k\";p=1");
    EXPECT_EQ(forwarded(key_forwarding::child, "k"), "k:ORDER_CREATE");
    EXPECT_EQ(forwarded(key_forwarding::child, "\"k\""), "\"k:ORDER_CREATE\"");
    EXPECT_EQ(forwarded(key_forwarding::child, "\"a b\""), "\"a b:ORDER_CREATE\"");
    EXPECT_EQ(forwarded(key_forwarding::none, "k"), "none");
}

TEST(UpstreamHeaders, OfARequestThatPassesThroughKeepItsKey) {
    EXPECT_EQ(*upstream_headers(post_with_key("k"), nullptr).find("Idempotency-Key"), "k");
}

} // namespace
} // namespace semel::http::decide_test
