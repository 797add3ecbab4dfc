// Bytes and times as the JSON APIs write them. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/rfc3339.hpp"
#include "base/utf8.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel::edge {

// RFC 4648, with padding.
[[nodiscard]] std::string to_base64(std::string_view bytes);
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

// An attempt's claim as one word that means nothing to its holder.
[[nodiscard]] std::string attempt_token(const claim& by);
[[nodiscard]] std::optional<claim> parse_attempt_token(std::string_view text);

// %XX as bytes; none if an escape is malformed.
[[nodiscard]] std::optional<std::string> percent_decoded(std::string_view text);

} // namespace semel::edge
