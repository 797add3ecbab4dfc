// Executions through the callback form of the engine, a fixed number at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>

#include "bench.hpp"
#include "semel/engine.hpp"

namespace semel::bench {

struct in_flight {
    std::size_t width = 256;
    seconds most{1};
    std::size_t runs_max = std::numeric_limits<std::size_t>::max();
    std::function<std::uint64_t()> next_key = {}; // called by one thread at a time, its number
    outcome_kind expected = outcome_kind::executed;
};

// The work does nothing and answers at once. Says how many executions ended.
[[nodiscard]] std::size_t run_in_flight(engine& on, const in_flight& how);

} // namespace semel::bench
