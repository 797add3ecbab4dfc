// An event as the application appends it, and as a relay hands it to a sink.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "semel/time.hpp"

namespace semel::outbox {

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

} // namespace semel::outbox
