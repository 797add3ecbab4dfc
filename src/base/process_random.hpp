// Random numbers, for owners and the like.
#pragma once

#include <cstdint>

namespace semel {

// Differs from what other threads, machines and processes draw, also from those of a process that
// was forked from this one, or this one from it.
[[nodiscard]] std::uint64_t process_random();

} // namespace semel
