// Crockford's base32 of a 128-bit value: 26 characters, the first worth three bits.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "semel/ids.hpp"

namespace semel::detail {

enum class letters { upper, lower };

[[nodiscard]] std::string to_base32(uuid128 value, letters alphabet);

enum class accept { both_cases, lower_only };

// Nothing, unless `text` is exactly one 128-bit value.
[[nodiscard]] std::optional<uuid128> from_base32(std::string_view text, accept what);

} // namespace semel::detail
