#include <algorithm>
#include <set>

#include "config/load.hpp"
#include "config/schema.hpp"
#include "edge/wire/address.hpp"
#include "http/text.hpp"
#include "semel/http/token.hpp"

namespace semel::config {
namespace {

class checker {
public:
    checker(const config& of, std::string name) : of_(of), name_(std::move(name)) {}

    complaints all() {
        check_server();
        check_tenants();
        check_principal_secret();
        for (const route_entry& one : of_.routes) check_route(one);
        for (const operation_entry& one : of_.operations) check_operation(one);
        for (const relay_entry& one : of_.relays) {
            if (one.sink.text.empty()) say_at(one.where, "relay.sink", "must be given");
        }
        if (of_.gateway.upstream.empty() && !of_.center.enabled && of_.relays.empty()) {
            say("gateway.upstream",
                "must be set, or center.enabled, or a [[relay]]: nothing would be served");
        }
        if (!of_.gateway.upstream.empty() && !edge::parse_base_url(of_.gateway.upstream)) {
            say("gateway.upstream", "must be http://host:port or https://host:port");
        }
        if (!edge::parse_host_port(of_.center.listen)) say("center.listen", "must be address:port");
        if (of_.store.url.text.empty()) say("store.url", "must not be empty");
        check_operations();
        return std::move(found_);
    }

private:
    void say(const std::string& key, const std::string& what) {
        found_.push_back(name_ + ": " + key + ": " + what);
    }
    void say_at(const std::string& where, const std::string& key, const std::string& what) {
        found_.push_back(where + ": " + key + ": " + what);
    }

    void check_server() {
        const server_section& server = of_.server;
        if (!edge::parse_host_port(server.listen)) say("server.listen", "must be address:port");
        if (!server.admin_listen.empty() && !edge::parse_host_port(server.admin_listen)) {
            say("server.admin_listen", "must be address:port, or empty");
        }
        if (server.admin_tls && server.tls_certificate.empty()) {
            say("server.admin_tls", "needs server.tls_certificate");
        }
        if (server.metrics_token && of_.tenants.tokens.empty()) {
            say("server.metrics_token", "needs tenants.tokens");
        }
        if (server.tls_certificate.empty() && !server.tls_client_ca.empty()) {
            say("server.tls_client_ca", "needs server.tls_certificate");
        }
        if (server.tls_client_required && server.tls_client_ca.empty()) {
            say("server.tls_client_required", "needs server.tls_client_ca");
        }
        if (server.tls_certificate.empty() != server.tls_key.empty()) {
            say("server.tls_certificate", "and server.tls_key must be given together");
        }
    }

    void check_operations() {
        if (of_.sweep.share_percent > 100) say("sweep.share_percent", "must be 1 to 100");
        const std::string& hook = of_.alerts.webhook.text;
        if (!hook.empty() && !edge::parse_base_url(hook)) {
            say("alerts.webhook", "must be an http:// or https:// URL without a query");
        }
        if (of_.alerts.signing.text.empty() && !of_.alerts.old_signing.text.empty()) {
            say("alerts.old_secret", "needs alerts.secret");
        }
        const std::string& pages = of_.console.url;
        if (!pages.empty() && !edge::parse_base_url(pages)) {
            say("console.url", "must be an http:// or https:// URL without a query");
        }
    }

