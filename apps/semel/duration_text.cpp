#include "duration_text.hpp"

#include "base/units.hpp"
#include "commands.hpp"

namespace semel::app {

duration parse_duration(std::string_view option, std::string_view text) {
    if (const auto read = semel::parse_duration(text)) return *read;
    throw usage_error(std::string{option} +
                      ": expected a time such as 500ms, 30s, 5m, 24h or 3d, not \"" +
                      std::string{text} + "\"");
}

} // namespace semel::app
