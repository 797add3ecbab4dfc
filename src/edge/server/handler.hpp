// What answers requests that are small enough to be taken whole: the admin pages, the center's API,
// tests. No framework shows here.
#pragma once

#include <functional>
#include <string>

#include "semel/function.hpp"
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

// Called on a thread that serves many connections: must not block. One that throws is answered
// with a 500.
using handler = std::function<void(served_request, reply)>;

} // namespace semel::edge
