// What the command line asked for.
#pragma once

#include <cstdint>
#include <optional>

namespace semel::sim {

struct sim_options {
    std::uint64_t first = 1;
    std::uint64_t seeds = 2'000;
    std::optional<std::uint64_t> replayed = {};
};

[[nodiscard]] sim_options& asked_for();

} // namespace semel::sim
