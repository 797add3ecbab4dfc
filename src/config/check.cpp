#include <algorithm>
#include <set>

#include "config/load.hpp"
#include "config/schema.hpp"
#include "http/text.hpp"
#include "net/address.hpp"
#include "semel/http/tenant.hpp"

namespace semel::config {
namespace {

// The keys that a complaint is about; its line is that of the first one in the file.
using keys = std::initializer_list<std::string_view>;

class checker {
public:
    explicit checker(const config& of) : of_(of) {}

    complaints all() {
        check_server();
        check_listeners();
        check_tenants();
        check_principal_secret();
        for (const route_entry& one : of_.routes) check_route(one);
        for (const operation_entry& one : of_.operations) check_operation(one);
        for (const relay_entry& one : of_.relays) check_relay(one);
        check_upstream();
        if (of_.store.url.text.empty()) say({"store.url"}, "must not be empty");
        check_operations();
        return std::move(found_);
    }

private:
    void say(keys about, const std::string& what) { say_of(of_.where, "", about, what); }

    void say_of(const key_places& where, const std::string& entry, keys about,
                const std::string& what) {
        if (!where.can_judge(about)) return;
        const std::string key{*about.begin()};
        found_.push_back(where.of(about) + ": " + entry + key + ": " + what);
    }

