// Carries events from outbox tables to a sink.
//
//   auto relay = semel::outbox::open_relay(
//       {[] { return semel::outbox::open_table("postgres://app@host/shop"); }},
//       [] { return semel::outbox::open_sink("http://warehouse/events"); }).value();
//   …
//   relay->stop();          // events that were not started go back at once
//
// Delivery is at least once, always under the same event id. Consumers that deduplicate by the id
// (engine::consume_batch) make the effect exactly once. Any number of relays may work on one table.
//
// Parallel: every worker claims rows that no other worker has. There is no order.
// Ordered: a shard of the table has one owner at a time, and events of one message key are
// delivered one after another, in the order of their rows. If the writers of a key take turns (for
// example by locking the row that the events are about), that is the order of their commits. An
// event that commits late, after events with higher rows of its key have gone, is delivered late,
// and is never lost.
//
// No relay relies on "the last row seen": a row waits as long as it is in the table. What a relay
// remembers is a hint, and it looks again from the start every `rescan`.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/metrics.hpp"
#include "semel/log.hpp"
#include "semel/outbox.hpp"
#include "semel/outbox/table.hpp"

namespace semel::outbox {

// Where a relay delivers to. Adding a sink is one file: implement deliver() and name its URL
// scheme.

enum class delivered : std::uint8_t {
    yes,      // the other side has confirmed it, or has it already
    later,    // not now: try again after a while
    rejected, // the other side will never take it: a dead letter
    held,     // not tried, because an earlier message of its key was not delivered
};

struct delivery {
    delivered how = delivered::later;
    std::string error = {}; // for `later` and `rejected`; kept with the row

    friend bool operator==(const delivery&, const delivery&) = default;
};

enum class order : std::uint8_t {
    none,    // in any order
    per_key, // in the order of the batch, key by key; after a failure the key's others are `held`
};

// Used by one thread at a time: a relay opens one sink per worker. deliver() pipelines the whole
// batch, fills one answer per message and does not throw. It returns within the sink's own
// time-outs; what is not confirmed by then is `later` and will be sent again with the same id. In a
// child that was forked later nothing is sent over a connection.
class sink {
public:
    sink() = default;
    sink(const sink&) = delete;
    sink& operator=(const sink&) = delete;
    virtual ~sink() = default;

    virtual void deliver(std::span<const message> batch, order kept,
                         std::span<delivery> answers) = 0;

    // Connects to where deliver() would send, and sends nothing. For those who try a configuration.
    virtual result<void> connect() { return {}; }
};

enum class relay_mode : std::uint8_t { parallel, ordered };

// What happens if an event of a message key cannot be delivered (ordered mode).
enum class key_policy : std::uint8_t {
    block, // the event is tried again and again; later events of its key wait
    skip,  // the event becomes a dead letter, and later events go on
    park,  // the event becomes a dead letter; later events wait until it is requeued or dropped
};

struct retry_policy {
    duration first = std::chrono::milliseconds{100}; // doubles each time, with jitter
    duration last = std::chrono::minutes{5};
    std::int32_t attempts_max = 20; // then it is a dead letter; more than `often`
};

// What relays count. Several relays may share it. It outlives them.
struct relay_metrics {
    counter claims = {};     // round trips that asked for rows
    counter claimed = {};    // rows
    counter delivered = {};  // confirmed by the sink
    counter acked = {};      // removed
    counter retried = {};    // given back to be tried later
    counter dead = {};       // dead letters
    counter returned = {};   // given back untried
    counter repeats = {};    // deliveries of rows that were tried before
    counter lost = {};       // rows or shards whose lease was lost
    counter mismatched = {}; // claimed was not what was selected
    counter failures = {};   // of the database
    counter shards_taken = {};
    counter backlog = {};            // gauge: rows that wait, as far as they are counted
    counter dead_letters = {};       // gauge
    counter oldest_seconds = {};     // gauge: age of the oldest row that waits
    latency_histogram delivery = {}; // of a batch, by the sink
    latency_histogram transit = {};  // of a row, from its creation to its delivery
};

enum class relay_until : std::uint8_t {
    stopped,
    empty, // nothing is left that could be delivered at once
};

struct relay_options {
    relay_mode mode = relay_mode::parallel;
    key_policy on_failure = key_policy::block;
    relay_until until = relay_until::stopped;
    std::size_t workers = 2;      // per table, each with a connection and a sink
    std::size_t batch = 500;      // rows of a claim
    std::size_t sink_batch = 250; // of which the sink gets so many at once
    duration lease = std::chrono::seconds{30};
    duration poll_first = std::chrono::milliseconds{1}; // between looks at an empty table
    duration poll_last = std::chrono::seconds{1};
    duration rescan = std::chrono::seconds{1};
    std::int32_t shards = 16; // of ordered relays: no fewer than appenders have
    retry_policy retry = {};
    std::shared_ptr<wake_signal> wake = {}; // the appender's
    std::shared_ptr<logger> log = {};       // default: none
    relay_metrics* metrics = nullptr;       // default: the relay's own
};

// What open_relay() refuses: errc::invalid_argument.
[[nodiscard]] result<void> check(const relay_options& options);

using sink_opener = std::function<result<std::unique_ptr<sink>>()>;

// Any thread. In a child that was forked later there is nothing to stop or to wait for: the relay
// is the parent's.
class relay {
public:
    relay(const relay&) = delete;
    relay& operator=(const relay&) = delete;
    ~relay(); // stops

    // Waits for the running deliveries, settles them, and gives all other rows back.
    void stop();
    // Waits until the relay was stopped, or has nothing left (relay_until::empty).
    void wait();

    [[nodiscard]] relay_metrics metrics() const;

private:
    friend result<std::unique_ptr<relay>>
    open_relay(std::vector<table_opener> tables, const sink_opener& sinks, relay_options options);
    class state;
    explicit relay(std::unique_ptr<state> made);
    std::unique_ptr<state> state_;
};

// A relay that runs. Every table and sink is opened once before this returns, so that mistakes are
// found at once. If a database goes away later, the relay waits for it.
[[nodiscard]] result<std::unique_ptr<relay>>
open_relay(std::vector<table_opener> tables, const sink_opener& sinks, relay_options options = {});

} // namespace semel::outbox
