#include "wiring.hpp"

#include <algorithm>
#include <utility>

#include "config/load.hpp"
#include "edge/console/sessions.hpp"
#include "net/url_text.hpp"
#include "semel/open.hpp"
#include "semel/store/decorators.hpp"

namespace semel::app {
namespace {

std::vector<http::route> routes_of(const config::config& from) {
    std::vector<http::route> routes;
    for (const config::route_entry& one : from.routes) routes.push_back(one.route);
    if (routes.empty()) {
        routes.push_back({.operation = "http", .path = "/**", .policy = default_policy_of(from)});
    }
    return routes;
}

http::gate_options gate_of(const config::config& from, http::tenant_source tenants) {
    return {.routes = routes_of(from),
            .tenants = std::move(tenants),
            .principal_secret = from.gateway.principal_secret.text,
            .limits = from.limits};
}

} // namespace

std::string store_url_of(const config::store_section& with) {
    if (with.front.text.empty()) return with.url.text;
    return "tiered:?front=" + net::nested_url(with.front.text) +
           "&truth=" + net::nested_url(with.url.text);
}

outbox::table_options outbox_options_of(const config::config& with, const config::relay_entry& of) {
    return {.table_prefix = of.store.text.empty() ? with.store.options.table_prefix
                                                  : outbox::table_options{}.table_prefix,
            .ack = of.ack,
            .mode = open_mode::existing};
}

operation_policy default_policy_of(const config::config& from) {
    operation_policy made;
    made.result_bytes_max = std::min(made.result_bytes_max, from.limits.result_bytes_max);
    return made;
}

result<std::unique_ptr<store>> open_store(const config::store_section& with, store_meters& meters,
                                          open_mode mode) {
    store_options options = with.options;
    options.counters = &meters.driver;
    options.mode = mode;
    auto made = open_store(store_url_of(with), options);
    if (!made) return made;
    std::unique_ptr<store> all = open_metered_store(*std::move(made), meters.commands);
    if (!with.encryption.keys.empty()) {
        encrypted_store_options sealing = with.encryption;
        sealing.counters = &meters.encryption;
        auto sealed = open_encrypted_store(std::move(all), std::move(sealing));
        if (!sealed) return sealed;
        all = *std::move(sealed);
    }
    if (with.cache.bytes_max == 0) return all;
    cached_store_options caching = with.cache;
    caching.counters = &meters.cache;
    return open_cached_store(std::move(all), std::move(caching));
}

http::tenant_source tenants_of(const config::tenants_section& from,
                               std::shared_ptr<const config::live_tokens> tokens) {
    switch (from.source) {
    case config::tenant_kind::none: break;
    case config::tenant_kind::single: return from.single;
    case config::tenant_kind::header: return from.header;
    case config::tenant_kind::tokens: return config::tenants_of(std::move(tokens), from.token);
    }
    return {};
}

edge::server_options server_options_of(const config::config& from,
                                       const std::shared_ptr<logger>& log,
                                       const std::string& listen) {
    edge::server_options made = from.server.options;
    made.listen = net::parse_host_port(listen).value();
    made.log = log;
    for (const std::string& one : from.tenants.trusted) {
        made.trusted.push_back(net::network::parse(one).value());
    }
    if (!from.server.tls.certificate_file.empty()) made.tls = from.server.tls;
    return made;
}

edge::server_options admin_options_of(const config::config& from,
                                      const std::shared_ptr<logger>& log) {
    // An operator's verdict may hold a result, in base64. The pages beside the console take none.
    const std::size_t body_bytes_max =
        from.console.enabled ? from.limits.result_bytes_max * 2 + 65'536 : 1'024;
    constexpr std::size_t connections_max = 100;
    edge::server_options made{.listen = net::parse_host_port(from.server.admin_listen).value(),
                              .threads = 1,
                              .connections_max = connections_max,
                              .when_full = edge::server_options::full::replaces,
                              .connections_per_address_max = 0,
                              .body_bytes_max = body_bytes_max,
                              .log = log};
    made.heads.names = from.server.admin_hosts;
    made.heads.names->push_back(made.listen.host);
    if (from.server.admin_tls) {
        made.tls = edge::tls_server_options{.certificate_file = from.server.tls.certificate_file,
                                            .key_file = from.server.tls.key_file};
    }
    return made;
}

edge::gateway_options gateway_options_of(const config::config& from,
                                         const std::shared_ptr<logger>& log,
                                         http::tenant_source tenants) {
    const config::gateway_section& gateway = from.gateway;
    edge::gateway_options made{.server = server_options_of(from, log, from.server.listen),
                               .upstream = gateway.options,
                               .gate = gate_of(from, std::move(tenants)),
                               .drain_time = from.server.drain};
    made.upstream.url = net::parse_base_url(gateway.upstream).value();
    auto& vital = made.server.heads.vital;
    vital.insert(vital.end(), gateway.vital_headers.begin(), gateway.vital_headers.end());
    for (const config::route_entry& one : from.routes) {
        if (!one.probe.empty()) made.probes.emplace(one.route.operation, one.probe);
    }
    return made;
}

edge::center_options center_options_of(const config::config& from,
                                       std::shared_ptr<const config::live_tokens> tokens) {
    edge::center_options made = from.center.options;
    made.limits = from.limits;
    made.grant_of = [tokens = std::move(tokens)](std::string_view token) {
        return tokens->find(token);
    };
    made.defaults = default_policy_of(from);
    if (from.center.others == config::unknown_operations::refuse) made.defaults.reset();
    for (const config::operation_entry& one : from.operations) {
        made.operations.emplace(one.name, one.policy);
    }
    for (const config::route_entry& one : from.routes) {
        made.operations.emplace(one.route.operation, one.route.policy);
        if (!from.gateway.upstream.empty()) made.responses.insert(one.route.operation);
    }
    return made;
}

namespace {

// The same on all instances with the same tokens and keys, so that any of them behind a balancer
// goes on with a search. Who has one token knows one hash only, and cannot make the others up; with
// so little that one token is all of it, an instance uses its own random bytes.
std::function<std::string()> cursor_secret(const std::shared_ptr<const config::live_tokens>& tokens,
                                           const std::vector<encryption_key>& keys) {
    std::string fixed;
    for (const encryption_key& one : keys) fixed += one.secret;
    return [tokens, fixed, own = edge::random_bytes()] {
        const auto now = tokens->get();
        const std::string& salt = fixed.empty() && now->size() < 2 ? own : fixed;
        const fingerprint all = fingerprint::raw(now->digest().hex() + salt);
        return std::string{all.as_string_view()};
    };
}

} // namespace

std::map<std::string, edge::console_operation> console_operations_of(const config::config& from) {
    std::map<std::string, edge::console_operation> made;
    const auto about = [](const operation_policy& policy, http::result_form holds) {
        return edge::console_operation{.holds = holds,
                                       .retention = policy.retention,
                                       .failure_retention = policy.failure_retention};
    };
    for (const http::route& one : routes_of(from)) {
        if (from.gateway.upstream.empty()) break;
        made.emplace(one.operation, about(one.policy, http::result_form::response));
    }
    for (const config::operation_entry& one : from.operations) {
        made.emplace(one.name, about(one.policy, http::result_form::plain));
    }
    return made;
}

edge::console_options console_options_of(const config::config& from,
                                         const std::shared_ptr<const config::live_tokens>& tokens) {
    edge::console_options made = from.console.options;
    made.configuration = config::show(from);
    made.version = SEMEL_VERSION;
    made.store = from.store.url.text.substr(0, from.store.url.text.find(':'));
    made.limits = from.limits;
    made.cursor_secret = cursor_secret(tokens, from.store.encryption.keys);
    made.grant_of = [tokens](std::string_view token) { return tokens->find(token); };
    made.grant_of_hash = [tokens](const fingerprint& hash) { return tokens->find(hash); };
    made.operations = console_operations_of(from);
    return made;
}

engine_options engine_options_of(const config::config& from, std::shared_ptr<logger> log) {
    engine_options made{.limits = from.limits,
                        .sweep = from.sweep,
                        .drain_max = from.server.drain,
                        .log = std::move(log)};
    if (from.gateway.upstream.empty()) return made;
    auto gate = http::gate::make(gate_of(from, http::tenant_header{}));
    made.operations = gate.value().operations();
    return made;
}

} // namespace semel::app
