// Events as entries of Redis streams.
#pragma once

#include <memory>

#include "net/url.hpp"
#include "semel/outbox/sinks.hpp"

namespace semel::outbox {

// redis:// and rediss://
[[nodiscard]] result<std::unique_ptr<sink>> open_redis_sink(const net::parsed_url& url,
                                                            const sink_options& options);

} // namespace semel::outbox
