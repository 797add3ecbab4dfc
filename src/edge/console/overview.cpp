#include "edge/console/overview.hpp"

#include "edge/api/encoding.hpp"

namespace semel::edge {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

double to_us(std::chrono::nanoseconds what) {
    return static_cast<double>(what.count()) / 1'000.0;
}

// One array per number: what a chart wants.
json series_json(const std::vector<sample>& all) {
    json made = json::object();
    const auto put = [&](const char* name, auto value_of) {
        json& column = made[name] = json::array();
        for (const sample& one : all) column.push_back(value_of(one));
    };
    put("number", [](const sample& one) { return one.number; });
    put("at", [](const sample& one) {
        return std::chrono::floor<milliseconds>(one.at.time_since_epoch()).count();
    });
    put("span_ms",
        [](const sample& one) { return std::chrono::floor<milliseconds>(one.span).count(); });
    put("begin_p50_us", [](const sample& one) { return to_us(one.begin_p50); });
    put("begin_p99_us", [](const sample& one) { return to_us(one.begin_p99); });
    put("end_p50_us", [](const sample& one) { return to_us(one.end_p50); });
    put("end_p99_us", [](const sample& one) { return to_us(one.end_p99); });
    static constexpr std::pair<const char*, std::uint64_t sample::*> counts[] = {
        {"executed", &sample::executed},
        {"replayed", &sample::replayed},
        {"in_progress", &sample::in_progress},
        {"mismatched", &sample::mismatched},
        {"failed", &sample::failed},
        {"in_doubt", &sample::in_doubt},
        {"unavailable", &sample::unavailable},
        {"running", &sample::running},
        {"waiting", &sample::waiting},
        {"store_calls", &sample::store_calls},
        {"store_failures", &sample::store_failures}};
    for (const auto& [name, count] : counts) {
        put(name, [count = count](const sample& one) { return one.*count; });
    }
    return made;
}

json latencies_json(const std::vector<command_latency>& all) {
    json made = json::array();
    for (const command_latency& one : all) {
        made.push_back({{"command", one.command},
                        {"calls", one.calls},
                        {"failures", one.failures},
                        {"p50_us", to_us(one.took.quantile(0.5))},
                        {"p95_us", to_us(one.took.quantile(0.95))},
                        {"p99_us", to_us(one.took.quantile(0.99))}});
    }
    return made;
}

// Since the start, by name.
json totals_json(const console_numbers& of) {
    const engine_counters& engine = of.engine;
    const center_counts& center = of.center;
    return {{"executed", engine.executed + center.started.get()},
            {"replayed", engine.replayed + center.replayed.get()},
            {"in_progress", engine.in_progress + center.in_progress.get()},
            {"mismatched", engine.mismatched + center.mismatched.get()},
            {"failed", engine.failed + center.failed.get()},
            {"in_doubt", engine.in_doubt + center.in_doubt.get()},
            {"unconfirmed", engine.unconfirmed},
            {"unavailable", engine.unavailable + center.unavailable.get()},
            {"lost_leases", engine.lost_leases},
            {"fenced_completions", engine.fenced_completions + center.fenced.get()},
            {"lost_completions", engine.lost_completions},
            {"tombstones", engine.tombstones},
            {"waiters_refused", engine.waiters_refused + center.waiters_refused.get()},
            {"executions_refused", engine.executions_refused},
            {"swept", engine.swept},
            {"gateway_passed", of.gateway.passed},
            {"gateway_guarded", of.gateway.guarded},
            {"gateway_refused", of.gateway.refused},
            {"gateway_bypassed", of.gateway.bypassed},
            {"gateway_unanswered", of.gateway.unanswered},
            {"center_requests", center.requests.get()},
            {"center_refused", center.refused.get()},
            {"cache_hits", of.cache.hits.get()},
            {"cache_misses", of.cache.misses.get()},
            {"cache_bytes", of.cache.bytes.get()}};
}

json store_json(console_core& core, const store_pulse& pulse) {
    return {{"kind", core.options.store},
            {"up", pulse.up},
            {"round_trip_us", pulse.round_trip.count()},
            {"durable", core.records.traits().durable}};
}

} // namespace

json overview_json(console_core& core, std::uint64_t after) {
    const auto recent = core.recently(after);
    json made = {{"version", core.options.version},
                 {"started_at", rfc3339(core.started_at)},
                 {"now", rfc3339(wall_clock())},
                 {"every_ms", std::chrono::floor<milliseconds>(core.options.sample_every).count()},
                 {"samples_max", core.options.samples_max},
                 {"series", series_json(recent.samples)},
                 {"latencies", latencies_json(recent.latencies)},
                 {"store", store_json(core, recent.pulse)},
                 {"outbox", core.outbox.exists()}};
    if (core.options.numbers) made["totals"] = totals_json(core.options.numbers());
    if (const auto lapsed = core.lapsed_records()) {
        made["lapsed"] = {{"records", lapsed->records}, {"more", lapsed->more}};
    }
    return made;
}

} // namespace semel::edge
