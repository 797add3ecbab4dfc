// Seeds that once failed: run first, every time. A seed's story changes when the world's draws do;
// until then it stays what it was.
#pragma once

#include <cstdint>

namespace semel::sim {

inline constexpr std::uint64_t corpus[]{
    // An attempt that was begun too late to be run was counted as a failed one.
    7382,
    12022,
    12870,
    // A verdict that an undone attempt gave back could not be corrected any more.
    863725439,
    // A look that was answered after a long pause ended the search for a claim of a lost begin.
    1907125750,
};

} // namespace semel::sim
