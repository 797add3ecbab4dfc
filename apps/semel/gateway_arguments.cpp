#include "gateway_arguments.hpp"

#include <algorithm>
#include <utility>

#include "commands.hpp"
#include "config/surroundings.hpp"
#include "duration_text.hpp"
#include "url_argument.hpp"

namespace semel::app {
namespace {

template <class T> T checked(std::string_view option, result<T> made) {
    if (made) return *std::move(made);
    throw usage_error(std::string{option} + ": " + made.error().detail);
}

template <class T>
T one_of(std::string_view option, const std::string& text,
         std::initializer_list<std::pair<std::string_view, T>> choices) {
    std::string names;
    for (const auto& [name, value] : choices) {
        if (text == name) return value;
        names.append(names.empty() ? "" : ", ").append(name);
    }
    throw usage_error(std::string{option} + ": \"" + text + "\" is none of " + names);
}

// ---- the tenant

http::tenant_token token_source(const gateway_arguments& with,
                                std::shared_ptr<const config::live_tokens> tokens) {
    http::tenant_token made = config::tenants_of(std::move(tokens));
    made.header = with.token_header;
    using forwarding = http::tenant_token::forwarding;
    made.forward = with.forward_token ? forwarding::pass : forwarding::drop;
    return made;
}

http::tenant_source tenants_of(const gateway_arguments& with,
                               std::shared_ptr<const config::live_tokens> tokens) {
    const int given = (with.single_tenant ? 1 : 0) + (with.tenant_header.empty() ? 0 : 1) +
                      (with.tenant_tokens.empty() ? 0 : 1);
    if (given != 1) {
        throw usage_error("say where tenants come from: one of --single-tenant, --tenant-header, "
                          "--tenant-tokens");
    }
    if (with.single_tenant) return http::single_tenant{*with.single_tenant};
    if (!with.tenant_tokens.empty()) return token_source(with, std::move(tokens));
    if (with.trust.empty() && with.client_ca.empty()) {
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
http::route parse_route(const std::string& text) {
    http::route made{.operation = text};
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

void set_policy(http::route& one, const gateway_arguments& with) {
    operation_policy& policy = one.policy;
    policy.lease = parse_duration("--lease", with.lease);
    policy.retention = parse_duration("--retention", with.retention);
    policy.wait_max = parse_duration("--wait", with.wait);
    policy.wait = policy.wait_max > duration::zero() ? wait_mode::wait : wait_mode::answer;
    if (policy.wait == wait_mode::answer) policy.wait_max = operation_policy{}.wait_max;
    policy.on_lease_expiry = one_of<lease_expiry>("--on-lease-expiry", with.on_lease_expiry,
                                                  {{"retry", lease_expiry::retry},
                                                   {"hold", lease_expiry::hold},
                                                   {"probe", lease_expiry::probe}});
}

void set_options(http::route& one, const gateway_arguments& with) {
    if (with.require_key) one.need = http::key_need::required;
    if (with.derive_key) one.need = http::key_need::derived;
    if (with.strict_key) one.keys.form = http::key_form::strict;
    if (!with.key_headers.empty()) one.keys.headers = with.key_headers;
    const auto profile = http::profile_named(with.profile);
    if (!profile) {
        throw usage_error("--profile: \"" + with.profile +
                          "\" is none of 2xx, ietf, stripe-v1, stripe-v2");
    }
    one.responses = *profile;
    one.body_bytes_max = with.body_max;
    if (with.fail_open) one.outage = http::store_outage::pass;
    using how = http::key_forwarding;
    one.forward = one_of<how>(
        "--forward-key", with.forward,
        {{"same", how::same}, {"record", how::record}, {"child", how::child}, {"none", how::none}});
    one.principal = with.principal;
    one.without_principal = one_of<http::no_principal>(
        "--principal-missing", with.principal_missing,
        {{"refuse", http::no_principal::refuse}, {"anonymous", http::no_principal::anonymous}});
    set_policy(one, with);
}

std::vector<http::route> routes_of(const gateway_arguments& with) {
    std::vector<http::route> routes;
    for (const std::string& text : with.routes) routes.push_back(parse_route(text));
    if (routes.empty()) routes.push_back({.operation = "http", .path = "/**"});
    for (http::route& one : routes) set_options(one, with);
    return routes;
}

std::string principal_secret_of(const gateway_arguments& with) {
    const std::string advice = "; `openssl rand -hex 32 > principal.key` makes one";
    const std::string& written = with.principal_secret;
    if (written.empty()) {
        const bool shared = with.principal == std::vector<std::string>{"shared"};
        if (with.principal.empty() || shared) return {};
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
    edge::server_options made{.listen = checked("--listen", net::parse_host_port(with.listen)),
                              .threads = with.threads,
                              .connections_max = with.connections,
                              .connections_per_address_max = with.connections_per_address,
                              .buffered_bytes_max = with.buffered_max};
    for (const std::string& text : with.trust) {
        made.trusted.push_back(checked("--trust", net::network::parse(text)));
    }
    made.heads.hosts = with.hosts;
    auto& vital = made.heads.vital;
    vital.insert(vital.end(), with.vital_headers.begin(), with.vital_headers.end());
    if (with.tls_certificate.empty() != with.tls_key.empty()) {
        throw usage_error("--tls-cert and --tls-key belong together");
    }
    if (with.tls_certificate.empty()) {
        if (!with.client_ca.empty()) throw usage_error("--client-ca: needs --tls-cert");
        return made;
    }
    using client = edge::tls_server_options::client_certificate;
    made.tls = {.certificate_file = with.tls_certificate,
                .key_file = with.tls_key,
                .client_ca_file = with.client_ca,
                .client = with.require_client_certificate ? client::required : client::optional};
    return made;
}

} // namespace

edge::gateway_options options_of(const gateway_arguments& with,
                                 std::shared_ptr<const config::live_tokens> tokens) {
    edge::gateway_options made;
    made.server = server_of(with);
    made.upstream.url = checked("--upstream", net::parse_base_url(with.upstream));
    made.upstream.ca_file = with.upstream_ca;
    if (with.pass_underscores) {
        made.upstream.underscores = edge::upstream_options::names_with_underscores::pass;
    }
    made.upstream.connect_time = parse_duration("--connect-time", with.connect_time);
    made.upstream.answer_time = parse_duration("--answer-time", with.answer_time);
    made.drain_time = parse_duration("--drain-time", with.drain_time);
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
