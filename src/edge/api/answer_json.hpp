// The store's answers as a client of the JSON APIs gets them.
#pragma once

#include "edge/api/json_response.hpp"
#include "semel/core/command.hpp"

namespace semel::edge {

// What every view of a record begins with: its state, attempts and times.
[[nodiscard]] json summary_json(const record& from);

[[nodiscard]] json_response to_json_response(const semel::reply& got,
                                             const http::problem_options& options);

// For a completion that came after another one of the same attempt, with another result.
[[nodiscard]] json_response already_stored(const record& it, const http::problem_options& options);

} // namespace semel::edge
