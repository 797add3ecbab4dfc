// The fields of an event in an entry of a Redis stream. Bytes go as they are.
#pragma once

#include <string_view>

namespace semel::outbox::stream_fields {

inline constexpr std::string_view id = "id";
inline constexpr std::string_view topic = "topic";
inline constexpr std::string_view key = "key";
inline constexpr std::string_view payload = "payload";
inline constexpr std::string_view header_prefix = "header:"; // and the header's name

} // namespace semel::outbox::stream_fields
