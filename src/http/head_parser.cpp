// From raw bytes to a head. Nothing is forgiven: no folding, no bare line ends, no blanks where the
// grammar has none.
#include <algorithm>
#include <optional>

#include "http/text.hpp"
#include "semel/http/message.hpp"

namespace semel::http {
namespace {

constexpr std::string_view line_end = "\r\n";
constexpr std::string_view head_end = "\r\n\r\n";

refused_head refuse(head_fault fault, std::string detail, int status = 400) {
    return {.fault = fault, .status = status, .detail = std::move(detail)};
}

// Every CR has its LF and every LF its CR; a CR at the very end may still get its own. The search
// for one byte is many times faster than a look at each.
std::optional<refused_head> find_bare_line_end(std::string_view raw) {
    std::size_t pairs = 0;
    for (std::size_t lf = raw.find('\n'); lf != raw.npos; lf = raw.find('\n', lf + 1)) {
        if (lf == 0 || raw[lf - 1] != '\r') {
            return refuse(head_fault::line_ending, "a line ends with a lone CR or LF");
        }
        ++pairs;
    }
    if (raw.ends_with('\r')) ++pairs;
    for (std::size_t cr = raw.find('\r'); cr != raw.npos; cr = raw.find('\r', cr + 1)) {
        if (pairs-- == 0) {
            return refuse(head_fault::line_ending, "a line ends with a lone CR or LF");
        }
    }
    return std::nullopt;
}

std::string_view take_line(std::string_view& rest) {
    const std::size_t end = rest.find(line_end);
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(line.size() + line_end.size(), rest.size()));
    return line;
}

std::optional<refused_head> header_fault(std::string_view line) {
    if (line.front() == ' ' || line.front() == '\t') {
        return refuse(head_fault::folded, "a header line begins with a blank");
    }
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
        return refuse(head_fault::header_name, "a header line has no well-formed name");
    }
    if (!is_value(line.substr(colon + 1))) {
        return refuse(head_fault::header_value, "a header value holds a control byte");
    }
    return std::nullopt;
}

std::optional<refused_head> take_version(std::string_view text, request_head& head) {
    if (text == "HTTP/1.1" || text == "HTTP/1.0") {
        head.version = text.back() == '1' ? version::http_1_1 : version::http_1_0;
        return std::nullopt;
    }
    const bool other = text.size() == 8 && text.starts_with("HTTP/") && is_digit(text[5]) &&
                       text[6] == '.' && is_digit(text[7]);
    if (other) return refuse(head_fault::version, "only HTTP/1.1 and HTTP/1.0 are spoken", 505);
    return refuse(head_fault::request_line, "the request line has no HTTP version");
}

// Two single spaces; whatever else is in between is judged by check_head.
std::optional<refused_head> take_request_line(std::string_view line, request_head& head) {
    const std::size_t first = line.find(' ');
    const std::size_t second = first == std::string_view::npos ? first : line.find(' ', first + 1);
    if (second == std::string_view::npos || line.find(' ', second + 1) != std::string_view::npos) {
        return refuse(head_fault::request_line, "the request line does not have three parts");
    }
    head.method = line.substr(0, first);
    head.target = line.substr(first + 1, second - first - 1);
    if (!is_token(head.method)) return refuse(head_fault::method, "the method is malformed");
    if (head.target.empty()) return refuse(head_fault::target, "the target is empty");
    return take_version(line.substr(second + 1), head);
}

std::optional<refused_head> take_headers(std::string_view lines, const head_limits& limits,
                                         request_head& head) {
    constexpr std::size_t usual = 12;
    head.headers.reserve(usual);
    while (!lines.empty()) {
        const std::string_view line = take_line(lines);
        if (auto fault = header_fault(line)) return fault;
        if (head.headers.size() == limits.headers_max) {
            return refuse(head_fault::too_long, "there are too many headers", 431);
        }
        const std::size_t colon = line.find(':');
        head.headers.add(std::string{line.substr(0, colon)},
                         std::string{trimmed(line.substr(colon + 1))});
    }
    return std::nullopt;
}

} // namespace

std::variant<parsed_head, head_incomplete, refused_head> parse_head(std::string_view raw,
                                                                    const head_limits& limits) {
    const std::size_t blank = raw.find(head_end);
    const bool complete = blank != std::string_view::npos;
    const std::string_view text = raw.substr(0, complete ? blank + head_end.size() : blank);
    if (auto fault = find_bare_line_end(text)) return *std::move(fault);
    if (text.size() > limits.head_bytes_max) {
        return refuse(head_fault::too_long, "the header section is too long", 431);
    }
    if (!complete) return head_incomplete{};
    parsed_head parsed{.head = {}, .size = text.size()};
    std::string_view rest = text.substr(0, blank + line_end.size());
    if (auto fault = take_request_line(take_line(rest), parsed.head)) return *std::move(fault);
    if (auto fault = take_headers(rest, limits, parsed.head)) return *std::move(fault);
    return parsed;
}

std::variant<std::monostate, refused_head> find_raw_fault(std::string_view raw) {
    std::string_view rest = raw.substr(0, raw.find(head_end));
    if (auto fault = find_bare_line_end(rest)) return *std::move(fault);
    take_line(rest);
    while (!rest.empty()) {
        const std::string_view line = take_line(rest);
        if (line.empty()) break;
        if (auto fault = header_fault(line)) return *std::move(fault);
    }
    return std::monostate{};
}

} // namespace semel::http
