#include "semel/http/tenant.hpp"

#include <memory>

#include <gtest/gtest.h>

#include "semel/http/tenant.hpp"

namespace semel::http::tenant_test {
namespace {

// The tenant, or "!" and the status of the refusal.
std::string tenant(const tenant_source& source, const header_list& headers,
                   peer_trust peer = peer_trust::untrusted) {
    const auto got = tenant_of(source, headers, peer);
    if (const auto* name = std::get_if<std::string>(&got)) return *name;
    return "!" + std::to_string(std::get<refused_tenant>(got).status);
}

tenant_source tokens() {
    auto table = std::make_shared<token_table>();
    table->add(fingerprint::raw("token-a"), {"acme", scope_set{scope::use}}).value();
    table->add(fingerprint::raw("token-b"), {"bolt", scope_set{scope::use}}).value();
    return tenant_token{[table](std::string_view token) -> std::optional<std::string> {
        const auto found = table->find(token);
        return found ? std::optional{found->tenant} : std::nullopt;
    }};
}

TEST(TenantSource, SingleIsEverybodys) {
    EXPECT_EQ(tenant(single_tenant{"acme"}, {}), "acme");
    EXPECT_EQ(tenant(single_tenant{"acme"}, {{"X-Tenant", "evil"}}), "acme");
}

TEST(R23_TenantSource, NoneIsRefusedAtTheStartAndOnTheWay) {
    EXPECT_FALSE(check(tenant_source{}).has_value());
    EXPECT_FALSE(check(tenant_source{single_tenant{}}).has_value());
    EXPECT_FALSE(check(tenant_source{single_tenant{std::string(65, 'a')}}).has_value());
    EXPECT_FALSE(check(tenant_source{single_tenant{"a b"}}).has_value());
    EXPECT_FALSE(check(tenant_source{single_tenant{"semel"}}).has_value()); // reserved
    EXPECT_FALSE(check(tenant_source{tenant_header{"bad name"}}).has_value());
    EXPECT_FALSE(check(tenant_source{tenant_token{}}).has_value());
    EXPECT_EQ(tenant({}, {}), "!403");
    EXPECT_TRUE(check(tenant_source{single_tenant{"a"}}).has_value());
    EXPECT_TRUE(check(tenant_source{tenant_header{}}).has_value());
    EXPECT_TRUE(check(tokens()).has_value());
}

TEST(TenantSource, AHeaderCountsFromTrustedPeersOnly) {
    const tenant_source source = tenant_header{"X-Tenant"};

    EXPECT_EQ(tenant(source, {{"x-tenant", "acme"}}, peer_trust::trusted), "acme");
    EXPECT_EQ(tenant(source, {{"X-Tenant", "acme"}}, peer_trust::untrusted), "!403");
    EXPECT_EQ(tenant(source, {}, peer_trust::untrusted), "!403");
}

TEST(TenantSource, AHeaderMustBeOneWellFormedLine) {
    const tenant_source source = tenant_header{"X-Tenant"};
    const auto named = [&](std::string value) {
        return tenant(source, {{"X-Tenant", std::move(value)}}, peer_trust::trusted);
    };

    EXPECT_EQ(tenant(source, {}, peer_trust::trusted), "!401");
    EXPECT_EQ(tenant(source, {{"X-Tenant", "a"}, {"x-tenant", "a"}}, peer_trust::trusted), "!401");
    EXPECT_EQ(named(""), "!401");
    EXPECT_EQ(named("a b"), "!401");
    EXPECT_EQ(named("\xC3\xBC"), "!401");
    EXPECT_EQ(named(std::string(64, 'a')), std::string(64, 'a'));
    EXPECT_EQ(named(std::string(65, 'a')), "!401");
}

TEST(I17_TenantSource, ATokenNamesItsOwnTenantOnly) {
    const auto sent = [](std::string value) {
        return tenant(tokens(), {{"Authorization", std::move(value)}, {"X-Tenant", "bolt"}});
    };

    EXPECT_EQ(sent("Bearer token-a"), "acme");
    EXPECT_EQ(sent("bearer   token-b"), "bolt");
    for (const char* odd : {"Bearer", "Bearer ", "Bearer token-c", "Basic token-a", "token-a",
                            "Bearertoken-a", "Bearer token-a x", ""}) {
        EXPECT_EQ(sent(odd), "!401") << odd;
    }
    EXPECT_EQ(tenant(tokens(), {}), "!401");
    EXPECT_EQ(tenant(tokens(),
                     {{"Authorization", "Bearer token-a"}, {"authorization", "Bearer token-b"}}),
              "!401");
}

// A callback of the application's may name it by mistake.
TEST(TenantSource, TheReservedTenantIsNobodys) {
    const tenant_source by_token =
        tenant_token{[](std::string_view) { return std::optional<std::string>{"semel"}; }};

    EXPECT_EQ(tenant(by_token, {{"Authorization", "Bearer x"}}), "!403");
    EXPECT_EQ(tenant(tenant_header{}, {{"X-Tenant", "semel"}}, peer_trust::trusted), "!403");
    EXPECT_NE(tenant_fault("semel").find("reserved"), std::string::npos);
    EXPECT_NE(tenant_fault("a b").find("visible"), std::string::npos);
    EXPECT_EQ(tenant_fault("Semel"), "");
}

TEST(TenantSource, ARefusalOfATokenChallenges) {
    const auto none = tenant_of(tokens(), {}, peer_trust::untrusted);
    const auto wrong = tenant_of(tokens(), {{"Authorization", "Bearer x"}}, peer_trust::untrusted);

    EXPECT_EQ(std::get<refused_tenant>(none).challenge, "Bearer");
    EXPECT_EQ(std::get<refused_tenant>(wrong).challenge, "Bearer error=\"invalid_token\"");
    EXPECT_EQ(std::get<refused_tenant>(wrong).detail.find("x\""), std::string::npos);
}

} // namespace
} // namespace semel::http::tenant_test
