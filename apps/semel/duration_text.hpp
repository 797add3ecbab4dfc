// Times on the command line: "500ms", "30s", "5m", "24h", "3d".
#pragma once

#include <string>
#include <string_view>

#include <CLI/CLI.hpp>

#include "semel/base/time.hpp"

namespace semel::app {

// usage_error names the option and the value.
[[nodiscard]] duration parse_duration(std::string_view option, std::string_view text);

// An option whose default is what `to` holds.
CLI::Option* time_option(CLI::App& command, const std::string& name, duration& to,
                         const std::string& about = {});

} // namespace semel::app
