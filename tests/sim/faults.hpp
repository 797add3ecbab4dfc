// Which faults a run has, and how many: every seed enables its own subset (a swarm), because a run
// with all faults at once rarely gets far enough to be interesting.
#pragma once

#include "semel/base/time.hpp"
#include "sim/dice.hpp"

namespace semel::sim {

struct fault_plan {
    // Per command, in a thousand.
    unsigned lost_reply = 0;    // applied, and the answer is lost
    unsigned lost_request = 0;  // not applied; the caller cannot know
    unsigned delayed_apply = 0; // applied after the caller was told "timed out"
    unsigned refused = 0;       // a clean error: nothing happened
    // Mean time between two of a kind; zero: never.
    duration crash_every = {};
    duration pause_every = {};
    duration outage_every = {};
    duration clock_step_every = {};
    duration corrupt_every = {};
    duration operator_every = {};
    // Bounds of one.
    duration pause_max = {};
    duration outage_max = {};
    duration clock_step_max = {};
    duration late_max = {};
    // The store's pace and room.
    duration latency_max = {};
    std::size_t queue_max = 0;
    std::size_t batch_max = 0;
    // Per call, in a thousand.
    unsigned cancelled = 0;
    // Per end of an attempt and listener, in a thousand.
    unsigned lost_news = 0;
};

[[nodiscard]] fault_plan choose_faults(dice& random);
// The world after it has healed: only the store's pace stays.
[[nodiscard]] fault_plan healed(const fault_plan& before);

} // namespace semel::sim
