// Sinks by their URL.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/log.hpp"
#include "semel/outbox/relay.hpp"

namespace semel::outbox {

// What sinks count. The sinks of many workers may share it. It outlives them.
struct sink_metrics {
    counter batches = {};
    counter delivered = {};
    counter later = {};
    counter rejected = {};
    counter held = {};
    latency_histogram latency = {}; // of a batch
};

// What does not belong into a URL, or is the same for every sink.
struct sink_options {
    std::string secret = {};          // signs webhooks; empty: they are not signed
    std::string old_secret = {};      // signs them, too, while receivers change to the other secret
    sink_metrics* metrics = nullptr;  // outlives the sink
    std::shared_ptr<logger> log = {}; // default: none
};

// Builds the sink a URL names. A server that is away is no error: deliver() answers `later` until
// it is back.
//
//   stdout:                      one line of JSON per event
//   file:path                    the same, appended to a file; file:///absolute/path as well
//     ?sync=yes|no               whether a batch is on the disk before it counts (default yes)
//
//   redis://user:password@host:port/database   entries of a Redis stream; rediss:// for TLS
//     ?stream=NAME               with {topic} in it: the event's topic there (default {topic})
//     &maxlen=N                  about how many entries the stream keeps (default: all)
//     &connect_timeout_ms=N&command_timeout_ms=N&ca_file=FILE&cert_file=FILE&key_file=FILE
//   nats://user:password@host:port   messages of NATS JetStream; nats+tls:// for TLS
//     ?subject=NAME              as above; a stream must take it
//     &window=N                  messages that wait for their acknowledgement
//     &timeout_ms=N              of a batch
//     &connect_timeout_ms=N&ca_file=FILE&cert_file=FILE&key_file=FILE
//   http://host:port/path?query  a POST per event; https:// for TLS. Settings follow a #, which is
//                                never sent: https://host/hook#concurrency=16&secret_file=FILE
//     #secret_file=FILE          signs requests; old_secret_file=FILE signs them too, while
//                                receivers change from one to the other
//     &key=bare|quoted           whether Idempotency-Key is in quotes (default bare)
//     &concurrency=N             requests at the same time (default 8)
//     &timeout_ms=N              of a request; connect_timeout_ms=N, and batch_ms=N, after which
//                                the rest of a batch is not begun
//     &failures_max=N            in a row, then the endpoint is left alone for
//     &pause_ms=N&pause_max_ms=N a pause that doubles
//     &ca_file=FILE&cert_file=FILE&key_file=FILE
//
// In a path and in values %XX stands for a byte; a `?` in a file name is written %3F.
//
// Errors: invalid_argument (the scheme is unknown: the detail lists the schemes; the URL cannot be
// read, or has a parameter that the sink does not know), and the errors of the sink.
[[nodiscard]] result<std::unique_ptr<sink>> open_sink(std::string_view url,
                                                      const sink_options& options = {});

// What open_sink() refuses. Creates and connects nothing; secrets and certificates that the URL
// names are read.
[[nodiscard]] result<void> check_sink(std::string_view url, const sink_options& options = {});

// Whether events would get there now: connects, and sends none; a file is not created.
[[nodiscard]] result<void> try_sink(std::string_view url, const sink_options& options = {});

} // namespace semel::outbox
