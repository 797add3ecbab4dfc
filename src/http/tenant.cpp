#include "semel/http/tenant.hpp"

#include <algorithm>

#include "http/text.hpp"
#include "semel/policy.hpp"

namespace semel::http {
namespace {

using reading = std::variant<std::string, refused_tenant>;

bool is_tenant(std::string_view name) {
    return !name.empty() && name.size() <= limits{}.tenant_bytes_max &&
           std::all_of(name.begin(), name.end(), is_visible);
}

failure wrong(std::string why) {
    return {.code = errc::invalid_argument, .detail = "tenant source: " + std::move(why)};
}

result<void> check_one(const std::monostate&) {
    return wrong("none is configured; keys of different clients would meet");
}

result<void> check_one(const single_tenant& one) {
    if (is_tenant(one.name)) return {};
    return wrong("the single tenant needs a name of 1 to 64 visible characters");
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
    if (name == nullptr || headers.count(from.name) != 1 || !is_tenant(*name)) {
        return refused_tenant{.status = 401,
                              .detail = "there must be exactly one well-formed " + from.name};
    }
    return *name;
}

std::optional<std::string_view> bearer_token(const header_list& headers) {
    constexpr std::string_view scheme = "Bearer ";
    const std::string* value = headers.find("Authorization");
    if (value == nullptr || headers.count("Authorization") != 1) return std::nullopt;
    const std::string_view text = *value;
    if (!equal_ignoring_case(text.substr(0, scheme.size()), scheme)) return std::nullopt;
    const std::string_view token = trimmed(text.substr(scheme.size()));
    if (token.empty()) return std::nullopt;
    return token;
}

reading read(const tenant_token& from, const header_list& headers, peer_trust) {
    const auto token = bearer_token(headers);
    const auto tenant = token ? from.tenant_of(*token) : std::nullopt;
    if (!tenant || !is_tenant(*tenant)) {
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

result<void> token_table::add(const fingerprint& hash, std::string tenant) {
    if (!is_tenant(tenant)) return wrong("a tenant has 1 to 64 visible characters");
    const auto [at, is_new] = tenants_.emplace(hash, tenant);
    if (!is_new && at->second != tenant) return wrong("one token for two tenants");
    return {};
}

std::optional<std::string> token_table::tenant_of(std::string_view token) const {
    const auto found = tenants_.find(fingerprint::raw(token));
    if (found == tenants_.end()) return std::nullopt;
    return found->second;
}

} // namespace semel::http
