#include "http_probe.hpp"

#include <algorithm>
#include <utility>

#include "edge/gateway/caller.hpp"
#include "edge/gateway/probe.hpp"
#include "semel/http/response.hpp"
#include "wiring.hpp"

namespace semel::app {
namespace {

// A question is asked again later: it must not hold up a pass, or the end of the process.
constexpr duration answer_time_max = std::chrono::seconds{10};

using keep_answer = std::function<stored_result(const http::response&)>;

probe_answer to_answer(edge::probe_verdict&& said, const keep_answer& keep) {
    if (std::holds_alternative<edge::probe_says::not_executed>(said)) {
        return probes::not_executed{};
    }
    if (const auto* yes = std::get_if<edge::probe_says::committed>(&said)) {
        return probes::committed{keep(yes->answer)};
    }
    return probes::unknown{"the service does not know"};
}

// The caller is shared by the probes of one service.
probe http_probe(std::shared_ptr<edge::caller> by, std::string path, keep_answer keep) {
    return [by = std::move(by), path = std::move(path),
            keep = std::move(keep)](const found_record& about) -> probe_answer {
        const semel::request what{
            .tenant = about.id.tenant, .operation = about.id.operation, .key = about.id.key};
        auto got = by->call({.target = edge::probe_target(path, what),
                             .headers = {{"Accept", "application/json"}, {"Via", "1.1 semel"}}});
        if (!got) return probes::unknown{describe(got.error())};
        return to_answer(edge::read_probe(*got), keep);
    };
}

keep_answer as_response(const http::route& route) {
    return [replay = route.replay, most = route.policy.result_bytes_max](const http::response& it) {
        return http::encode(it, replay, most);
    };
}

// As a service that uses the center would have completed it.
keep_answer as_result(std::size_t bytes_max) {
    return [bytes_max](const http::response& it) {
        const std::string* const type = it.headers.find("Content-Type");
        stored_result made{.body = it.body, .type = type == nullptr ? std::string{} : *type};
        if (made.body.size() > bytes_max) {
            made.kind = result_kind::tombstone;
            made.body.clear();
        }
        return made;
    };
}

void set_times(reconcile_rule& rule, const config::reconcile_times& times) {
    if (times.alert_after > duration::zero()) rule.alert_after = times.alert_after;
    if (times.settle_after > duration::zero()) rule.settle_after = times.settle_after;
}

result<void> add_operation(std::map<std::string, reconcile_rule>& to,
                           const config::operation_entry& one, const reconcile_rule& defaults) {
    reconcile_rule rule = defaults;
    rule.retention = one.policy.retention;
    set_times(rule, one.times);
    if (!one.probe.empty()) {
        auto by = edge::caller::make(
            {.url = net::parse_base_url(one.probe).value(), .answer_time = answer_time_max});
        if (!by) return std::move(by).error();
        rule.probe = http_probe(*std::move(by), "", as_result(one.policy.result_bytes_max));
    }
    to.insert_or_assign(one.name, std::move(rule));
    return {};
}

} // namespace

result<std::map<std::string, reconcile_rule>> rules_of(const edge::gateway_options& gateway,
                                                       const reconcile_rule& defaults) {
    std::map<std::string, reconcile_rule> made;
    std::shared_ptr<edge::caller> by;
    if (!gateway.probes.empty()) {
        edge::upstream_options to = gateway.upstream;
        to.answer_time = std::min(to.answer_time, answer_time_max);
        auto opened = edge::caller::make(std::move(to));
        if (!opened) return std::move(opened).error();
        by = *std::move(opened);
    }
    for (const http::route& route : gateway.gate.routes) {
        reconcile_rule rule = defaults;
        rule.retention = route.policy.retention;
        const auto path = gateway.probes.find(route.operation);
        if (path != gateway.probes.end()) {
            rule.probe = http_probe(by, path->second, as_response(route));
        }
        made.emplace(route.operation, std::move(rule));
    }
    return made;
}

result<reconciler_options> reconciler_options_of(const config::config& from) {
    reconciler_options made = from.reconcile.options;
    if (!from.gateway.upstream.empty()) {
        auto rules = rules_of(gateway_options_of(from, nullptr, {}), made.defaults);
        if (!rules) return std::move(rules).error();
        made.operations = *std::move(rules);
        for (const config::route_entry& one : from.routes) {
            set_times(made.operations[one.route.operation], one.times);
        }
    }
    for (const config::operation_entry& one : from.operations) {
        auto added = add_operation(made.operations, one, made.defaults);
        if (!added) return std::move(added).error();
    }
    return made;
}

} // namespace semel::app
