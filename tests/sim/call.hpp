// One call of a client on one process's engine, and what came of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "semel/engine.hpp"
#include "sim/scheduler.hpp"

namespace semel::sim {

struct call {
    std::uint64_t serial = 0;
    process_id where = world_process;
    record_id id = {};
    std::optional<fingerprint> content = {};
    bool waits = false;
    bool in_transaction = false;
    duration begun = {};

    // Its own work, if it ran.
    std::uint64_t fence = 0;
    std::optional<duration> work_begun = {};
    std::optional<duration> work_ended = {};
    std::string body = {};

    std::optional<duration> ended = {};
    bool crashed = false; // the process died under it: nobody is owed an answer
    bool cancelled = false;
    outcome_kind kind = outcome_kind::unavailable;
    std::shared_ptr<pending_call> handle = {};
};

} // namespace semel::sim
