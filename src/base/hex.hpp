// Bytes as hex digits, and as the escapes of URLs. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace semel {

// Lower case, two digits for each byte.
[[nodiscard]] std::string to_hex(std::string_view bytes);
// None unless to_hex() could have made the text.
[[nodiscard]] std::optional<std::string> from_hex(std::string_view text);

// "%2F" for '/'.
void append_escape(std::string& to, char byte);

// Letters, digits, '-', '.' and '_' as they are, all others as escapes.
[[nodiscard]] std::string percent_escaped(std::string_view text);

} // namespace semel
