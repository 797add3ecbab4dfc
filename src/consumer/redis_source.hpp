// Messages of a group of a Redis stream.
#pragma once

#include <memory>

#include "consumer/source.hpp"
#include "net/url.hpp"

namespace semel::consumer {

[[nodiscard]] result<std::unique_ptr<source>> open_redis_source(const net::parsed_url& url,
                                                                const consumer_options& options);

} // namespace semel::consumer
