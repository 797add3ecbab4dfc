// What an event carries beside its payload, as header lines of HTTP and NATS. Pure; any thread.
//
//   Semel-Topic, Semel-Key            the event's
//   traceparent, tracestate           as they are, so that the receiver goes on with the trace
//   Semel-Header-<name>               every other header of the event
//
// Names and values may hold anything, a line end too. What has no place in a header line goes as
// %XX; a `%` before two hex digits is itself written %25, so every value can be had back.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "semel/outbox.hpp"

namespace semel::outbox::carried {

inline constexpr std::string_view topic = "Semel-Topic";
inline constexpr std::string_view key = "Semel-Key";
inline constexpr std::string_view header_prefix = "Semel-Header-";

[[nodiscard]] std::string safe_name(const event_header& one);
[[nodiscard]] std::string safe_value(std::string_view value);

// The event's header behind a line, or none if the line carries no header of an event.
[[nodiscard]] std::optional<event_header> header_behind(std::string_view name,
                                                        std::string_view value);
[[nodiscard]] std::string value_behind(std::string_view value);

} // namespace semel::outbox::carried
