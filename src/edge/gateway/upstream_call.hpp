// One request to the upstream, as its connection sees it. Everything happens on one worker.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "edge/server/exchange.hpp"
#include "edge/wire/response_parser.hpp"

namespace semel::edge {

class upstream_connection;

// Bytes to be written together. They live until they have been.
struct outgoing {
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

    [[nodiscard]] virtual asked_with method() const = 0;
    // May it be sent again where an old connection ended without an answer? Only what has no
    // effect.
    [[nodiscard]] virtual bool is_safe() const = 0;
    // May another request follow on its connection? Not behind a body that a server may overlook:
    // to that server the body is the next request.
    [[nodiscard]] virtual bool leaves_connection() const = 0;

    // The connection that carries it from here on. Asked for the first part next; both may happen
    // again if not a byte of it could be written.
    virtual void on_connection(upstream_connection& by) = 0;
    [[nodiscard]] virtual outgoing first() = 0;
    // The part has been written and another one follows.
    virtual void on_request_part_sent() {}
    // The final head. The body is then asked for with want_piece, and the end with release.
    virtual void on_response_head(response_head&& head) = 0;
    // Lives until the next is asked for.
    virtual void on_response_piece(std::string_view piece, more then) = 0;
    // The connection is no longer its own.
    virtual void on_upstream_failed(upstream_failure why) = 0;
};

} // namespace semel::edge
