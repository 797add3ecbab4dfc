// What `semel serve` refuses before it opens anything, and `semel check-config` with it.
#pragma once

#include "config/load.hpp"

namespace semel::app {

// Reads files that the configuration names (tokens, certificates, keys); opens, creates and
// connects nothing. `is_sound`: nothing was found in the file by itself.
[[nodiscard]] config::complaints refusals(const config::config& of, bool is_sound);

} // namespace semel::app
