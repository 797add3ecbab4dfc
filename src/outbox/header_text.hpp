// Headers as text: `name: value`, a line each. Plain enough for an operator with SQL.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "semel/outbox.hpp"

namespace semel::outbox {

void add_header_line(std::string& to, const event_header& one);

// What is not a line of the form above is left out.
void read_header_lines(std::string_view text, std::vector<event_header>& to);

// Visible ASCII without a colon, at least one letter.
[[nodiscard]] bool is_header_name(std::string_view name);
// No control characters, and no blank at either end.
[[nodiscard]] bool is_header_value(std::string_view value);

} // namespace semel::outbox
