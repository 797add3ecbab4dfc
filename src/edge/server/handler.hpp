// What answers requests that are small enough to be taken whole: the admin pages, the center's API,
// tests. No framework shows here.
#pragma once

#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "semel/base/function.hpp"
#include "semel/http/message.hpp"
#include "semel/http/tenant.hpp"

namespace semel::edge {

struct served_request {
    http::request what;                                   // head checked, body whole
    std::string peer = {};                                // address of the other end, without port
    http::peer_trust trust = http::peer_trust::untrusted; // as the server's options say
    bool tls = false;
};

// Sends the answer. Callable once, from any thread, now or later; the framing (Content-Length,
// Connection, Date) is made by the server. Dropped uncalled, the client gets a 500. If the client
// has gone meanwhile the call has no effect.
using reply = unique_function<void(http::response)>;

// Called on a thread that serves many connections: must not block. A request whose body is larger
// than apart_bytes comes on a thread without connections, so that others need not wait until it
// has been read. One that throws is answered with a 500.
using handler = std::function<void(served_request, reply)>;

inline constexpr std::size_t apart_bytes = std::size_t{64} << 10U;

// What is decided about a request by its head, before its body is taken.
struct body_admission {
    std::size_t bytes_max = std::numeric_limits<std::size_t>::max(); // besides the server's own
    std::optional<http::response> refusal = {};                      // sent instead
};
// Called on a thread that serves many connections: must not block.
using doorkeeper = std::function<body_admission(const http::request_head&, std::string_view peer)>;

} // namespace semel::edge
