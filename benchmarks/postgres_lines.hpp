// What is measured on PostgreSQL, and the lines it makes.
#pragma once

#include <vector>

#include "lines.hpp"

namespace semel::bench {

// Operations per second of each way, in one round.
struct postgres_rates {
    double in_flight = 0, many = 0, lone = 0;
    double replay_in_flight = 0, replay_many = 0, replay_lone = 0;
    double transact_many = 0, transact_threads = 0, transact_lone = 0;
    double pooled_many = 0, pooled_queued_many = 0;
    double queued_many = 0, queued_threads = 0;
    double two_commits = 0, look_up = 0;
    double order = 0, claim_update = 0, shape_many = 0, shape_lone = 0;
    double pooled_shape_many = 0, pooled_queued_shape_many = 0;
    double queued_shape_many = 0;
    double bare_groups = 0, bare_lone = 0, bare_replay = 0;
};

[[nodiscard]] std::vector<line<postgres_rates>> postgres_lines();

} // namespace semel::bench
