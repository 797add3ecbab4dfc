// One request to the upstream, as its connection sees it. Everything happens on one worker.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "edge/server/exchange.hpp"
#include "net/http1/response.hpp"

namespace semel::edge {

class upstream_connection;

// Bytes to be written together. They live until they have been.
struct request_part {
    std::string_view head = {}, body = {}, tail = {};
    more then = more::none; // other parts of this request follow
};

struct upstream_failure {
    enum class bytes_left : std::uint8_t { none, some } request = bytes_left::none;
    std::string why = {};
};

class upstream_call {
public:
    virtual ~upstream_call() = default;

    [[nodiscard]] virtual http1::asked_with method() const = 0;
    // Whether the call may be sent again after an old connection ended without an answer. Only
    // calls without an effect may.
    [[nodiscard]] virtual bool is_safe() const = 0;
    // Whether another request may follow on the connection. None may follow a body that a server
    // may overlook: that server would take the body for the next request.
    [[nodiscard]] virtual bool leaves_connection() const = 0;

    // Names the connection that carries the call from now on. The connection asks for the first
    // part next. If no byte could be written, another connection may do both again.
    virtual void on_connection(upstream_connection& by) = 0;
    [[nodiscard]] virtual request_part first() = 0;
    // The part has been written and another one follows.
    virtual void on_request_part_sent() {}
    // The final head. The body is then asked for with want_piece, and the end with release.
    virtual void on_response_head(http1::response_head&& head) = 0;
    // The view lives until the next piece is asked for.
    virtual void on_response_piece(std::string_view piece, more then) = 0;
    // The call must not use the connection any more.
    virtual void on_upstream_failed(upstream_failure why) = 0;
};

} // namespace semel::edge
