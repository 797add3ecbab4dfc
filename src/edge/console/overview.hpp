// The console's first page as JSON.
#pragma once

#include <cstdint>

#include <nlohmann/json.hpp>

#include "edge/console/console_core.hpp"

namespace semel::edge {

// Samples after this number only, and everything else as it is now.
[[nodiscard]] nlohmann::json overview_json(console_core& core, std::uint64_t after);

} // namespace semel::edge
