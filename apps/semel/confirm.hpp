// Acts that cannot be undone are asked about, or said yes to beforehand.
#pragma once

#include <string>

namespace semel::app {

enum class consent { ask, given };

// Asks on the terminal. usage_error where there is none and consent was not given;
// CLI::RuntimeError{1} where the answer is no.
void confirm(const std::string& question, consent how);

} // namespace semel::app
