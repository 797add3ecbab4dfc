// Times as texts of RFC 3339.
#pragma once

#include <cstdint>
#include <string>

#include "semel/base/time.hpp"

namespace semel {

enum class time_step : std::uint8_t { seconds, milliseconds, microseconds };

// "2026-01-31T12:00:00.000000Z"; with larger steps the fraction is shorter, or not there.
[[nodiscard]] std::string rfc3339(time_point when, time_step step = time_step::microseconds);

} // namespace semel
