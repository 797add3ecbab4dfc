// Whether what a configuration names can be reached: for `semel check-config --connect`.
#pragma once

#include <string>
#include <vector>

#include "config/config.hpp"
#include "semel/base/result.hpp"

namespace semel::app {

struct trial {
    std::string what; // "store.url sqlite:semel.db"; no secrets
    result<void> got = {};
    std::string note = {}; // of what worked
};

// Stores, outboxes, sinks and the file of tokens, in the order of the configuration. Creates and
// writes nothing. Blocking, each for its own time-outs.
[[nodiscard]] std::vector<trial> try_connections(const config::config& of);

} // namespace semel::app
