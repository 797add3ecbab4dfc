// What the center counts, and the console shows.
#pragma once

#include "semel/core/metrics.hpp"

namespace semel::edge {

// Since the start, except `waiting`.
struct center_counts {
    counter requests = {};
    counter refused = {};  // without the right token, or malformed
    counter commands = {}; // begins, completions and so on, each item of a batch
    counter started = {};  // begins that were granted
    counter replayed = {}; // begins that were answered from the record
    // Begins that were refused by the record.
    counter in_progress = {}, mismatched = {}, failed = {}, in_doubt = {};
    counter fenced = {}; // commands of attempts that had lost their record
    counter unavailable = {};
    counter waiters_refused = {};
    counter waiting = {}; // now
};

} // namespace semel::edge
