#include "semel/core/metrics.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>
#include <utility>

#include "semel/base/result.hpp"

namespace semel {

namespace {

template <std::size_t N>
std::array<std::uint64_t, N> values_of(const std::array<counter, N>& counters) {
    std::array<std::uint64_t, N> values{};
    std::transform(counters.begin(), counters.end(), values.begin(),
                   [](const counter& one) { return one.get(); });
    return values;
}

template <std::size_t N> std::uint64_t sum_of(const std::array<std::uint64_t, N>& values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

template <class One> One any() {
    if constexpr (std::is_default_constructible_v<One>) {
        return One{};
    } else {
        return One{.stored = fingerprint{fingerprint::bytes_type{}}}; // answers::mismatch
    }
}

template <class Variant, std::size_t... I>
std::array<std::string_view, sizeof...(I)> names_of(std::index_sequence<I...>) {
    return {name(Variant{any<std::variant_alternative_t<I, Variant>>()})...};
}

command_snapshot snapshot_of(const store_metrics::per_command& counts) {
    command_snapshot taken;
    taken.answers = values_of(counts.answers);
    taken.failures = values_of(counts.failures);
    taken.in_doubt = counts.in_doubt.get();
    taken.latency = counts.latency.snapshot();
    // Read last, since every answer above belongs to a call counted earlier; relaxed loads do not
    // promise that order, so the difference is kept from wrapping.
    taken.calls = counts.calls.get();
    const std::uint64_t answered = sum_of(taken.answers) + sum_of(taken.failures);
    taken.in_flight = taken.calls - std::min(taken.calls, answered);
    return taken;
}

} // namespace

std::uint64_t latency_snapshot::count() const {
    return sum_of(buckets);
}

std::chrono::nanoseconds latency_snapshot::quantile(double share) const {
    const auto wanted = std::max(1.0, std::ceil(share * static_cast<double>(count())));
    std::uint64_t passed = 0;
    for (std::size_t i = 0; i < bucket_count; ++i) {
        passed += buckets[i];
        if (static_cast<double>(passed) >= wanted) {
            return std::chrono::nanoseconds{std::int64_t{1} << i};
        }
    }
    return {};
}

void latency_histogram::record(std::chrono::nanoseconds took) noexcept {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(0, took.count()));
    const auto bucket = static_cast<std::size_t>(std::bit_width(ns));
    buckets_[std::min(bucket, buckets_.size() - 1)].add();
    sum_.add(ns);
}

latency_snapshot latency_histogram::snapshot() const {
    return {.buckets = values_of(buckets_),
            .sum = std::chrono::nanoseconds{static_cast<std::int64_t>(sum_.get())}};
}

std::string_view command_name(std::size_t index) {
    static const auto names = names_of<command>(std::make_index_sequence<command_kinds>{});
    SEMEL_ASSERT(index < names.size());
    return names[index];
}

std::string_view answer_name(std::size_t index) {
    static const auto names = names_of<answer>(std::make_index_sequence<answer_kinds>{});
    SEMEL_ASSERT(index < names.size());
    return names[index];
}

store_snapshot store_metrics::snapshot() const {
    store_snapshot taken;
    std::transform(commands.begin(), commands.end(), taken.commands.begin(), snapshot_of);
    taken.sweeps = sweeps.get();
    taken.sweep_failures = sweep_failures.get();
    taken.swept = swept.get();
    return taken;
}

void size_histogram::record(std::size_t size) noexcept {
    const auto index = size <= 1 ? 0 : static_cast<std::size_t>(std::bit_width(size - 1));
    buckets_[std::min(index, bucket_count - 1)].add();
}

std::array<std::uint64_t, size_histogram::bucket_count> size_histogram::snapshot() const {
    std::array<std::uint64_t, bucket_count> taken{};
    std::transform(buckets_.begin(), buckets_.end(), taken.begin(),
                   [](const counter& one) { return one.get(); });
    return taken;
}

} // namespace semel
