#include "net/http1/writer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "semel/http/response.hpp"

namespace semel::http1 {
namespace {

void append_number(std::string& to, std::uint64_t number, int base = 10) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
    to.append(digits.data(), end);
}

void append_line(std::string& to, std::string_view name, std::string_view value) {
    to.append(name).append(": ").append(value).append("\r\n");
}

constexpr std::array<std::string_view, 8> of_the_connection = {
    "Connection", "Content-Length",   "Transfer-Encoding", "Keep-Alive",
    "Trailer",    "Proxy-Connection", "Upgrade",           "TE"};

bool is_of_the_connection(std::string_view name) {
    return std::any_of(of_the_connection.begin(), of_the_connection.end(),
                       [&](std::string_view one) { return http::equal_ignoring_case(name, one); });
}

void append_headers(std::string& to, const http::header_list& headers) {
    for (const http::header& line : headers) {
        if (is_of_the_connection(line.name) || !http::fit_for_wire(line)) continue;
        append_line(to, line.name, line.value);
    }
}

void append_framing(std::string& to, const http::body_framing& framing) {
    switch (framing.how) {
    case http::body_framing::by::nothing: break;
    case http::body_framing::by::length:
        to.append("Content-Length: ");
        append_number(to, framing.length);
        to.append("\r\n");
        break;
    case http::body_framing::by::chunks: to.append("Transfer-Encoding: chunked\r\n"); break;
    }
}

bool is_number(std::string_view text) {
    return !text.empty() && text.size() < 20 &&
           text.find_first_not_of("0123456789") == std::string_view::npos;
}

constexpr std::array<std::pair<int, std::string_view>, 42> reasons = {{
    {100, "Continue"},
    {200, "OK"},
    {201, "Created"},
    {202, "Accepted"},
    {203, "Non-Authoritative Information"},
    {204, "No Content"},
    {205, "Reset Content"},
    {206, "Partial Content"},
    {300, "Multiple Choices"},
    {301, "Moved Permanently"},
    {302, "Found"},
    {303, "See Other"},
    {304, "Not Modified"},
    {307, "Temporary Redirect"},
    {308, "Permanent Redirect"},
    {400, "Bad Request"},
    {401, "Unauthorized"},
    {402, "Payment Required"},
    {403, "Forbidden"},
    {404, "Not Found"},
    {405, "Method Not Allowed"},
    {406, "Not Acceptable"},
    {408, "Request Timeout"},
    {409, "Conflict"},
    {410, "Gone"},
    {411, "Length Required"},
    {412, "Precondition Failed"},
    {413, "Content Too Large"},
    {414, "URI Too Long"},
    {415, "Unsupported Media Type"},
    {417, "Expectation Failed"},
    {421, "Misdirected Request"},
    {422, "Unprocessable Content"},
    {425, "Too Early"},
    {428, "Precondition Required"},
    {429, "Too Many Requests"},
    {431, "Request Header Fields Too Large"},
    {500, "Internal Server Error"},
    {501, "Not Implemented"},
    {502, "Bad Gateway"},
    {503, "Service Unavailable"},
    {504, "Gateway Timeout"},
}};

} // namespace

std::string_view reason_of(int status) {
    const auto found = std::find_if(reasons.begin(), reasons.end(),
                                    [&](const auto& one) { return one.first == status; });
    return found == reasons.end() ? std::string_view{} : found->second;
}

void write_response_head(std::string& to, const response_line& line,
                         const http::header_list& headers) {
    to.append("HTTP/1.1 ");
    append_number(to, static_cast<std::uint64_t>(line.status));
    to.append(" ").append(reason_of(line.status)).append("\r\n");
    append_headers(to, headers);
    if (!line.date.empty() && !headers.contains("Date")) append_line(to, "Date", line.date);
    if (line.framing) {
        append_framing(to, *line.framing);
    } else if (const std::string* length = headers.find("Content-Length");
               length != nullptr && line.status != 204 && is_number(*length)) {
        append_line(to, "Content-Length", *length);
    }
    if (line.then == after::close) to.append("Connection: close\r\n");
    to.append("\r\n");
}

void write_request_head(std::string& to, std::string_view method, std::string_view target,
                        const http::header_list& headers, const http::body_framing& framing) {
    to.append(method).append(" ").append(target).append(" HTTP/1.1\r\n");
    append_headers(to, headers);
    append_framing(to, framing);
    to.append("\r\n");
}

void write_chunk_head(std::string& to, std::size_t size) {
    append_number(to, size, 16);
    to.append("\r\n");
}

} // namespace semel::http1
