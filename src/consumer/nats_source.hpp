// Messages of a pull consumer of NATS JetStream.
#pragma once

#include <memory>

#include "consumer/source.hpp"
#include "open/url.hpp"

namespace semel::consumer {

[[nodiscard]] result<std::unique_ptr<source>> open_nats_source(const store_url& url,
                                                               const consumer_options& options);

} // namespace semel::consumer
