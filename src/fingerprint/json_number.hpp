// Numbers of canonical JSON.
#pragma once

#include <string>
#include <string_view>

#include "semel/fingerprint/canonical_json.hpp"

namespace semel::detail {

enum class number_outcome { written, out_of_range };

// Appends the canonical text of a number that is already known to follow the JSON grammar.
// Beyond the range of a double nothing is appended.
[[nodiscard]] number_outcome append_number(std::string& out, std::string_view text,
                                           number_profile profile);

// The text ECMAScript prints for a finite double.
void append_double(std::string& out, double value);

} // namespace semel::detail
