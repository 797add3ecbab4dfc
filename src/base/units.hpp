// Durations like "30s" or "1h30m" and sizes like "8MiB". Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "semel/base/time.hpp"

namespace semel {

// Whole numbers with us, ms, s, m, h or d, one behind the other: "1h30m". "0s" is none at all.
[[nodiscard]] std::optional<duration> parse_duration(std::string_view text);
[[nodiscard]] std::string show_duration(duration what);

// A whole number with B, KiB, MiB or GiB.
[[nodiscard]] std::optional<std::size_t> parse_size(std::string_view text);
[[nodiscard]] std::string show_size(std::size_t bytes);

// Digits only, and no overflow.
[[nodiscard]] std::optional<std::int64_t> parse_count(std::string_view digits);

} // namespace semel
