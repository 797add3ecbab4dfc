// Bodies and other texts of strangers on a terminal: as they are, but nothing that steers it.
#pragma once

#include <string>
#include <string_view>

namespace semel::app {

// JSON gets lines and indents; no digit, name or escape of it changes. Other texts stay as they
// are.
[[nodiscard]] std::string laid_out(std::string_view text);

// UTF-8 and line ends stay; control characters, those that turn the direction of writing, and bytes
// that are no UTF-8 become \xNN.
[[nodiscard]] std::string harmless(std::string_view text);

} // namespace semel::app
