// Field by field equality of answers.
#pragma once

#include "semel/core/command.hpp"

namespace semel::conformance {

[[nodiscard]] bool same(const answer& left, const answer& right);

} // namespace semel::conformance
