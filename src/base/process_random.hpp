// Random numbers, for owners and the like.
#pragma once

#include <cstdint>

namespace semel {

// Other threads, machines and processes draw other numbers. This is also true for a process that
// was forked from this one, and for the parent of this one.
[[nodiscard]] std::uint64_t process_random();

} // namespace semel
