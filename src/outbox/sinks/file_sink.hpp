// Events as lines of JSON, to a file or to standard output.
#pragma once

#include <memory>

#include "net/url.hpp"
#include "semel/outbox/sinks.hpp"

namespace semel::outbox {

[[nodiscard]] result<std::unique_ptr<sink>> open_file_sink(const net::parsed_url& url,
                                                           const sink_options& options);
// What opening it refuses; and whether it could be written to now. Neither creates the file.
[[nodiscard]] result<void> check_file_sink(const net::parsed_url& url);
[[nodiscard]] result<void> try_file_sink(const net::parsed_url& url);
[[nodiscard]] result<std::unique_ptr<sink>> open_stdout_sink(const net::parsed_url& url,
                                                             const sink_options& options);

} // namespace semel::outbox
