// Times on the command line: "500ms", "30s", "5m", "24h", "3d".
#pragma once

#include <string>
#include <string_view>

#include "semel/base/time.hpp"

namespace semel::app {

// usage_error names the option and the value.
[[nodiscard]] duration parse_duration(std::string_view option, std::string_view text);

} // namespace semel::app
