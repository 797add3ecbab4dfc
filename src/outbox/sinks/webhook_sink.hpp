// Events as requests to an HTTP endpoint.
#pragma once

#include <memory>
#include <string_view>

#include "semel/outbox/sinks.hpp"

namespace semel::outbox {

// http:// and https://. What follows a `#` is ours and not sent.
[[nodiscard]] result<std::unique_ptr<sink>> open_webhook_sink(std::string_view url,
                                                              const sink_options& options);

} // namespace semel::outbox
