// Many seeds at once, each run on one thread by itself.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/world.hpp"

namespace semel::sim {

struct batch_options {
    std::span<const std::uint64_t> before = {}; // seeds to run before the others
    std::uint64_t first = 1;
    std::uint64_t count = 2'000;
    unsigned workers = 2;
    std::size_t failures_max = 3; // then it stops
};

struct failed_seed {
    std::uint64_t seed = 0;
    violation what;
};

struct batch_result {
    std::vector<failed_seed> failed;
    tally seen;
    std::uint64_t steps = 0;
    std::uint64_t runs = 0;
};

[[nodiscard]] batch_result run_batch(const batch_options& options);

// The seed that this thread runs right now; for whoever must report a crash.
[[nodiscard]] std::uint64_t current_seed();

} // namespace semel::sim
