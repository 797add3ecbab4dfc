// The head of an upstream's response, read as strictly as a request's. Pure; any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "net/http1/body.hpp"
#include "semel/http/message.hpp"

namespace semel::http1 {

struct response_head {
    int status = 0; // 100…599
    http::version version = http::version::http_1_1;
    http::header_list headers = {}; // as they came, hop-by-hop ones too
    http::body_framing framing = {};
    bool until_close = false; // neither length nor chunks: the body ends with the connection

    [[nodiscard]] body_reader body(const body_limits& limits = {}) const;
    // May the connection carry another request?
    [[nodiscard]] bool keeps_alive() const;
    // `Keep-Alive: timeout=5`: how long the other end keeps an idle connection.
    [[nodiscard]] std::optional<std::chrono::seconds> idle_limit() const;
};

struct parsed_response {
    response_head head;
    std::size_t size = 0; // bytes of `raw` that were the head
};
struct refused_response {
    std::string why = {};
};

// What the request was: responses to HEAD have no body, whatever their headers say.
enum class asked_with : std::uint8_t { head, other };

[[nodiscard]] std::variant<parsed_response, http::head_incomplete, refused_response>
parse_response(std::string_view raw, asked_with method, const http::head_limits& limits = {});

// Responses with these statuses never have a body.
[[nodiscard]] constexpr bool is_bodiless(int status) {
    return status < 200 || status == 204 || status == 304;
}

} // namespace semel::http1
