// The demo: repeats, crashes and a slow owner, each shown at a naive service and at one with semel.
#pragma once

#include <string>

namespace semel::demo {

enum class output { text, json };

enum class judgement { as_promised, not_as_promised };

struct options {
    std::string folder = {}; // new, and kept; empty: a temporary one
    output how = output::text;
};

// Plays all scenes and writes to standard output what happens. Forks processes, so no other thread
// may run yet. Throws std::invalid_argument if the folder cannot be used, and std::runtime_error.
[[nodiscard]] judgement play(const options& with);

} // namespace semel::demo
