#include "edge/gateway/options.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "engine/plan.hpp"

namespace semel::edge {
namespace {

failure wrong(std::string_view option, std::string_view why) {
    return {.code = errc::invalid_argument,
            .detail = std::string{option} + ": " + std::string{why}};
}

result<void> check_upstream(const upstream_options& upstream) {
    if (upstream.url.at.host.empty()) return wrong("upstream.url", "the host is missing");
    if (upstream.connections_max == 0) return wrong("upstream.connections_max", "must not be zero");
    const std::array<std::pair<std::string_view, duration>, 4> all = {
        {{"upstream.connect_time", upstream.connect_time},
         {"upstream.answer_time", upstream.answer_time},
         {"upstream.progress_time", upstream.progress_time},
         {"upstream.idle_time", upstream.idle_time}}};
    for (const auto& [name, time] : all) {
        if (time <= duration::zero()) return wrong(name, "must be longer than nothing");
    }
    if (upstream.answer_bytes_max == 0)
        return wrong("upstream.answer_bytes_max", "must not be zero");
    return {};
}

// As the engine will judge them, but before anything is opened.
result<void> check_policies(const http::gate_options& gate) {
    for (const http::route& one : gate.routes) {
        const auto fine = semel::check(one.policy, gate.limits);
        if (!fine) return wrong("routes." + one.operation, fine.error().detail);
    }
    return {};
}

result<void> check_probes(const gateway_options& options) {
    const auto& routes = options.gate.routes;
    for (const auto& [operation, path] : options.probes) {
        const auto is_its = [&its = operation](const http::route& one) {
            return one.operation == its;
        };
        const auto found = std::find_if(routes.begin(), routes.end(), is_its);
        const std::string name = "probes." + operation;
        if (found == routes.end()) return wrong(name, "no route has this operation");
        if (found->policy.on_lease_expiry != lease_expiry::probe) {
            return wrong(name, "the route's on_lease_expiry is not probe");
        }
        const bool visible = std::all_of(path.begin(), path.end(),
                                         [](char c) { return c > ' ' && c < '\x7f' && c != '#'; });
        if (!path.starts_with('/') || path.starts_with("//") || !visible) {
            return wrong(name, "must be a path of the upstream, as in /outcome");
        }
    }
    return {};
}

} // namespace

result<void> check(const gateway_options& options) {
    if (auto fine = check(options.server); !fine) return fine;
    if (auto fine = check_upstream(options.upstream); !fine) return fine;
    if (auto fine = check_policies(options.gate); !fine) return fine;
    if (auto fine = check_probes(options); !fine) return fine;
    if (options.drain_time < duration::zero()) return wrong("drain_time", "must not be negative");
    auto gate = http::gate::make(options.gate);
    if (!gate) return std::move(gate).error();
    return {};
}

result<std::map<std::string, operation_policy>> operations_of(const gateway_options& options) {
    auto gate = http::gate::make(options.gate);
    if (!gate) return std::move(gate).error();
    return gate->operations();
}

} // namespace semel::edge
