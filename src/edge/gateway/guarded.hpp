// A protected request: taken whole, claimed, passed on, stored, and only then answered. Once it has
// been claimed it goes on without its client.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "edge/gateway/forwarding.hpp"
#include "edge/gateway/gateway_state.hpp"
#include "edge/gateway/upstream_call.hpp"
#include "edge/server/exchange.hpp"
#include "edge/server/session.hpp"
#include "semel/engine.hpp"
#include "semel/http/exchange.hpp"

namespace semel::edge {

class guarded final : public exchange,
                      public upstream_call,
                      public std::enable_shared_from_this<guarded> {
public:
    guarded(std::shared_ptr<gateway_state> gateway, session& client, http::protected_call call);

    // ---- from the client
    void start() override;
    void on_whole(std::string body) override;
    void on_end(ending) override { client_ = nullptr; }

    // ---- from the upstream
    [[nodiscard]] asked_with method() const override;
    [[nodiscard]] bool is_safe() const override { return false; }
    void on_connection(upstream_connection& by) override { upstream_ = &by; }
    [[nodiscard]] outgoing first() override;
    void on_response_head(response_head&& head) override;
    void on_response_piece(std::string_view piece, more then) override;
    void on_upstream_failed(upstream_failure why) override;

private:
    using work_done = unique_function<void(detail::work_end)>;

    // ---- on its worker
    void claim();
    void execute(work_done done);
    void pass_on();
    void on_upstream(http::upstream_result with);
    void on_outcome(raw_outcome outcome);
    void ask_probe(std::uint64_t fence);
    void bypass();
    void bypassed();
    void answer(http::response with);
    [[nodiscard]] http::response not_kept() const;

    const std::shared_ptr<gateway_state> gateway_; // shared by all exchanges
    const std::shared_ptr<worker> home_;           // shared with the server
    session* client_;                              // null when it has ended
    peer_facts peer_;
    client_facts::over transport_;
    http::protected_call call_;
    http::request_head head_;
    std::string body_;

    work_done done_; // of the attempt that runs
    std::optional<http::response> own_;
    bool bypassing_ = false, probed_ = false;

    upstream_connection* upstream_ = nullptr; // null when it is not ours
    std::string out_head_;
    http::response got_;
    bool too_large_ = false;
};

} // namespace semel::edge
