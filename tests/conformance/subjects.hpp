// The stores of this project as subjects of the conformance suite.
#pragma once

#include <vector>

#include "semel/conformance.hpp"

namespace semel::conformance {

[[nodiscard]] std::vector<subject> subjects();

} // namespace semel::conformance
