// What of a client's headers goes on to the service: not semel's own token, and not what only a
// proxy may say.
#include <gtest/gtest.h>

#include "config/token_file.hpp"
#include "http/support/rig.hpp"

namespace semel::edge::forwarding_test {
namespace {

using namespace support;

constexpr const char* clients = "Authorization: Bearer semel_client\r\n";
constexpr const char* admins = "Authorization: Bearer semel_admin\r\n";

http::tenant_token tokens() {
    using http::scope;
    const auto all = std::make_shared<config::live_tokens>();
    http::token_table table;
    const auto add = [&](const char* token, std::initializer_list<scope> may) {
        const http::grant gives{.tenant = "acme", .may = http::scope_set{may}};
        table.add(fingerprint::raw(token), gives).value();
    };
    add("semel_client", {scope::use, scope::read});
    add("semel_reader", {scope::read});
    add("semel_operator", {scope::use, scope::operate});
    add("semel_admin", {scope::use, scope::admin});
    all->set(std::move(table));
    return config::tenants_of(all);
}

const std::string* seen_by(const rig& all, std::string_view name) {
    static http::header_list last;
    last = all.behind.seen().back().head.headers;
    return last.find(name);
}

TEST(OwnToken, DoesNotReachTheService) {
    rig all{{.tenants = tokens()}};

    EXPECT_EQ(all.send({.key = "k", .headers = clients}).status, 201);
    EXPECT_EQ(seen_by(all, "Authorization"), nullptr);
    EXPECT_EQ(all.send({.headers = clients}).status, 201); // passes without protection
    EXPECT_EQ(seen_by(all, "Authorization"), nullptr);
    for (const std::string token : {"semel_reader", "semel_operator", "semel_admin"}) {
        (void)all.send({.headers = "Authorization: bearer " + token + "\r\n"});
        EXPECT_EQ(seen_by(all, "Authorization"), nullptr) << token;
    }
}

TEST(OwnToken, TheServicesOwnCredentialsPassWhereNoneOfOursAreNeeded) {
    rig all{{.tenants = tokens()}};

    for (const std::string value : {"Bearer jwt", "Basic YTpi", "Digest username=a"}) {
        EXPECT_EQ(all.send({.headers = "Authorization: " + value + "\r\n"}).status, 201);
        ASSERT_NE(seen_by(all, "Authorization"), nullptr) << value;
        EXPECT_EQ(*seen_by(all, "Authorization"), value);
    }
}

TEST(OwnToken, IsForwardedWhereTheConfigurationSaysSo) {
    auto source = tokens();
    source.forward = http::tenant_token::forwarding::pass;
    rig all{{.tenants = source}};

    (void)all.send({.key = "k", .headers = clients});

    EXPECT_EQ(*seen_by(all, "Authorization"), "Bearer semel_client");
}

TEST(OwnToken, MayComeInAHeaderOfItsOwn) {
    auto source = tokens();
    source.header = "X-Semel-Token";
    rig all{{.tenants = source}};
    const std::string own = "X-Semel-Token: semel_client\r\n";
    const std::string theirs = "Authorization: Bearer jwt\r\n";

    EXPECT_EQ(all.send({.key = "k", .headers = own + theirs}).status, 201);
    EXPECT_EQ(*seen_by(all, "Authorization"), "Bearer jwt");
    EXPECT_EQ(seen_by(all, "X-Semel-Token"), nullptr);
    (void)all.send({.headers = own});
    EXPECT_EQ(seen_by(all, "X-Semel-Token"), nullptr);
    const int before = all.behind.requests();

    EXPECT_EQ(all.send({.key = "k", .headers = clients}).problem(), "401 tenant-missing");
    EXPECT_EQ(all.send({.key = "k", .headers = own + own}).problem(), "401 tenant-missing");
    EXPECT_EQ(all.send({.key = "k", .headers = own + "Connection: X-Semel-Token\r\n"}).status, 400);
    EXPECT_EQ(all.behind.requests(), before);
}

TEST(OwnToken, OfAnOperatorIsRefused) {
    rig all{{.tenants = tokens()}};

    for (const std::string token : {"semel_reader", "semel_operator", "semel_admin"}) {
        const answer no =
            all.send({.key = "k", .headers = "Authorization: Bearer " + token + "\r\n"});
        EXPECT_EQ(no.problem(), "403 tenant-missing") << token;
        EXPECT_NE(no.body.find("scope use"), std::string::npos) << no.body;
    }
    EXPECT_EQ(all.send({.key = "k", .headers = "Authorization: Bearer semel_x\r\n"}).problem(),
              "401 tenant-missing");
    EXPECT_EQ(all.behind.requests(), 0);
}

// Only what is protected asks for a token.
TEST(OwnToken, UnprotectedRequestsNeedNone) {
    rig all{{.tenants = tokens()}};

    EXPECT_EQ(all.send({.body = "", .method = "GET"}).status, 201);
    EXPECT_EQ(all.send({}).status, 201);
    EXPECT_EQ(all.send({.key = "k"}).problem(), "401 tenant-missing");
}

// ---- what only proxies may say

constexpr const char* proxies_words[] = {
    "X-Forwarded-Prefix", "X-Forwarded-Server", "X-Forwarded-Ssl",     "X-Forwarded-User",
    "X-Original-URL",     "X-Rewrite-Url",      "X-Original-Host",     "True-Client-IP",
    "CF-Connecting-IP",   "X-Client-IP",        "X-Cluster-Client-IP", "Front-End-Https"};

std::string lines_of_proxies() {
    std::string lines;
    for (const char* name : proxies_words) lines += std::string{name} + ": 6.6.6.6\r\n";
    return lines;
}

TEST(ProxiesWords, OfAnUntrustedClientAreDropped) {
    rig all;

    for (const std::string key : {"k", ""}) {
        (void)all.send({.key = key, .headers = lines_of_proxies()});
        for (const char* name : proxies_words) EXPECT_EQ(seen_by(all, name), nullptr) << name;
    }
}

TEST(ProxiesWords, OfATrustedPeerPass) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.trusted = {net::network::parse("127.0.0.0/8").value()};
    }}};

    (void)all.send({.key = "k", .headers = lines_of_proxies() + "X_User: a\r\n"});

    for (const char* name : proxies_words) EXPECT_NE(seen_by(all, name), nullptr) << name;
    EXPECT_NE(seen_by(all, "X_User"), nullptr);
}