    void check_tenants() {
        const tenants_section& tenants = of_.tenants;
        const bool gateway = !of_.gateway.upstream.empty();
        if (gateway && tenants.source == tenant_kind::none) {
            say("tenants.source", R"(must be "single", "header" or "tokens"; there is no default, )"
                                  "since keys of different clients must never meet");
        }
        if (tenants.source == tenant_kind::single && tenants.name.empty()) {
            say("tenants.name", R"(must be given where the source is "single")");
        }
        if (tenants.source == tenant_kind::single && !tenants.name.empty()) {
            const std::string why = http::tenant_fault(tenants.name);
            if (!why.empty()) say("tenants.name", why);
        }
        if (!http::is_token(tenants.token_header)) {
            say("tenants.token_header", "must be the name of a header");
        }
        for (const std::string& one : of_.gateway.vital_headers) {
            if (!http::is_token(one))
                say("gateway.vital_headers", "'" + one + "' is no header name");
        }
        const bool trusts = !tenants.trusted.empty() || !of_.server.tls_client_ca.empty();
        if (tenants.source == tenant_kind::header && !trusts) {
            say("tenants.trusted",
                R"(must name at least one peer where the source is "header", or )"
                "server.tls_client_ca the authority of their certificates");
        }
        for (const std::string& one : tenants.trusted) {
            if (!edge::network::parse(one))
                say("tenants.trusted", "'" + one + "' is no address or network");
        }
        const bool tokens = of_.center.enabled || tenants.source == tenant_kind::tokens;
        if (tokens && tenants.tokens.empty()) {
            say("tenants.tokens", "must name a file of `semel token`: the center and the source "
                                  "\"tokens\" need it");
        }
    }

    // The routes do without one, so that its absence is said once.
    void check_principal_secret() {
        const std::string& text = of_.gateway.principal_secret.text;
        const bool given = !of_.gateway.principal_secret.written.empty();
        const auto names_values = [](const route_entry& one) {
            const auto& names = one.route.principal;
            return !names.empty() && names != std::vector<std::string>{"shared"};
        };
        const auto& all = of_.routes;
        const auto first = std::find_if(all.begin(), all.end(), names_values);
        if (first != all.end() && !given) {
            say_at(
                first->where, "route.principal",
                R"(needs gateway.principal_secret = "file:/path" or "env:NAME", the same on all )"
                "instances; `openssl rand -hex 32 > principal.key` makes one");
        }
        if (given && text.size() < http::principal_secret_bytes_min) {
            say("gateway.principal_secret",
                "must have at least 16 bytes; `openssl rand -hex 32` makes one");
        }
    }

    // As a gate of its own, so that what is said has this route's line.
    void check_route(const route_entry& one) {
        http::tenant_source tenants = http::tenant_header{};
        if (of_.tenants.source == tenant_kind::single) tenants = http::single_tenant{"check"};
        const auto made = http::gate::make(
            {.routes = {one.route},
             .tenants = std::move(tenants),
             .principal_secret = std::string(http::principal_secret_bytes_min, '?'),
             .limits = of_.limits});
        if (!made) say_at(one.where, "route", made.error().detail);
        if (!operations_.insert(one.route.operation).second) {
            say_at(one.where, "route.operation",
                   "'" + one.route.operation + "' is another route's too; their keys would meet");
        }
        const bool probes = one.route.policy.on_lease_expiry == lease_expiry::probe;
        if (probes != !one.probe.empty()) {
            say_at(one.where, "route.probe",
                   R"(and on_lease_expiry = "probe" must be given together)");
        } else if (probes && !one.probe.starts_with('/')) {
            say_at(one.where, "route.probe", "must be a path that begins with a slash");
        }
        check_policy(one.route.policy, one.where, "route");
    }

    void check_operation(const operation_entry& one) {
        if (one.name.empty() || one.name.size() > of_.limits.operation_bytes_max) {
            say_at(one.where, "operation.name", "must have 1 to 64 bytes");
        }
        if (!operations_.insert(one.name).second) {
            say_at(one.where, "operation.name", "'" + one.name + "' is there twice");
        }
        if (!one.probe.empty() && !edge::parse_base_url(one.probe)) {
            say_at(one.where, "operation.probe",
                   "must be an http:// or https:// URL without a query");
        }
        check_policy(one.policy, one.where, "operation");
    }

    void check_policy(const operation_policy& policy, const std::string& where,
                      const std::string& entry) {
        if (policy.result_bytes_max > of_.limits.result_bytes_max) {
            say_at(where, entry + ".result_bytes_max", "must be within limits.result_bytes_max");
        }
        if (policy.lease > policy.processing_max) {
            say_at(where, entry + ".lease", "must be within processing_max");
        }
    }

    const config& of_;
    const std::string name_;
    std::set<std::string> operations_;
    complaints found_;
};

} // namespace

complaints check(const config& of, const std::string& name) {
    return checker{of, name}.all();
}

} // namespace semel::config
