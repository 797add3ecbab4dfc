// Events as messages of NATS JetStream.
#pragma once

#include <memory>

#include "net/url.hpp"
#include "semel/outbox/sinks.hpp"

namespace semel::outbox {

// nats:// and nats+tls://
[[nodiscard]] result<std::unique_ptr<sink>> open_nats_sink(const net::parsed_url& url,
                                                           const sink_options& options);

} // namespace semel::outbox
