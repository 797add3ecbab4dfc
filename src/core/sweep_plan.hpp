// When to sweep next: batch after batch while there is more, throttled, and rarely when there is
// not.
#pragma once

#include "semel/result.hpp"
#include "semel/sweep.hpp"
#include "semel/time.hpp"

namespace semel {

// How long to stay away after this report (or failure).
[[nodiscard]] duration next_sweep(const sweep_options& options, const result<sweep_report>& last);

} // namespace semel
