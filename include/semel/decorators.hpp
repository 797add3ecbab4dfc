// Stores that wrap a store. Each is as thread-safe as any store and owns what it wraps.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

#include "semel/metrics.hpp"
#include "semel/store.hpp"
#include "semel/time.hpp"

namespace semel {

struct cache_options {
    // Keys, results and their book-keeping; never exceeded. It is split into up to 256 parts of at
    // least 4 MiB, and an answer that would take more than a quarter of a part is not kept.
    std::size_t bytes_max = std::size_t{256} << 20;
    // How long the cache answers without asking the store again. A change by an operator, or by an
    // overwriting begin in another process, is seen here after this time at the latest.
    duration age_max = std::chrono::minutes{1};
    cache_counters* counters = nullptr;     // outlives the store; null: nothing is counted
    std::function<local_time()> clock = {}; // for tests only; empty: local_clock
};

// A near cache of finished records: a repeat of a request that succeeded or failed for good is
// answered inline, without a round trip.
//
// An answer is given only to a begin with the very same `content` as the begin it was first given
// to (both may have none), and not past the record's expiry, counted on the boot-time clock from
// before the store was asked. Everything else goes to the store, which alone tells a mismatch.
// Begins with on_mismatch::overwrite always go to the store and make the cache forget the record;
// so do remove, resolve, purge and the commands of an attempt. While a remove, a resolve or an
// overwriting begin is on its way, nothing is remembered that could predate it; one that fails with
// effect::unknown may still be applied later and is then seen within age_max.
[[nodiscard]] std::unique_ptr<store> cached(std::unique_ptr<store> inner,
                                            cache_options options = {});

struct meter_options {
    // For tests only; empty: std::chrono::steady_clock. Latencies are differences, never deadlines,
    // and need finer steps than local_clock has.
    std::function<std::chrono::nanoseconds()> clock = {};
};

// Counts every command, its answer or failure, and the time between. `metrics` outlives the store.
[[nodiscard]] std::unique_ptr<store> metered(std::unique_ptr<store> inner, store_metrics& metrics,
                                             meter_options options = {});

} // namespace semel
