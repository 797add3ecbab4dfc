#include "edge/console/history.hpp"

#include <algorithm>
#include <numeric>

namespace semel::edge {
namespace {

using std::chrono::minutes;

// Counters only rise; each was read alone, so two may be a moment apart.
std::uint64_t rise(std::uint64_t from, std::uint64_t to) {
    return to > from ? to - from : 0;
}

latency_snapshot rise(const latency_snapshot& from, const latency_snapshot& to) {
    latency_snapshot made;
    for (std::size_t at = 0; at < made.buckets.size(); ++at) {
        made.buckets[at] = rise(from.buckets[at], to.buckets[at]);
    }
    made.sum = std::max(std::chrono::nanoseconds::zero(), to.sum - from.sum);
    return made;
}

std::uint64_t failures_of(const command_snapshot& one) {
    return std::accumulate(one.failures.begin(), one.failures.end(), std::uint64_t{0});
}

template <class Command> constexpr std::size_t index_of() {
    return command{Command{}}.index();
}

struct totals {
    std::uint64_t calls = 0;
    std::uint64_t failures = 0;
};

totals totals_of(const store_snapshot& from) {
    totals all;
    for (const command_snapshot& one : from.commands) {
        all.calls += one.calls;
        all.failures += failures_of(one);
    }
    return all;
}

void count_requests(sample& to, const console_numbers& a, const console_numbers& b) {
    const engine_counters &from = a.engine, &now = b.engine;
    to.executed = rise(from.executed, now.executed) + rise(a.center.started, b.center.started);
    to.replayed = rise(from.replayed, now.replayed) + rise(a.center.replayed, b.center.replayed);
    to.in_progress =
        rise(from.in_progress, now.in_progress) + rise(a.center.in_progress, b.center.in_progress);
    to.mismatched =
        rise(from.mismatched, now.mismatched) + rise(a.center.mismatched, b.center.mismatched);
    to.failed = rise(from.failed, now.failed) + rise(a.center.failed, b.center.failed);
    to.in_doubt = rise(from.in_doubt, now.in_doubt) + rise(a.center.in_doubt, b.center.in_doubt);
    to.unavailable = rise(from.unavailable + from.unconfirmed, now.unavailable + now.unconfirmed) +
                     rise(a.center.unavailable, b.center.unavailable);
    to.running = now.running;
    to.waiting = now.waiting + b.center.waiting;
}

void count_store(sample& to, const store_snapshot& from, const store_snapshot& now) {
    const auto took = [&](std::size_t at) {
        return rise(from.commands[at].latency, now.commands[at].latency);
    };
    const latency_snapshot begins = took(index_of<commands::begin>());
    const latency_snapshot ends = took(index_of<commands::complete>());
    to.begin_p50 = begins.quantile(0.5);
    to.begin_p99 = begins.quantile(0.99);
    to.end_p50 = ends.quantile(0.5);
    to.end_p99 = ends.quantile(0.99);
    to.store_calls = rise(totals_of(from).calls, totals_of(now).calls);
    to.store_failures = rise(totals_of(from).failures, totals_of(now).failures);
}

} // namespace

void history::add(const console_numbers& now, const store_pulse& pulse, time_point at) {
    if (!marks_.empty()) {
        const mark& before = marks_.back();
        sample made{.number = ++last_, .at = at, .span = at - before.at, .pulse = pulse};
        count_requests(made, before.numbers, now);
        count_store(made, before.numbers.store, now.store);
        samples_.push_back(made);
        if (samples_.size() > samples_max_) samples_.pop_front();
    }
    marks_.push_back({.at = at, .numbers = now});
    // The oldest stays just over a minute behind: it is what the minute is counted from.
    while (marks_.size() > 2 && marks_[1].at + minutes{1} <= at) marks_.pop_front();
}

std::vector<sample> history::after(std::uint64_t number) const {
    const bool known = number <= last_ && !samples_.empty();
    const auto newer = [&](const sample& one) { return !known || one.number > number; };
    return {std::find_if(samples_.begin(), samples_.end(), newer), samples_.end()};
}

std::vector<command_latency> history::latencies() const {
    std::vector<command_latency> all;
    if (marks_.empty()) return all;
    const store_snapshot& from = marks_.front().numbers.store;
    const store_snapshot& now = marks_.back().numbers.store;
    for (std::size_t at = 0; at < now.commands.size(); ++at) {
        const command_snapshot &a = from.commands[at], &b = now.commands[at];
        if (b.calls == 0) continue;
        all.push_back({.command = command_name(at),
                       .calls = rise(a.calls, b.calls),
                       .failures = rise(failures_of(a), failures_of(b)),
                       .took = rise(a.latency, b.latency)});
    }
    return all;
}

} // namespace semel::edge
