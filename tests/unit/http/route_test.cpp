#include "semel/http/route.hpp"

#include <gtest/gtest.h>

#include "semel/http.hpp"

namespace semel::http::route_test {
namespace {

gate_options with(std::vector<route> routes) {
    return {.routes = std::move(routes), .tenants = single_tenant{"acme"}};
}

std::string complaint(gate_options options) {
    const auto made = gate::make(std::move(options));
    if (made) return "none";
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    return made.error().detail;
}

TEST(PathPattern, MatchesSegmentBySegment) {
    EXPECT_TRUE(matches("/orders", "/orders"));
    EXPECT_TRUE(matches("/orders/*/refunds", "/orders/17/refunds"));
    EXPECT_TRUE(matches("/orders/{id}", "/orders/17"));
    EXPECT_TRUE(matches("/v1/**", "/v1/a/b/c"));
    EXPECT_TRUE(matches("/v1/**", "/v1"));
    EXPECT_TRUE(matches("/**", "/"));
    EXPECT_FALSE(matches("/orders", "/orders/17"));
    EXPECT_FALSE(matches("/orders/*", "/orders"));
    EXPECT_FALSE(matches("/orders", "/Orders"));
    EXPECT_FALSE(matches("/orders/*/refunds", "/orders/1/2/refunds"));
    EXPECT_FALSE(matches("/v1/**", "/v11/a"));
}

TEST(PathPattern, NoOtherSpellingOfAProtectedPathSlipsBy) {
    for (const char* path :
         {"/orders/new", "/orders//new", "/orders/new/", "/%6frders/new", "/orders%2Fnew",
          "/orders/%6E%65%77", "/orders;v=1/new", "/orders/new;a;b=%2F", "/;x/orders/new"}) {
        EXPECT_TRUE(matches("/orders/new", path)) << path;
    }
    EXPECT_TRUE(matches("/a;b", "/a;b"));
    EXPECT_FALSE(matches("/**", "/a%zz"));
    EXPECT_FALSE(matches("/**", "/a%00"));
}

TEST(Gate, TheFirstRouteThatFitsDecides) {
    const gate by = gate::make(with({{.operation = "REFUND", .path = "/orders/*/refunds"},
                                     {.operation = "DELETE", .path = "/**", .methods = {"DELETE"}},
                                     {.operation = "REST"}}))
                        .value();

    EXPECT_EQ(by.find("POST", "/orders/1/refunds")->operation, "REFUND");
    EXPECT_EQ(by.find("DELETE", "/orders/1/refunds")->operation, "DELETE");
    EXPECT_EQ(by.find("PATCH", "/x")->operation, "REST");
    EXPECT_EQ(by.find("GET", "/x"), nullptr);
    EXPECT_EQ(by.find("patch", "/x")->operation, "REST"); // as some services read it
}

TEST(I19_Gate, PostAndPatchAreProtectedByDefault) {
    const gate by = gate::make(with({{.operation = "ANY"}})).value();

    for (const char* method : {"POST", "PATCH"}) EXPECT_NE(by.find(method, "/x"), nullptr);
    for (const char* method : {"GET", "HEAD", "PUT", "DELETE", "OPTIONS"}) {
        EXPECT_EQ(by.find(method, "/x"), nullptr) << method;
    }
}

TEST(R23_Gate, DoesNotStartWithoutATenantSource) {
    EXPECT_NE(complaint({.routes = {{.operation = "A"}}}).find("tenant"), std::string::npos);
}

TEST(Gate, NamesTheRouteAndWhatIsWrongWithIt) {
    const auto wrong = [](route one) { return complaint(with({std::move(one)})); };

    EXPECT_NE(wrong({}).find("no operation"), std::string::npos);
    EXPECT_NE(wrong({.operation = std::string(65, 'A')}).find("too long"), std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .path = "x"}).find("'A' (x)"), std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .path = "/a?b"}).find("plain"), std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .path = "/**/b"}).find("last"), std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .methods = {}}).find("methods"), std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .methods = {"P T"}}).find("methods"), std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .keys = {.headers = {}}}).find("key"), std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .keys = {.bytes_min = 9, .bytes_max = 8}}).find("longer"),
              std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .keys = {.bytes_max = 256}}).find("store"),
              std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .statuses = {{.first = 100, .last = 200}}}).find("statuses"),
              std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .replay = {.headers = {"Set-Cookie"}}}).find("Set-Cookie"),
              std::string::npos);
    EXPECT_NE(wrong({.operation = "A", .content = {.headers = {"a b"}}}).find("header"),
              std::string::npos);
    EXPECT_EQ(wrong({.operation = "A"}), "none");
}

