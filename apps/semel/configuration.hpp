// Reading the configuration file of the tool's subcommands.
#pragma once

#include <string>

#include "config/config.hpp"
#include "config/load.hpp"

namespace semel::app {

// Prints everything that is wrong, a line each, and throws CLI::RuntimeError{2}.
[[nodiscard]] config::config load_config(const std::string& file);

} // namespace semel::app
