#include "sim/batch.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>

namespace semel::sim {

namespace {

thread_local std::uint64_t seed_now = 0;

struct shared_state {
    std::atomic<std::uint64_t> next = 0;
    std::atomic<bool> enough = false;
    std::mutex mutex;
    batch_result all; // guarded by mutex
};

void note(shared_state& state, std::uint64_t seed, const run_result& one, std::size_t most) {
    const std::lock_guard lock{state.mutex};
    state.all.seen.add(one.seen);
    state.all.steps += one.steps;
    ++state.all.runs;
    if (!one.broken) return;
    state.all.failed.push_back({seed, *one.broken});
    if (state.all.failed.size() >= most) state.enough = true;
}

void work_off(shared_state& state, const batch_options& options) {
    const std::uint64_t known = options.before.size();
    while (!state.enough) {
        const std::uint64_t at = state.next++;
        if (at >= known + options.count) return;
        seed_now = at < known ? options.before[at] : options.first + (at - known);
        note(state, seed_now, run(seed_now, journal::mode::silent), options.failures_max);
    }
}

} // namespace

std::uint64_t current_seed() {
    return seed_now;
}

batch_result run_batch(const batch_options& options) {
    shared_state state;
    std::vector<std::thread> workers;
    for (unsigned i = 1; i < options.workers; ++i) {
        workers.emplace_back([&] { work_off(state, options); });
    }
    work_off(state, options);
    for (auto& one : workers) one.join();
    std::sort(state.all.failed.begin(), state.all.failed.end(),
              [](const auto& a, const auto& b) { return a.seed < b.seed; });
    return std::move(state.all);
}

} // namespace semel::sim
