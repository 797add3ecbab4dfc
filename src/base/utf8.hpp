// Whether bytes are text.
#pragma once

#include <cstddef>
#include <string_view>

namespace semel {

// The length of the well-formed UTF-8 character at the start of `text`, or 0. Table 3-7 of the
// Unicode standard: no overlong forms, no surrogates, nothing above U+10FFFF. Precondition: there
// is a byte.
[[nodiscard]] std::size_t utf8_length(std::string_view text);

[[nodiscard]] bool is_utf8(std::string_view text);

} // namespace semel
