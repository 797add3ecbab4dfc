// The words of a problem, for edges that say it in another form than problem+json.
#pragma once

#include <string_view>

#include "semel/http/problem.hpp"

namespace semel::http {

// "The Idempotency-Key was used with another request".
[[nodiscard]] std::string_view title(problem_kind kind);

} // namespace semel::http