    void check_server() {
        const server_section& server = of_.server;
        if (server.options.threads > 1'024) say({"server.threads"}, "must be at most 1024");
        if (server.options.heads.limits.head_bytes_max < 1'024) {
            say({"server.head_bytes_max"}, "must be 1KiB at least");
        }
        if (server.admin_tls && server.tls.certificate_file.empty()) {
            say({"server.admin_tls", "server.tls_certificate"}, "needs server.tls_certificate");
        }
        if (server.metrics_token && of_.tenants.tokens.empty()) {
            say({"server.metrics_token", "tenants.tokens"}, "needs tenants.tokens");
        }
        if (server.tls.certificate_file.empty() && !server.tls.client_ca_file.empty()) {
            say({"server.tls_client_ca", "server.tls_certificate"}, "needs server.tls_certificate");
        }
        using client = edge::tls_server_options::client_certificate;
        if (server.tls.client == client::required && server.tls.client_ca_file.empty()) {
            say({"server.tls_client_required", "server.tls_client_ca"},
                "needs server.tls_client_ca");
        }
        if (server.tls.certificate_file.empty() != server.tls.key_file.empty()) {
            say({"server.tls_certificate", "server.tls_key"},
                "and server.tls_key must be given together");
        }
    }

    // ---- addresses

    struct listener {
        std::string_view key;
        net::host_port at;
    };

    void check_listeners() {
        const server_section& server = of_.server;
        std::vector<listener> all;
        const auto add = [&](std::string_view key, const std::string& text, bool used,
                             const char* form) {
            const auto at = net::parse_host_port(text);
            if (!at) return say({key}, form);
            if (used) check_apart(all, {key, *at});
        };
        constexpr auto form = "must be address:port";
        add("server.listen", server.listen, !of_.gateway.upstream.empty(), form);
        if (!server.admin_listen.empty()) {
            add("server.admin_listen", server.admin_listen, true, "must be address:port, or empty");
        }
        add("center.listen", of_.center.listen, of_.center.enabled, form);
    }

    void check_apart(std::vector<listener>& others, const listener& one) {
        const auto is_any = [](const std::string& host) {
            return host == "0.0.0.0" || host == "::";
        };
        for (const listener& other : others) {
            const bool same =
                one.at.host == other.at.host || is_any(one.at.host) || is_any(other.at.host);
            if (!same || one.at.port != other.at.port || one.at.port == 0) continue;
            say({one.key, other.key}, "is the address of " + std::string{other.key} +
                                          ", too; give each listener a port of its own");
        }
        others.push_back(one);
    }

    void check_upstream() {
        const std::string& upstream = of_.gateway.upstream;
        if (upstream.empty() && !of_.center.enabled && of_.relays.empty()) {
            say({"gateway.upstream", "center.enabled", "relay"},
                "must be set, or center.enabled, or a [[relay]]: nothing would be served");
        }
        if (!upstream.empty() && !net::parse_base_url(upstream)) {
            say({"gateway.upstream"}, "must be http://host:port or https://host:port");
        }
    }

    void check_operations() {
        if (of_.sweep.share_percent > 100) say({"sweep.share_percent"}, "must be 1 to 100");
        const std::string& hook = of_.alerts.webhook.text;
        if (!hook.empty() && !net::parse_base_url(hook)) {
            say({"alerts.webhook"}, "must be an http:// or https:// URL without a query");
        }
        if (of_.alerts.signing.text.empty() && !of_.alerts.old_signing.text.empty()) {
            say({"alerts.old_secret", "alerts.secret"}, "needs alerts.secret");
        }
        const std::string& pages = of_.console.url;
        if (!pages.empty() && !net::parse_base_url(pages)) {
            say({"console.url"}, "must be an http:// or https:// URL without a query");
        }
    }

    void check_tenants() {
        const tenants_section& tenants = of_.tenants;
        const bool gateway = !of_.gateway.upstream.empty();
        if (gateway && tenants.source == tenant_kind::none) {
            say({"tenants.source", "gateway.upstream"},
                R"(must be "single", "header" or "tokens"; there is no default, )"
                "since keys of different clients must never meet");
        }
        if (tenants.source == tenant_kind::single && tenants.single.name.empty()) {
            say({"tenants.name", "tenants.source"},
                R"(must be given where the source is "single")");
        }
        if (tenants.source == tenant_kind::single && !tenants.single.name.empty()) {
            const std::string why = http::tenant_fault(tenants.single.name);
            if (!why.empty()) say({"tenants.name"}, why);
        }
        if (!http::is_token(tenants.token.header)) {
            say({"tenants.token_header"}, "must be the name of a header");
        }
        for (const std::string& one : of_.gateway.vital_headers) {
            if (!http::is_token(one)) {
                say({"gateway.vital_headers"}, "'" + one + "' is no header name");
            }
        }
        const bool trusts = !tenants.trusted.empty() || !of_.server.tls.client_ca_file.empty();
        if (tenants.source == tenant_kind::header && !trusts) {
            say({"tenants.trusted", "tenants.source"},
                R"(must name at least one peer where the source is "header", or )"
                "server.tls_client_ca the authority of their certificates");
        }
        for (const std::string& one : tenants.trusted) {
            if (!net::network::parse(one)) {
                say({"tenants.trusted"}, "'" + one + "' is no address or network");
            }
        }
        const bool tokens = of_.center.enabled || tenants.source == tenant_kind::tokens;
        if (tokens && tenants.tokens.empty()) {
            say({"tenants.tokens", "center.enabled", "tenants.source"},
                "must name a file of `semel token`: the center and the source "
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
        const bool needed = first != all.end() && of_.where.can_judge({"gateway.principal_secret"});
        if (needed && !given) {
            say_of(
                first->where, "route.", {"principal"},
                R"(needs gateway.principal_secret = "file:/path" or "env:NAME", the same on all )"
                "instances; `openssl rand -hex 32 > principal.key` makes one");
        }
        if (given && text.size() < http::principal_secret_bytes_min) {
            say({"gateway.principal_secret"},
                "must have at least 16 bytes; `openssl rand -hex 32` makes one");
        }
    }
    // ---- entries

    // As a gate of its own, so that what is said has this route's line.
    void check_route(const route_entry& one) {
        http::tenant_source tenants = http::tenant_header{};
        if (of_.tenants.source == tenant_kind::single) tenants = http::single_tenant{"check"};
        const auto made = http::gate::make(
            {.routes = {one.route},
             .tenants = std::move(tenants),
             .principal_secret = std::string(http::principal_secret_bytes_min, '?'),
             .limits = of_.limits});
        if (!made && one.where.can_judge({"operation", "key", "principal"})) {
            found_.push_back(one.where.of({"path"}) + ": route: " + made.error().detail);
        }
        if (!operations_.insert(one.route.operation).second) {
            say_of(one.where, "route.", {"operation"},
                   "'" + one.route.operation + "' is another route's too; their keys would meet");
        }
        const bool probes = one.route.policy.on_lease_expiry == lease_expiry::probe;
        if (probes != !one.probe.empty()) {
            say_of(one.where, "route.", {"probe", "on_lease_expiry"},
                   R"(and on_lease_expiry = "probe" must be given together)");
        } else if (probes && !one.probe.starts_with('/')) {
            say_of(one.where, "route.", {"probe"}, "must be a path that begins with a slash");
        }
        check_policy(one.route.policy, one.where, "route.");
    }

    void check_operation(const operation_entry& one) {
        if (one.name.empty() || one.name.size() > of_.limits.operation_bytes_max) {
            say_of(one.where, "operation.", {"name"}, "must have 1 to 64 bytes");
        }
        if (!operations_.insert(one.name).second) {
            say_of(one.where, "operation.", {"name"}, "'" + one.name + "' is there twice");
        }
        if (!one.probe.empty() && !net::parse_base_url(one.probe)) {
            say_of(one.where, "operation.", {"probe"},
                   "must be an http:// or https:// URL without a query");
        }
        check_policy(one.policy, one.where, "operation.");
    }

    void check_relay(const relay_entry& one) {
        if (one.sink.text.empty()) say_of(one.where, "relay.", {"sink"}, "must be given");
        if (one.options.retry.attempts_max <= outbox::often) {
            say_of(one.where, "relay.", {"attempts_max"},
                   "must be above " + std::to_string(outbox::often));
        } else if (one.options.retry.last < one.options.retry.first) {
            say_of(one.where, "relay.", {"retry_last", "retry_first"},
                   "must be no shorter than retry_first");
        } else if (one.options.poll_last < one.options.poll_first) {
            say_of(one.where, "relay.", {"poll"}, "must be 1ms at least");
        } else if (one.options.lease < std::chrono::milliseconds{100}) {
            say_of(one.where, "relay.", {"lease"}, "must be 100ms at least");
        }
    }

    void check_policy(const operation_policy& policy, const key_places& where,
                      const std::string& entry) {
        if (policy.result_bytes_max > of_.limits.result_bytes_max) {
            say_of(where, entry, {"result_bytes_max"}, "must be within limits.result_bytes_max");
        }
        if (policy.lease > policy.processing_max) {
            say_of(where, entry, {"lease", "processing_max"}, "must be within processing_max");
        }
    }

    const config& of_;
    std::set<std::string> operations_;
    complaints found_;
};

} // namespace

complaints check(const config& of) {
    return checker{of}.all();
}

} // namespace semel::config
