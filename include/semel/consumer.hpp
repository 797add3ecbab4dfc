// Consumers: messages that a broker delivers at least once take effect once.
//
//   semel::engine inbox{semel::open_store("postgres://…").value()};
//   auto consumer = semel::consumer::open_consumer(
//       "redis://127.0.0.1/0?stream=orders&group=billing",
//       semel::consumer::once_each(inbox, {.tenant = "acme", .operation = "BILL_ORDER"},
//           [](const semel::consumer::received& got, semel::execution&) { bill(got.event); }))
//       .value();
//   consumer->run(stop_token);
//
// A message that was handled before is acknowledged and not run. A message that another consumer is
// running comes again later. A message that fails comes again, after longer and longer pauses. A
// message that has failed too often is parked in a dead-letter stream. The event's id is the key:
// run() may be killed at any moment.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/function.hpp"
#include "semel/base/result.hpp"
#include "semel/core/metrics.hpp"
#include "semel/engine.hpp"
#include "semel/log.hpp"
#include "semel/outbox.hpp"

namespace semel::consumer {

struct received {
    outbox::event event;          // without an id of its own: "<stream>:<number in the stream>"
    std::uint32_t deliveries = 1; // this one included, as far as the broker counts them
};

// The result of one message.
struct handled {
    consumed how = consumed::unavailable;
    std::uint32_t attempts = 0; // this one included; 0: it was not run
    std::string error = {};
};

// Returns one answer per message, in their order. If it throws, all messages count as `failed`.
using handler = unique_function<std::vector<handled>(std::span<const received> batch,
                                                     std::uint32_t attempts_max)>;

using work = unique_function<void(const received&, execution&)>;

// Over engine.consume_batch: one store round trip claims the batch and one completes it. `scope`
// names tenant and operation, and may set lease and retention. The engine outlives the handler.
[[nodiscard]] handler once_each(engine& with, request scope, work what);

// The inbox in the consumer's own database: record, rows and outbox events of a message commit in
// one transaction. `connection` is called for each message, and may replace a broken connection. If
// it throws, the message is `unavailable`.
[[nodiscard]] handler in_transaction(engine& with, request scope,
                                     unique_function<transaction&()> connection, work what);

// What consumers count. Several consumers may share it. It outlives them.
struct consumer_metrics {
    counter fetched = {};
    counter executed = {};
    counter duplicates = {};
    counter in_progress = {};
    counter failed = {};
    counter unavailable = {};       // the store could not tell
    counter parked = {};            // dead letters
    counter acknowledged = {};      // duplicates and dead letters too
    counter interruptions = {};     // connections lost, exchanges failed
    latency_histogram latency = {}; // of a batch, from its arrival to its acknowledgement
};

struct consumer_options {
    std::size_t batch_max = 100;
    // A message that was run so often and failed is parked.
    std::uint32_t attempts_max = 10;
    // The pause before a message that failed, or is in progress elsewhere, comes again. It doubles.
    duration retry_first = std::chrono::seconds{1};
    duration retry_max = std::chrono::minutes{1};
    // After this time the messages of a consumer that has died go to other consumers.
    duration claim_after = std::chrono::seconds{60};
    consumer_metrics* metrics = nullptr; // outlives the consumer
    std::shared_ptr<logger> log = {};    // default: spdlog to stderr, warnings and above
};

class runner {
public:
    runner() = default;
    runner(const runner&) = delete;
    runner& operator=(const runner&) = delete;
    virtual ~runner() = default;

    // Consumes on the calling thread until `stop` is requested. The running batch is finished
    // first, and messages that were not run are given back. After a lost connection it connects
    // again, with growing pauses. It returns early only if the first connection fails for a reason
    // that waiting does not change: errc::invalid_argument (user, password, names), unsupported,
    // not_a_store.
    [[nodiscard]] virtual result<void> run(std::stop_token stop) = 0;
};

// Builds the consumer a URL names:
//
//   redis://user:password@host:port/database   a group of a Redis stream; rediss:// for TLS
//     ?stream=NAME&group=NAME    made where they are missing, from the stream's beginning
//     &consumer=NAME             in the group; default: another one for every consumer
//     &dead=NAME                 stream of dead letters, default <stream>:dead
//     &connect_timeout_ms=N&command_timeout_ms=N&ca_file=FILE&cert_file=FILE&key_file=FILE
//   nats://user:password@host:port   a pull consumer of NATS JetStream; nats+tls:// for TLS
//     ?stream=NAME&durable=NAME  the stream must be there; the consumer is made if missing
//     &subject=NAME              only these messages
//     &dead=NAME                 subject of dead letters, default dead.<stream>; a stream must take
//                                it, else poison messages go on coming
//     &connect_timeout_ms=N&ca_file=FILE&cert_file=FILE&key_file=FILE
//
// Nothing is connected yet. Errors: invalid_argument.
[[nodiscard]] result<std::unique_ptr<runner>> open_consumer(std::string_view url, handler what,
                                                            const consumer_options& options = {});

} // namespace semel::consumer
