// What really happened, as only the simulator can know it: written by the database and the work,
// read by the checkers. The engine never sees it.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel::sim {

struct claim_seen {
    owner_id owner = {};
    record_policy policy = {};
    std::optional<fingerprint> content = {};
    std::uint32_t epoch = 0;
    duration at = {};
    unsigned effects = 0;
    std::optional<record> replaced = {}; // by its begin; none: the record was absent
    std::uint32_t epoch_before = 0;
    bool ran = false;
    std::uint32_t where = 0; // the process whose work runs under it
};

struct result_seen {
    stored_result result = {};
    std::optional<fingerprint> content = {}; // of the request that made it
    duration at = {};
    bool damaged = false; // by the simulator, on purpose
};

// Everything about one record id, over the whole run and beyond its removal.
struct key_seen {
    std::uint64_t fence_max = 0;
    // Counts what a new life of the record is: first claims, overwrites, operator's verdicts.
    std::uint32_t epoch = 0;
    std::map<std::uint64_t, claim_seen> claims;   // by fence
    std::map<std::uint64_t, result_seen> results; // by fence
    std::map<std::uint32_t, unsigned> transacted; // epoch → effects inside transactions
    std::set<std::string> errors;                 // told by any work on it
    std::set<fingerprint> contents;
    std::set<std::pair<std::uint64_t, std::uint64_t>>
        lost_begins; // owners, answers unknown to them
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t> askers; // owner → process
    std::optional<std::uint64_t> granted; // fence of the last verdict "not executed"
    std::set<std::uint64_t> ends_sent;    // fences whose complete, fail, release or abandon left
    std::map<std::uint32_t, duration> work_ended; // last, by process
    std::optional<duration> busy_at;              // when it was last in progress
    std::optional<time_point> busy_until;         // in progress since `noted`, by the store's clock
    time_point noted_now = {};
    duration noted_at = {};
};

struct ghost {
    std::map<record_id, key_seen> keys;
};

} // namespace semel::sim
