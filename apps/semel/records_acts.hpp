// semel records resolve, delete: acts of an operator, audited.
#pragma once

#include <CLI/CLI.hpp>

namespace semel::app {

void add_record_acts(CLI::App& family);

} // namespace semel::app
