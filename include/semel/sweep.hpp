// Removing records that are not needed any more: how many at once, how often, and the result.
#pragma once

#include <cstddef>
#include <optional>

#include "semel/time.hpp"

namespace semel {

struct sweep_request {
    std::size_t records_max = 1'000;
    std::optional<time_point> now = {}; // for tests only
};

enum class sweep_state { done, more };

struct sweep_report {
    std::size_t removed = 0;
    sweep_state state = sweep_state::done; // more: call again, there was more than records_max
};

struct sweep_options {
    duration idle = std::chrono::minutes{1};      // after a sweep that left nothing behind
    duration busy = std::chrono::milliseconds{5}; // at least, between batches while there is more
    std::size_t records_max = 1'000;              // per batch
    // A batch that took longer makes the next ones smaller.
    duration batch_time = std::chrono::milliseconds{100};
    // How much of the time the sweeper may work while there is more, in percent.
    unsigned share_percent = 10;
};

} // namespace semel
