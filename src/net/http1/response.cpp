#include "net/http1/response.hpp"

#include <algorithm>

#include "http/text.hpp"

namespace semel::http1 {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

std::string_view take_line(std::string_view& rest) {
    const std::string_view line = rest.substr(0, rest.find(line_end));
    rest.remove_prefix(std::min(line.size() + line_end.size(), rest.size()));
    return line;
}

// "HTTP/1.1 200 OK"; the reason may be anything printable, or missing.
std::string_view take_status_line(std::string_view line, response_head& head) {
    if (!line.starts_with("HTTP/1.") || line.size() < 12) return "the status line is malformed";
    if (line[7] != '0' && line[7] != '1') return "the version is not spoken";
    head.version = line[7] == '1' ? http::version::http_1_1 : http::version::http_1_0;
    const auto status = http::to_number(line.substr(9, 3));
    const bool apart = line[8] == ' ' && (line.size() == 12 || line[12] == ' ');
    if (!apart || !status || *status < 100 || *status > 599) return "the status is malformed";
    head.status = static_cast<int>(*status);
    return http::is_value(line.substr(12)) ? std::string_view{} : "the reason holds a control byte";
}

std::string_view take_header(std::string_view line, response_head& head) {
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !http::is_token(line.substr(0, colon))) {
        return "a header line has no well-formed name";
    }
    const std::string_view value = http::trimmed(line.substr(colon + 1));
    if (!http::is_value(value)) return "a header value holds a control byte";
    head.headers.add(std::string{line.substr(0, colon)}, std::string{value});
    return {};
}

std::string_view take_framing(response_head& head, asked_with method) {
    const std::size_t lengths = head.headers.count("Content-Length");
    const std::size_t codings = head.headers.count("Transfer-Encoding");
    if (lengths + codings > 1) return "its length is given twice";
    std::optional<std::uint64_t> length;
    if (lengths == 1) {
        length = http::to_number(*head.headers.find("Content-Length"));
        if (!length) return "Content-Length is malformed";
    }
    if (codings == 1 &&
        (head.version == http::version::http_1_0 ||
         !http::equal_ignoring_case(*head.headers.find("Transfer-Encoding"), "chunked"))) {
        return "the transfer coding is not chunked";
    }
    if (method == asked_with::head || is_bodiless(head.status)) return {};
    using by = http::body_framing::by;
    if (codings == 1) head.framing = {.how = by::chunks};
    if (length) head.framing = {.how = by::length, .length = *length};
    head.until_close = lengths + codings == 0;
    return {};
}

std::string_view take_all(std::string_view text, asked_with method, const http::head_limits& limits,
                          response_head& head) {
    if (auto wrong = take_status_line(take_line(text), head); !wrong.empty()) return wrong;
    while (!text.empty()) {
        if (head.headers.size() == limits.headers_max) return "there are too many headers";
        if (auto wrong = take_header(take_line(text), head); !wrong.empty()) return wrong;
    }
    return take_framing(head, method);
}

} // namespace

body_reader response_head::body(const body_limits& limits) const {
    return until_close ? body_reader::until_close() : body_reader{framing, limits};
}

bool response_head::keeps_alive() const {
    if (until_close || version == http::version::http_1_0) return false;
    if (!headers.contains("Connection")) return true;
    const auto members = http::list_members(headers, "Connection");
    return std::none_of(members.begin(), members.end(), [](std::string_view member) {
        return http::equal_ignoring_case(member, "close");
    });
}

std::optional<std::chrono::seconds> response_head::idle_limit() const {
    constexpr std::string_view name = "timeout=";
    constexpr std::uint64_t seconds_max = 24UL * 60 * 60;
    if (!headers.contains("Keep-Alive")) return std::nullopt;
    for (const std::string_view member : http::list_members(headers, "Keep-Alive")) {
        if (!http::equal_ignoring_case(member.substr(0, name.size()), name)) continue;
        const auto seconds = http::to_number(member.substr(name.size()));
        if (seconds) return std::chrono::seconds{std::min(*seconds, seconds_max)};
    }
    return std::nullopt;
}

std::variant<parsed_response, http::head_incomplete, refused_response>
parse_response(std::string_view raw, asked_with method, const http::head_limits& limits) {
    const std::size_t blank = raw.find(head_end);
    if (blank == std::string_view::npos) {
        if (raw.size() > limits.head_bytes_max) return refused_response{"its head is too long"};
        return http::head_incomplete{};
    }
    const std::size_t size = blank + head_end.size();
    if (size > limits.head_bytes_max) return refused_response{"its head is too long"};
    parsed_response parsed{.head = {}, .size = size};
    const std::string_view wrong =
        take_all(raw.substr(0, blank + line_end.size()), method, limits, parsed.head);
    if (!wrong.empty()) return refused_response{std::string{wrong}};
    return parsed;
}

} // namespace semel::http1
