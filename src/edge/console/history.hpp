// What has happened in the last minutes, sample by sample. Pure: the caller has the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "edge/api/center_counts.hpp"
#include "edge/gateway/options.hpp"
#include "semel/core/metrics.hpp"
#include "semel/engine.hpp"

namespace semel::edge {

// Everything that is counted, at one moment.
struct console_numbers {
    engine_counters engine = {};
    store_snapshot store = {};
    center_counts center = {};
    gateway_counts gateway = {};
    cache_counters cache = {};
};

// How the store answered when it was last asked.
struct store_pulse {
    bool up = false;
    duration round_trip = {};
};

// From the sample before to this one.
struct sample {
    std::uint64_t number = 0; // 1, 2, 3 …
    time_point at = {};       // this machine's clock
    duration span = {};
    // Requests by what came of them; the engine's and the center's together.
    std::uint64_t executed = 0, replayed = 0, in_progress = 0, mismatched = 0, failed = 0;
    std::uint64_t in_doubt = 0, unavailable = 0;
    std::uint64_t running = 0, waiting = 0; // at its end
    // Of the begins and of the commands that end attempts; zero: there were none.
    std::chrono::nanoseconds begin_p50 = {}, begin_p99 = {}, end_p50 = {}, end_p99 = {};
    std::uint64_t store_calls = 0, store_failures = 0;
    store_pulse pulse = {};
};

struct command_latency {
    std::string_view command = {};
    std::uint64_t calls = 0;
    std::uint64_t failures = 0;
    latency_snapshot took = {};
};

// Not thread-safe.
class history {
public:
    explicit history(std::size_t samples_max) : samples_max_(samples_max) {}

    // The first one only sets the mark that the next is counted from.
    void add(const console_numbers& now, const store_pulse& pulse, time_point at);

    // Those after `number`, oldest first; all if that is none of them.
    [[nodiscard]] std::vector<sample> after(std::uint64_t number) const;
    // Over the last minute, commands that were used at all.
    [[nodiscard]] std::vector<command_latency> latencies() const;

private:
    struct mark {
        time_point at;
        console_numbers numbers;
    };

    const std::size_t samples_max_;
    std::deque<sample> samples_;
    std::deque<mark> marks_; // of the last minute, and one more
    std::uint64_t last_ = 0;
};

} // namespace semel::edge
