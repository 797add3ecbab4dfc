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
    return {.table_prefix = of.store.text.empty() ? with.store.table_prefix
                                                  : outbox::table_options{}.table_prefix,
            .ack = of.archive ? outbox::on_ack::archive : outbox::on_ack::remove,
            .mode = open_mode::existing};
}

operation_policy default_policy_of(const config::config& from) {
    operation_policy made;
    made.result_bytes_max = std::min(made.result_bytes_max, from.limits.result_bytes_max);
    return made;
}

result<std::unique_ptr<store>> open_store(const config::store_section& with, store_meters& meters,
                                          open_mode mode) {
    auto made = open_store(store_url_of(with), {.table_prefix = with.table_prefix,
                                                .queue_max = with.queue_max,
                                                .counters = &meters.driver,
                                                .mode = mode});
    if (!made) return made;
    std::unique_ptr<store> all = open_metered_store(*std::move(made), meters.commands);
    if (!with.keys.empty()) {
        auto sealed = open_encrypted_store(
            std::move(all),
            {.keys = with.keys, .others = with.others, .counters = &meters.encryption});
        if (!sealed) return sealed;
        all = *std::move(sealed);
    }
    if (with.cache_bytes > 0) {
        all = open_cached_store(
            std::move(all),
            {.bytes_max = with.cache_bytes, .age_max = with.cache_age, .counters = &meters.cache});
    }
    return all;
}

http::tenant_source tenants_of(const config::tenants_section& from,
                               std::shared_ptr<const config::live_tokens> tokens) {
    switch (from.source) {
    case config::tenant_kind::none: break;
    case config::tenant_kind::single: return http::single_tenant{from.name};
    case config::tenant_kind::header: return http::tenant_header{from.header};
    case config::tenant_kind::tokens: {
        http::tenant_token made = config::tenants_of(std::move(tokens));
        made.header = from.token_header;
        using forwarding = http::tenant_token::forwarding;
        made.forward = from.forward_token ? forwarding::pass : forwarding::drop;
        return made;
    }
    }
    return {};
}

edge::server_options server_options_of(const config::config& from,
                                       const std::shared_ptr<logger>& log,
                                       const std::string& listen) {
    const config::server_section& server = from.server;
    edge::server_options made{.listen = net::parse_host_port(listen).value(),
                              .threads = static_cast<unsigned>(server.threads),
                              .connections_max = server.connections_max,
                              .connections_per_address_max = server.connections_per_address_max,
                              .buffered_bytes_max = from.limits.buffered_bytes_max,
                              .times = {.head = server.head_timeout,
                                        .idle = server.idle_timeout,
                                        .body = server.body_timeout,
                                        .body_max = server.body_time_max,
                                        .write = server.write_timeout},
                              .log = log};
    for (const std::string& one : from.tenants.trusted) {
        made.trusted.push_back(net::network::parse(one).value());
    }
    made.heads.hosts = server.hosts;
    made.heads.limits.head_bytes_max = server.head_bytes_max;
    if (!server.tls_certificate.empty()) {
        made.tls = edge::tls_server_options{
            .certificate_file = server.tls_certificate,
            .key_file = server.tls_key,
            .client_ca_file = server.tls_client_ca,
            .client = server.tls_client_required
                          ? edge::tls_server_options::client_certificate::required
                          : edge::tls_server_options::client_certificate::optional};
    }
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
        made.tls = edge::tls_server_options{.certificate_file = from.server.tls_certificate,
                                            .key_file = from.server.tls_key};
    }
    return made;
}

edge::gateway_options gateway_options_of(const config::config& from,
                                         const std::shared_ptr<logger>& log,
                                         http::tenant_source tenants) {
    const config::gateway_section& gateway = from.gateway;
    edge::gateway_options made{.server = server_options_of(from, log, from.server.listen),
                               .upstream = {.url = net::parse_base_url(gateway.upstream).value(),
                                            .ca_file = gateway.tls_ca,
                                            .connections_max = gateway.connections_max,
                                            .connect_time = gateway.connect_timeout,
                                            .answer_time = gateway.answer_timeout,
                                            .answer_bytes_max = gateway.answer_bytes_max,
                                            .host = gateway.host,
                                            .underscores = gateway.underscores},
                               .gate = gate_of(from, std::move(tenants)),
                               .drain_time = from.server.drain};
    auto& vital = made.server.heads.vital;
    vital.insert(vital.end(), gateway.vital_headers.begin(), gateway.vital_headers.end());
    for (const config::route_entry& one : from.routes) {
        if (!one.probe.empty()) made.probes.emplace(one.route.operation, one.probe);
    }
    return made;
}

edge::center_options center_options_of(const config::config& from,
                                       std::shared_ptr<const config::live_tokens> tokens) {
    edge::center_options made{.limits = from.limits,
                              .body_bytes_max = from.center.body_bytes_max,
                              .batch_max = from.center.batch_max,
                              .wait_max = from.center.wait_max,
                              .waiters_max = from.center.waiters_max};
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
    edge::console_options made{
        .configuration = config::show(from),
        .version = SEMEL_VERSION,
        .store = from.store.url.text.substr(0, from.store.url.text.find(':')),
        .limits = from.limits,
        .session = from.console.session,
        .idle = from.console.idle,
        .cookie = from.console.secure_cookie ? edge::console_options::cookies::secure
                                             : edge::console_options::cookies::plain,
        .cursor_secret = cursor_secret(tokens, from.store.keys)};
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
