// What `--help` says beyond each command's own words: groups and examples.
#pragma once

#include <CLI/CLI.hpp>

namespace semel::app {

// Before the commands are added: they take over what --help is called and says.
void prepare_help(CLI::App& tool);

// After they have been added.
void complete_help(CLI::App& tool);

} // namespace semel::app
