// The end of a process that was told to end.
#pragma once

#include "semel/base/time.hpp"

namespace semel::app {

// Beyond the drain time: for files and connections to be closed.
inline constexpr duration closing_time = std::chrono::seconds{5};

// The process has this long to end by itself. Then it ends with exit code 1, whatever its threads
// do. Nothing is lost by that which a client was told of: answers leave only when their records are
// durable.
void end_within(duration time);

} // namespace semel::app
