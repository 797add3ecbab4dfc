// Messages of a pull consumer of NATS JetStream.
#pragma once

#include <memory>

#include "consumer/source.hpp"
#include "net/url.hpp"

namespace semel::consumer {

[[nodiscard]] result<std::unique_ptr<source>> open_nats_source(const net::parsed_url& url,
                                                               const consumer_options& options);

} // namespace semel::consumer