// CGI and WSGI read them as X-Tenant and Content-Length.
TEST(Underscores, InNamesOfUntrustedClientsAreDropped) {
    rig all{{.routes = {{.operation = "ORDER", .keys = {.headers = {"idem_key"}}}},
             .adjust = [](gateway_options& options) {
                 options.server.heads.vital.push_back("api_key");
             }}};

    (void)all.send({.headers = "X_Tenant: a\r\nContent_Length: 7\r\nX_Forwarded_For: 6.6.6.6\r\n"
                               "idem_key: k\r\napi_key: 7\r\n"});

    for (const char* name : {"X_Tenant", "Content_Length", "X_Forwarded_For"}) {
        EXPECT_EQ(seen_by(all, name), nullptr) << name;
    }
    EXPECT_EQ(*seen_by(all, "idem_key"), "k");
    EXPECT_EQ(*seen_by(all, "api_key"), "7");
}

TEST(Underscores, PassWhereTheConfigurationSaysSo) {
    rig all{{.adjust = [](gateway_options& options) {
        options.upstream.underscores = upstream_options::names_with_underscores::pass;
    }}};

    (void)all.send({.key = "k", .headers = "X_User: a\r\n"});

    EXPECT_EQ(*seen_by(all, "X_User"), "a");
}

TEST(VitalHeaders, AreNotHiddenBehindConnection) {
    rig all{{.adjust = [](gateway_options& options) {
        options.server.heads.vital.push_back("X-User");
    }}};

    EXPECT_EQ(all.send({.headers = "X-User: a\r\nConnection: x-user\r\n"}).problem(),
              "400 request-malformed");
    EXPECT_EQ(all.send({.headers = "X-Other: a\r\nConnection: x-other\r\n"}).status, 201);
    EXPECT_EQ(seen_by(all, "X-Other"), nullptr);
}

// ---- the tenant that no client may be

TEST(ReservedTenant, IsRefusedByName) {
    rig all{{.tenants = http::tenant_header{}, .adjust = [](gateway_options& options) {
                 options.server.trusted = {net::network::parse("127.0.0.0/8").value()};
             }}};

    const answer no = all.send({.key = "k", .headers = "X-Tenant: semel\r\n"});

    EXPECT_EQ(no.problem(), "403 tenant-missing");
    EXPECT_NE(no.body.find("reserved"), std::string::npos) << no.body;
    EXPECT_EQ(all.send({.key = "k", .headers = "X-Tenant: semel2\r\n"}).status, 201);
}

} // namespace
} // namespace semel::edge::forwarding_test
