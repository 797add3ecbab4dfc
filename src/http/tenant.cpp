#include "semel/http/tenant.hpp"

#include "http/text.hpp"
#include "semel/http/tenant.hpp"

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
    auto why = tenant_fault(one.name);
    return why.empty() ? result<void>{} : wrong(std::move(why));
}

result<void> check_one(const tenant_header& from) {
    if (is_token(from.name)) return {};
    return wrong("'" + from.name + "' is not a header name");
}

result<void> check_one(const tenant_token& from) {
    if (!is_token(from.header)) return wrong("'" + from.header + "' is not a header name");
    if (from.tenant_of) return {};
    return wrong("no tokens are configured");
}

reading read(const std::monostate&, const header_list&, peer_trust) {
    return refused_tenant{.status = 403, .detail = "no tenant source is configured"};
}

reading read(const single_tenant& one, const header_list&, peer_trust) {
    return one.name;
}

refused_tenant reserved(const std::string& name) {
    return {.status = 403, .detail = tenant_fault(name)};
}

reading read(const tenant_header& from, const header_list& headers, peer_trust peer) {
    if (peer == peer_trust::untrusted) {
        return refused_tenant{.status = 403, .detail = "this peer may not name a tenant"};
    }
    const std::string* name = headers.find(from.name);
    if (name != nullptr && *name == reserved_tenant) return reserved(*name);
    if (name == nullptr || headers.count(from.name) != 1 || !is_tenant_name(*name)) {
        return refused_tenant{.status = 401,
                              .detail = "there must be exactly one well-formed " + from.name};
    }
    return *name;
}

bool is_usual(const tenant_token& from) {
    return equal_ignoring_case(from.header, "Authorization");
}

std::optional<std::string_view> sent_token(const tenant_token& from, const header_list& headers) {
    if (is_usual(from)) return bearer_token(headers);
    const std::string* value = headers.find(from.header);
    if (value == nullptr || headers.count(from.header) != 1) return std::nullopt;
    const std::string_view token = trimmed(*value);
    return token.empty() ? std::nullopt : std::optional{token};
}

refused_tenant no_token(const tenant_token& from) {
    if (is_usual(from)) return {.detail = "a bearer token is needed", .challenge = "Bearer"};
    return {.detail = "there must be exactly one token in " + from.header};
}

reading read(const tenant_token& from, const header_list& headers, peer_trust) {
    const auto token = sent_token(from, headers);
    if (!token) return no_token(from);
    const auto tenant = from.tenant_of(*token);
    if (tenant && *tenant == reserved_tenant) return reserved(*tenant);
    if (tenant && is_tenant_name(*tenant)) return *tenant;
    if (from.is_own && from.is_own(*token)) {
        return refused_tenant{.status = 403,
                              .detail = "the token is not for this gateway: use one with the scope "
                                        "use, and without operate and admin"};
    }
    return refused_tenant{.detail = "the bearer token is not known",
                          .challenge = is_usual(from) ? "Bearer error=\"invalid_token\"" : ""};
}

} // namespace

result<void> check(const tenant_source& source) {
    return std::visit([](const auto& one) { return check_one(one); }, source);
}

std::variant<std::string, refused_tenant> tenant_of(const tenant_source& source,
                                                    const header_list& headers, peer_trust peer) {
    return std::visit([&](const auto& one) { return read(one, headers, peer); }, source);
}

void drop_own_token(header_list& headers, const tenant_source& source) {
    const auto* from = std::get_if<tenant_token>(&source);
    if (from == nullptr || from->forward == tenant_token::forwarding::pass) return;
    if (!is_usual(*from)) {
        headers.remove(from->header);
        return;
    }
    // On unprotected requests it may be the service's own.
    const auto token = bearer_token(headers);
    const bool own =
        token && (from->is_own ? from->is_own(*token) : from->tenant_of(*token).has_value());
    if (own) headers.remove(from->header);
}

} // namespace semel::http
