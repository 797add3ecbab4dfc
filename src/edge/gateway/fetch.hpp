// A request to the upstream whose answer is taken whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "edge/gateway/upstream_call.hpp"
#include "semel/function.hpp"
#include "semel/http/message.hpp"

namespace semel::edge {

struct fetch_options {
    std::string head = {};      // as it is sent
    std::string_view body = {}; // lives as long as what `then` holds
    asked_with method = asked_with::other;
    enum class repeating : std::uint8_t { never, safe } again = repeating::never;
    std::size_t answer_bytes_max = 0;
};

struct fetched {
    http::response got = {};
    bool cut = false; // the body was larger than answer_bytes_max and is not there
};

// Owned by the connection that carries it. Whatever `then` holds goes with it if that ends first:
// work that is dropped so has an unknown outcome.
class fetch final : public upstream_call {
public:
    using continuation = unique_function<void(std::variant<fetched, upstream_failure>)>;

    fetch(fetch_options what, continuation then);

    [[nodiscard]] asked_with method() const override { return what_.method; }
    [[nodiscard]] bool is_safe() const override;
    void on_connection(upstream_connection& by) override { upstream_ = &by; }
    [[nodiscard]] outgoing first() override { return {.head = what_.head, .body = what_.body}; }
    void on_response_head(response_head&& head) override;
    void on_response_piece(std::string_view piece, more then) override;
    void on_upstream_failed(upstream_failure why) override;

private:
    const fetch_options what_;
    continuation then_;
    upstream_connection* upstream_ = nullptr; // null when it is not ours
    fetched made_;
};

} // namespace semel::edge
