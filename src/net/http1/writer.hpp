// Heads as bytes, with this hop's own framing. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "semel/http/message.hpp"

namespace semel::http1 {

enum class after : std::uint8_t { keep_alive, close };

struct response_line {
    int status = 200;
    // None: the response has none by nature (1xx, 204, 304, to HEAD).
    std::optional<http::body_framing> framing = {};
    after then = after::keep_alive;
    std::string_view date = {}; // for responses that lack one; empty: none
};

// Appends. Header lines about framing and the connection are left out, and so is any line that
// could end itself early and begin another. Content-Length goes on where the response has no body
// by nature: it is then information about another one.
void write_response_head(std::string& to, const response_line& line,
                         const http::header_list& headers);

// `headers` are without hop-by-hop lines and Content-Length, as http::upstream_headers gives them.
void write_request_head(std::string& to, std::string_view method, std::string_view target,
                        const http::header_list& headers, const http::body_framing& framing);

// "1a\r\n": what goes before a chunk of that size; "\r\n" goes after it.
void write_chunk_head(std::string& to, std::size_t size);
inline constexpr std::string_view chunk_end = "\r\n";
inline constexpr std::string_view last_chunk = "0\r\n\r\n";
inline constexpr std::string_view last_chunk_after_data = "\r\n0\r\n\r\n";

[[nodiscard]] std::string_view reason_of(int status);

} // namespace semel::http1
