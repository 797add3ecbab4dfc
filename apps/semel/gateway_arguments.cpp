#include "gateway_arguments.hpp"

#include <algorithm>
#include <utility>

#include "commands.hpp"
#include "config/surroundings.hpp"
#include "url_argument.hpp"

namespace semel::app {
namespace {

template <class T> T checked(std::string_view option, result<T> made) {
    if (made) return *std::move(made);
    throw usage_error(std::string{option} + ": " + made.error().detail);
}

// ---- the tenant

http::tenant_source tenants_of(const gateway_arguments& with,
                               std::shared_ptr<const config::live_tokens> tokens) {
    const int given = (with.single_tenant ? 1 : 0) + (with.tenant_header.empty() ? 0 : 1) +
                      (with.tenant_tokens.empty() ? 0 : 1);
    if (given != 1) {
        throw usage_error("say where tenants come from: one of --single-tenant, --tenant-header, "
                          "--tenant-tokens");
    }
    if (with.single_tenant) return http::single_tenant{*with.single_tenant};
    if (!with.tenant_tokens.empty()) return config::tenants_of(std::move(tokens), with.token);
    if (with.trust.empty() && with.tls.client_ca_file.empty()) {
        throw usage_error("--tenant-header: name the peers whose word counts with --trust");
    }
    return http::tenant_header{with.tenant_header};
}

// ---- the routes

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

// [NAME=][METHOD,METHOD:]PATTERN
http::route parse_route(http::route made, const std::string& text) {
    made.operation = text;
    std::string_view rest = text;
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    if (const std::size_t equals = rest.substr(0, slash).find('='); equals != rest.npos) {
        made.operation = rest.substr(0, equals);
        rest.remove_prefix(equals + 1);
    }
    if (const std::size_t colon = rest.find(":/"); colon != rest.npos) {
        made.methods = split(rest.substr(0, colon), ',');
        rest.remove_prefix(colon + 1);
    }
    made.path = rest;
    if (made.path.empty() || made.path.front() != '/') {
        throw usage_error("--route: expected [NAME=][METHODS:]PATTERN, as in POST,PUT:/orders/**, "
                          "not \"" +
                          text + "\"");
    }
    return made;
}

std::vector<http::route> routes_of(const gateway_arguments& with) {
    http::route common = with.route;
    operation_policy& policy = common.policy;
    if (policy.wait_max == duration::zero()) {
        policy.wait = wait_mode::answer;
        policy.wait_max = operation_policy{}.wait_max;
    }
    std::vector<http::route> routes;
    for (const std::string& text : with.routes) routes.push_back(parse_route(common, text));
    if (!routes.empty()) return routes;
    common.operation = "http";
    return {common};
}

std::string principal_secret_of(const gateway_arguments& with) {
    const std::string advice = "; `openssl rand -hex 32 > principal.key` makes one";
    const std::string& written = with.principal_secret;
    if (written.empty()) {
        const auto& names = with.route.principal;
        if (names.empty() || names == std::vector<std::string>{"shared"}) return {};
        throw usage_error("--principal: needs --principal-secret env:NAME or file:/path, the same "
                          "for all gateways of a store" +
                          advice);
    }
    if (!config::is_reference(written)) {
        throw usage_error("--principal-secret: must be env:NAME or file:/path" + advice);
    }
    std::string secret = given_url("--principal-secret", written);
    if (secret.size() < http::principal_secret_bytes_min) {
        throw usage_error("--principal-secret: must have at least 16 bytes" + advice);
    }
    return secret;
}

// ---- the rest

edge::server_options server_of(const gateway_arguments& with) {
    edge::server_options made = with.options.server;
    made.listen = checked("--listen", net::parse_host_port(with.listen));
    for (const std::string& text : with.trust) {
        made.trusted.push_back(checked("--trust", net::network::parse(text)));
    }
    auto& vital = made.heads.vital;
    vital.insert(vital.end(), with.vital_headers.begin(), with.vital_headers.end());
    const edge::tls_server_options& tls = with.tls;
    if (tls.certificate_file.empty() != tls.key_file.empty()) {
        throw usage_error("--tls-cert and --tls-key belong together");
    }
    if (!tls.certificate_file.empty()) {
        made.tls = tls;
    } else if (!tls.client_ca_file.empty()) {
        throw usage_error("--client-ca: needs --tls-cert");
    }
    return made;
}

} // namespace

edge::gateway_options options_of(const gateway_arguments& with,
                                 std::shared_ptr<const config::live_tokens> tokens) {
    edge::gateway_options made = with.options;
    made.server = server_of(with);
    made.upstream.url = checked("--upstream", net::parse_base_url(with.upstream));
    made.gate.tenants = tenants_of(with, std::move(tokens));
    made.gate.routes = routes_of(with);
    made.gate.principal_secret = principal_secret_of(with);
    if (!with.probe.empty()) {
        for (const http::route& one : made.gate.routes) made.probes[one.operation] = with.probe;
    }
    if (auto fine = edge::check(made); !fine) throw usage_error(fine.error().detail);
    return made;
}

} // namespace semel::app
