// The text of one log line, after its time and level.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "semel/log.hpp"

namespace semel {

// A JSON string with its quotes. Pure ASCII control characters are escaped, and bytes that are not
// UTF-8 become U+FFFD, so the line is valid JSON whatever `text` is.
void append_json_string(std::string& line, std::string_view text);

// "message":"…","fields":{…} without the outer braces; no fields, no "fields".
[[nodiscard]] std::string json_members(std::string_view message, std::span<const log_field> fields);

// message name=value name="two words"
[[nodiscard]] std::string pretty_text(std::string_view message, std::span<const log_field> fields);

} // namespace semel