TEST(Gate, SaysWhatIsWrongWithAPrincipal) {
    const auto of = [](route one, std::string secret = std::string(16, 's'),
                       tenant_source tenants = single_tenant{"acme"}) {
        one.operation = "A";
        return complaint({.routes = {std::move(one)},
                          .tenants = std::move(tenants),
                          .principal_secret = std::move(secret)});
    };
    const auto has = [](const std::string& text, std::string_view part) {
        return text.find(part) != std::string::npos;
    };
    const std::vector<std::string> who = {"Authorization"};
    route probes{.principal = who};
    probes.policy.on_lease_expiry = lease_expiry::probe;

    EXPECT_EQ(of({.principal = {"Authorization", "cookie:session"}}), "none");
    EXPECT_EQ(of({.principal = {"shared"}}, ""), "none");
    EXPECT_EQ(of({.need = key_need::derived}, "", tenant_header{}), "none");
    EXPECT_TRUE(has(of({.need = key_need::derived}), "principal = [\"Authorization\"]"));
    EXPECT_EQ(of({.need = key_need::derived, .principal = {"shared"}}), "none");
    EXPECT_TRUE(has(of({.need = key_need::derived,
                        .principal = who,
                        .without_principal = no_principal::anonymous}),
                    "must be \"refuse\""));
    EXPECT_TRUE(has(of({.principal = who}, std::string(15, 's')), "at least 16 bytes"));
    EXPECT_TRUE(has(of({.principal = {"shared", "X-User"}}), "stands alone"));
    EXPECT_TRUE(has(of({.principal = {"Cookie"}}), "name one cookie"));
    for (const char* name : {"", "X User", "Session:x", "Cookie:", "Cookie:a b"}) {
        EXPECT_TRUE(has(of({.principal = {name}}), "is neither")) << name;
    }
    EXPECT_TRUE(has(of(probes), "forward must be \"record\""));
    probes.forward = key_forwarding::record;
    EXPECT_EQ(of(probes), "none");
    EXPECT_TRUE(has(of({.keys = {.bytes_min = 223}, .principal = who}), "33 bytes"));
}

TEST(Gate, OneOperationBelongsToOneRoute) {
    const std::string why =
        complaint(with({{.operation = "A", .path = "/a"}, {.operation = "A", .path = "/b"}}));

    EXPECT_NE(why.find("'A' (/b)"), std::string::npos);
}

TEST(Gate, PoliciesForTheEngineReleaseWhatIsNotKept) {
    route slow{.operation = "SLOW"};
    slow.policy.lease = std::chrono::minutes{5};
    const auto policies = gate::make(with({slow})).value().operations();

    const operation_policy& policy = policies.at("SLOW");

    EXPECT_EQ(policy.lease, std::chrono::minutes{5});
    ASSERT_EQ(policy.failures.size(), 1U);
    EXPECT_EQ(policy.failures[0].becomes, exception_class::release);
    EXPECT_TRUE(policy.failures[0].matches(std::make_exception_ptr(response_released{})));
    EXPECT_FALSE(policy.failures[0].matches(std::make_exception_ptr(std::runtime_error{"x"})));
}

} // namespace
} // namespace semel::http::route_test
