// A request to the upstream whose answer is taken whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include "edge/gateway/upstream_call.hpp"
#include "edge/server/byte_budget.hpp"
#include "semel/base/function.hpp"
#include "semel/http/message.hpp"

namespace semel::edge {

struct fetch_options {
    std::string head = {};      // as it is sent
    std::string_view body = {}; // lives as long as what the continuation holds
    http1::asked_with method = http1::asked_with::other;
    enum class repeating : std::uint8_t { never, safe } again = repeating::never;
    enum class afterwards : std::uint8_t { keep, close } then = afterwards::keep; // the connection
    std::size_t answer_bytes_max = 0;
    // An answer up to this size is held even if there is no room for bodies: the request has taken
    // effect, and otherwise a repeat could not get the answer.
    std::size_t kept_bytes_max = std::numeric_limits<std::size_t>::max();
    std::shared_ptr<byte_budget> buffered = {};
};

struct fetch_result {
    http::response got = {};
    bool cut = false; // the body was larger than could be held and is not there
    budget_share share = {};
};

// Owned by the connection that carries it. If the connection ends first, `then` is destroyed
// uncalled: the outcome of that work is unknown.
class fetch final : public upstream_call {
public:
    using continuation = unique_function<void(std::variant<fetch_result, upstream_failure>)>;

    fetch(fetch_options what, continuation then);

    [[nodiscard]] http1::asked_with method() const override { return what_.method; }
    [[nodiscard]] bool is_safe() const override;
    [[nodiscard]] bool leaves_connection() const override {
        return what_.then == fetch_options::afterwards::keep;
    }
    void on_connection(upstream_connection& by) override { upstream_ = &by; }
    [[nodiscard]] request_part first() override { return {.head = what_.head, .body = what_.body}; }
    void on_response_head(http1::response_head&& head) override;
    void on_response_piece(std::string_view piece, more then) override;
    void on_upstream_failed(upstream_failure why) override;

private:
    [[nodiscard]] bool has_room(std::size_t more_bytes);

    const fetch_options what_;
    continuation then_;
    upstream_connection* upstream_ = nullptr; // null when it is not ours
    fetch_result made_;
};

} // namespace semel::edge
