// What the command line asked for.
#pragma once

#include <cstdint>
#include <optional>

namespace semel::sim {

struct sim_options {
    std::optional<std::uint64_t> first = {}; // none: seeds that were hardly ever run before
    std::uint64_t seeds = 100'000;
    std::optional<std::uint64_t> replayed = {};
};

[[nodiscard]] sim_options& asked_for();

} // namespace semel::sim
