// Appending events in the application's own transaction.
//
//   semel::outbox::appender outbox;
//   semel::outbox::postgres_writer tx{connection};              // PGconn* of the application
//
//   engine.transact<order>(here, request, [&](semel::execution& run) {
//       auto made = insert_order(connection);
//       outbox.append(tx, {.topic = "orders", .key = made.id, .payload = made.json()},
//                     semel::outbox::origin_of(run)).value();
//       return made;                              // row, event and record: all of them or none
//   });
//
// The tables must be there: `semel migrate --store URL`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

namespace semel::outbox {

// An event as the application appends it, and as a relay hands it to a sink.

struct event_header {
    std::string name;
    std::string value;

    friend bool operator==(const event_header&, const event_header&) = default;
};

struct event {
    std::string id = {}; // a ULID; made by append() where it is empty
    std::string topic;
    std::string key = {}; // order is kept per key; empty: the event's own id
    std::string payload = {};
    std::vector<event_header> headers = {};

    friend bool operator==(const event&, const event&) = default;
};

// The headers that append() adds if the caller has not set them: the key of the execution that
// runs, and the trace.
inline constexpr const char* header_idempotency_key = "idempotency-key";
inline constexpr const char* header_traceparent = "traceparent";
inline constexpr const char* header_tracestate = "tracestate";

// An event on its way: what a relay has read.
struct message {
    std::int64_t row = 0; // its place in the table; rises, with gaps
    std::int32_t shard = 0;
    std::int32_t attempts = 0; // this one included
    time_point created_at = {};
    outbox::event event;
};

struct event_limits {
    std::size_t topic_bytes_max = 255;
    std::size_t key_bytes_max = 255;
    std::size_t payload_bytes_max = std::size_t{1} << 20;
    std::size_t headers_max = 64;
    std::size_t headers_bytes_max = 16 * 1'024; // all of them, as they are stored
    std::size_t batch_max = 10'000;             // events of one append
};

inline constexpr std::int32_t shards_max = 1'024;

// The shard of a key. It is the same in every process and version.
[[nodiscard]] std::int32_t shard_of(std::string_view message_key, std::int32_t shards);

// An event as the table stores it.
struct stored_event {
    std::string id;
    std::string topic;
    std::string key;
    std::string payload;
    std::string headers;       // `name: value`, one per line
    std::string trace_context; // traceparent and tracestate, in the same form
    std::int32_t shard = 0;
};

// Writes to the table in a transaction of the caller. Each database has its own writer, in
// semel/databases/<database>/outbox.hpp. One thread at a time, like the connection.
class writer {
public:
    writer() = default;
    writer(const writer&) = delete;
    writer& operator=(const writer&) = delete;
    virtual ~writer() = default;

    // Inserts all events in one statement. errc::invalid_argument outside of a transaction,
    // errc::transaction_broken in a transaction that has failed already: then nothing was sent.
    virtual result<void> insert(std::span<const stored_event> all) = 0;
};

// Wakes the relays of this process. Thread-safe.
class wake_signal {
public:
    // Reports that an event may have been committed.
    void raise();
    // Waits for the next raise(), for at most `most`. `seen` is what the last call returned.
    std::uint64_t wait(std::uint64_t seen, duration most);

private:
    detail::mutex mutex_;
    detail::condition raised_;
    std::uint64_t count_ SEMEL_GUARDED_BY(mutex_) = 0;
};

// What led to an event: headers that are added to the event if it does not have them.
struct origin {
    std::string idempotency_key = {};
    std::string traceparent = {};
    std::string tracestate = {};
};

// The origin of an event that `run` appends. `run` is a semel::execution (a template parameter, so
// that this header does not include execution.hpp). Pass the headers of the trace it runs in.
template <class Execution>
[[nodiscard]] origin origin_of(const Execution& run, std::string traceparent = {},
                               std::string tracestate = {}) {
    return {.idempotency_key = run.key(),
            .traceparent = std::move(traceparent),
            .tracestate = std::move(tracestate)};
}

struct append_options {
    // The number of shards of the table. Ordered relays share the work by shards. You may raise the
    // number at any time. A key may then change its shard, and the order of its events holds again
    // when the events that were there before are gone.
    std::int32_t shards = 16;
    event_limits limits = {};
    std::shared_ptr<wake_signal> wake = {}; // the same as relay_options::wake
};

// Thread-safe.
class appender {
public:
    explicit appender(append_options options = {});

    // Adds an event to the caller's transaction and returns the event's id. Errors before anything
    // is sent: limit_exceeded and invalid_argument, which name what is wrong. After an error of the
    // database, roll the transaction back.
    //
    // append() tells the relays of this process to look more often for a while. To wake them right
    // after the commit, call committed() then.
    result<std::string> append(writer& in, event what, const origin& from = {}) const;
    // The same for several events: all or none, in one statement. Returns the ids in the order of
    // the events.
    result<std::vector<std::string>> append(writer& in, std::vector<event> all,
                                            const origin& from = {}) const;

    void committed() const;

private:
    [[nodiscard]] result<stored_event> stored(event what, const origin& from) const;

    append_options options_;
};

} // namespace semel::outbox
