// A protected request: taken whole, claimed, passed on, stored, and only then answered. Once it has
// been claimed it goes on without its client.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "edge/gateway/fetch.hpp"
#include "edge/gateway/forwarding.hpp"
#include "edge/gateway/gateway_state.hpp"
#include "edge/server/exchange.hpp"
#include "edge/server/session.hpp"
#include "semel/engine.hpp"
#include "semel/http.hpp"

namespace semel::edge {

class guarded_request final : public exchange,
                              public std::enable_shared_from_this<guarded_request> {
public:
    guarded_request(std::shared_ptr<gateway_state> gateway, session& client,
                    http::protected_call call);

    // ---- from the client
    void start() override;
    void on_whole(std::string body) override;
    void on_end(ending) override { client_ = nullptr; }

private:
    using work_done = unique_function<void(work_end)>;

    // ---- on its worker
    void on_digest(std::optional<http::refusal> no);
    void claim();
    void execute(std::uint32_t attempt, work_done done);
    void pass_on(unique_function<void(http::settled)> then);
    void pass_on_once(equal_requests::under what, unique_function<void(http::settled)> then);
    [[nodiscard]] http::settled settled_of(std::variant<fetch_result, upstream_failure>&& came);
    [[nodiscard]] http::settled settled_of(upstream_failure&& why);
    void on_outcome(raw_outcome outcome);
    void ask_probe(std::uint64_t fence);
    void bypass();
    void answer(http::response with);

    const std::shared_ptr<gateway_state> gateway_; // shared by all exchanges
    const std::shared_ptr<worker> home_;           // shared with the server
    session* client_;                              // null when it has ended
    peer_facts peer_;
    client_facts::over transport_;
    http::protected_call call_;
    std::shared_ptr<equal_requests> equals_; // shared by them; null: the route needs the store
    http::request_head head_;
    std::string body_;
    budget_share body_share_, answer_share_;

    std::optional<http::response> own_; // of the attempt that ran here
    // The attempt that was called here; 0: none. What was called must not run unprotected as well.
    std::uint32_t attempt_ = 0;
    bool probed_ = false;
};

} // namespace semel::edge
