// Reading what a subcommand works on.
#pragma once

#include <string>

namespace semel::app {

// All of standard input. usage_error if it cannot be read.
[[nodiscard]] std::string read_standard_input();

// All of a file. usage_error if it cannot be read.
[[nodiscard]] std::string read_file(const std::string& path);

} // namespace semel::app
