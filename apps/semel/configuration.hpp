// Reading the configuration file of the tool's subcommands.
#pragma once

#include <string>

#include "config/config.hpp"
#include "config/load.hpp"

namespace semel::app {

// Both print everything that is wrong, a line each, and throw CLI::RuntimeError{2}. Relative paths
// in the file begin at its folder.
[[nodiscard]] config::config load_config(const std::string& file);
// For `semel serve`: also refuses what no part of it would take; see refusals.hpp.
[[nodiscard]] config::config load_service(const std::string& file);

} // namespace semel::app
