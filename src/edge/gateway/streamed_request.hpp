// A request that passes through unprotected. It is streamed both ways, at the pace of the slower
// end.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "edge/gateway/gateway_state.hpp"
#include "edge/gateway/upstream_call.hpp"
#include "edge/server/exchange.hpp"
#include "edge/server/session.hpp"

namespace semel::edge {

class streamed_request final : public exchange,
                               public upstream_call,
                               public std::enable_shared_from_this<streamed_request> {
public:
    streamed_request(gateway_state& gateway, session& client)
        : gateway_(gateway), client_(&client) {}

    // ---- from the client
    void start() override;
    void on_piece(std::string_view piece, more then) override;
    void on_sent() override;
    void on_end(ending how) override;

    // ---- from the upstream
    [[nodiscard]] http1::asked_with method() const override { return method_; }
    [[nodiscard]] bool is_safe() const override { return safe_; }
    [[nodiscard]] bool leaves_connection() const override { return !may_be_overlooked_; }
    void on_connection(upstream_connection& by) override;
    [[nodiscard]] request_part first() override { return part_; }
    void on_request_part_sent() override;
    void on_response_head(http1::response_head&& head) override;
    void on_response_piece(std::string_view piece, more then) override;
    void on_upstream_failed(upstream_failure why) override;

private:
    void submit();
    void answer_head(std::string_view piece, more then);

    gateway_state& gateway_;
    session* client_;                         // null when it has ended
    upstream_connection* upstream_ = nullptr; // null when it is not ours
    bool submitted_ = false;
    http1::asked_with method_ = http1::asked_with::other;
    bool safe_ = false;
    bool may_be_overlooked_ = false; // the request's body
    bool chunked_ = false;           // the request's body
    std::string head_;               // of the request, or of its next chunk
    request_part part_;
    bool answered_ = false; // the head of the answer is on its way
    http1::response_head response_;
};

} // namespace semel::edge
