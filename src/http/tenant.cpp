#include "semel/http/tenant.hpp"

#include "http/text.hpp"
#include "semel/http/token.hpp"

namespace semel::http {
namespace {

using reading = std::variant<std::string, refused_tenant>;

failure wrong(std::string why) {
    return {.code = errc::invalid_argument, .detail = "tenant source: " + std::move(why)};
}

result<void> check_one(const std::monostate&) {
    return wrong("none is configured; keys of different clients would meet");
}

result<void> check_one(const single_tenant& one) {
    if (is_tenant_name(one.name)) return {};
    return wrong("the single tenant needs a name of 1 to 64 visible ASCII characters");
}

result<void> check_one(const tenant_header& from) {
    if (is_token(from.name)) return {};
    return wrong("'" + from.name + "' is not a header name");
}

result<void> check_one(const tenant_token& from) {
    if (from.tenant_of) return {};
    return wrong("no tokens are configured");
}

reading read(const std::monostate&, const header_list&, peer_trust) {
    return refused_tenant{.status = 403, .detail = "no tenant source is configured"};
}

reading read(const single_tenant& one, const header_list&, peer_trust) {
    return one.name;
}

reading read(const tenant_header& from, const header_list& headers, peer_trust peer) {
    if (peer == peer_trust::untrusted) {
        return refused_tenant{.status = 403, .detail = "this peer may not name a tenant"};
    }
    const std::string* name = headers.find(from.name);
    if (name == nullptr || headers.count(from.name) != 1 || !is_tenant_name(*name)) {
        return refused_tenant{.status = 401,
                              .detail = "there must be exactly one well-formed " + from.name};
    }
    return *name;
}

reading read(const tenant_token& from, const header_list& headers, peer_trust) {
    const auto token = bearer_token(headers);
    const auto tenant = token ? from.tenant_of(*token) : std::nullopt;
    if (!tenant || !is_tenant_name(*tenant)) {
        return refused_tenant{.status = 401,
                              .detail = token ? "the bearer token is not known"
                                              : "a bearer token is needed",
                              .challenge = token ? "Bearer error=\"invalid_token\"" : "Bearer"};
    }
    return *tenant;
}

} // namespace

result<void> check(const tenant_source& source) {
    return std::visit([](const auto& one) { return check_one(one); }, source);
}

std::variant<std::string, refused_tenant> tenant_of(const tenant_source& source,
                                                    const header_list& headers, peer_trust peer) {
    return std::visit([&](const auto& one) { return read(one, headers, peer); }, source);
}

} // namespace semel::http
