// How long a thread waits for a moment before it looks at the clock again.
#pragma once

#include <algorithm>
#include <chrono>

#include "semel/base/time.hpp"

namespace semel {

// Condition variables wait by a clock that stands still while the machine is suspended. local_clock
// goes on. So a long wait is cut into slices: after a resume no wait ends later than by one
// slice, and an idle process wakes up once a second at most.
inline duration wait_slice(duration left) {
    return std::min<duration>(left, std::chrono::seconds{1});
}

} // namespace semel
