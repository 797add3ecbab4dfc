// An operator's verdict, read from JSON and checked against every limit.
#pragma once

#include <string>
#include <variant>

#include <nlohmann/json.hpp>

#include "edge/console/console.hpp"
#include "semel/core/command.hpp"

namespace semel::edge {

// {"fence": "…", "verdict": "committed", "reason": "…",
//  "result": {"text" or "base64", "type", "ref", "kind"}}             what the work came to
//  or "response": {"status", "type", "text" or "base64", "ref"}}      the same of a gateway's route
// {"fence", "verdict": "not_executed", "reason"}                      it may run again
// {"fence", "verdict": "failed", "error", "reason"}                   it is not to run again
// The actor is left to the caller. A text: what is wrong.
[[nodiscard]] std::variant<commands::resolve, std::string>
read_resolution(const nlohmann::json& body, const console_operation& about, const limits& most);

inline constexpr std::size_t reason_bytes_max = 1'000;

} // namespace semel::edge
