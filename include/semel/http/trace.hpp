// The trace a request belongs to, as W3C Trace Context writes it. Pure; any thread.
#pragma once

#include <string_view>

#include "semel/http/message.hpp"

namespace semel::http {

// The 32 hex digits of the trace in `traceparent`, for log lines; empty: there is none, or it is
// malformed. The header itself travels on untouched. Lives as long as the headers.
[[nodiscard]] std::string_view trace_of(const header_list& headers);

} // namespace semel::http
