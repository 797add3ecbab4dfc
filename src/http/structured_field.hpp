// The Item of RFC 9651, as far as a key header needs it: the text of a String, and whether the rest
// is well formed. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace semel::http {

// The String in a header that holds one Item; none if the Item is malformed or of another type.
// Parameters are checked and dropped.
[[nodiscard]] std::optional<std::string> parse_sf_string(std::string_view field);

// Precondition: printable ASCII.
[[nodiscard]] std::string spell_sf_string(std::string_view text);

} // namespace semel::http
