#include "semel/http/message.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "http/header_rules.hpp"
#include "http/path.hpp"
#include "http/text.hpp"

namespace semel::http {
namespace {

using fault = std::optional<refused_head>;

refused_head refuse(head_fault why, std::string detail, int status = 400) {
    return {.fault = why, .status = status, .detail = std::move(detail)};
}

fault check_limits(const request_head& head, const head_limits& limits) {
    if (head.target.size() > limits.target_bytes_max) {
        return refuse(head_fault::too_long, "the target is too long", 414);
    }
    if (head.headers.size() > limits.headers_max) {
        return refuse(head_fault::too_long, "there are too many headers", 431);
    }
    std::size_t bytes = head.method.size() + head.target.size();
    for (const header& line : head.headers) bytes += line.name.size() + line.value.size();
    if (bytes > limits.head_bytes_max) {
        return refuse(head_fault::too_long, "the header section is too long", 431);
    }
    return std::nullopt;
}

fault check_method(const request_head& head, const head_limits& limits) {
    const bool fine = is_token(head.method) && head.method.size() <= limits.method_bytes_max;
    if (!fine) return refuse(head_fault::method, "the method is malformed");
    if (head.method == "CONNECT" || head.method == "TRACE") {
        return refuse(head_fault::method, "the method is not served", 501);
    }
    return std::nullopt;
}

bool is_dots(const std::string& segment) {
    return segment == "." || segment == "..";
}

fault check_target(const request_head& head) {
    const std::string& target = head.target;
    if (target.empty() || target.front() != '/' || target.starts_with("//")) {
        return refuse(head_fault::target, "the target must be a path that begins with one slash");
    }
    const bool plain = std::all_of(target.begin(), target.end(),
                                   [](char c) { return is_visible(c) && c != '#' && c != '\\'; });
    if (!plain) return refuse(head_fault::target, "the target holds a byte it must not");
    const auto segments = decoded_segments(head.path());
    if (!segments) return refuse(head_fault::target, "the path holds a malformed escape");
    const auto bare = without_parameters(head.path()); // "/..;/" is "/../" to some
    if (std::any_of(segments->begin(), segments->end(), is_dots) ||
        (bare && std::any_of(bare->begin(), bare->end(), is_dots))) {
        return refuse(head_fault::target, "the path holds a segment of dots");
    }
    return std::nullopt;
}

fault check_lines(const request_head& head) {
    for (const header& line : head.headers) {
        if (!is_token(line.name)) {
            return refuse(head_fault::header_name, "a header has no well-formed name");
        }
        if (!is_value(line.value)) {
            return refuse(head_fault::header_value, "a header value holds a control byte");
        }
    }
    return std::nullopt;
}

// "name", "name:80", "[::1]:80".
bool is_host(std::string_view text) {
    const std::size_t literal_end = text.starts_with('[') ? text.find(']') : 0;
    if (literal_end == std::string_view::npos) return false;
    const std::size_t colon = text.find(':', literal_end);
    const std::string_view name = text.substr(0, colon);
    if (colon != std::string_view::npos) {
        const std::string_view port = text.substr(colon + 1);
        if (port.size() > 5 || !std::all_of(port.begin(), port.end(), is_digit)) return false;
    }
    if (literal_end > 0) {
        return literal_end + 1 == name.size() && name.size() > 2 &&
               name.substr(1, literal_end - 1).find_first_not_of("0123456789abcdefABCDEF:.") ==
                   std::string_view::npos;
    }
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
        return is_alpha(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
    });
}

// A well-formed Host without its port, if it is neither an address nor a name without a dot.
std::optional<std::string_view> public_name(std::string_view host) {
    if (host.starts_with('[')) return std::nullopt;
    const std::string_view name = host.substr(0, host.find(':'));
    const bool has_dot = name.find('.') != std::string_view::npos;
    const bool numeric = name.find_first_not_of("0123456789.") == std::string_view::npos;
    return has_dot && !numeric ? std::optional{name} : std::nullopt;
}

fault check_host(const request_head& head, const head_options& options) {
    if (head.headers.count("Host") != 1) {
        return refuse(head_fault::host, "there must be exactly one Host");
    }
    const std::string& host = *head.headers.find("Host");
    if (!is_host(host)) return refuse(head_fault::host, "the Host is malformed");
    if (!options.hosts.empty() && !is_one_of(host, options.hosts)) {
        return refuse(head_fault::host, "this server does not answer for that Host", 421);
    }
    const auto name = options.names ? public_name(host) : std::nullopt;
    if (name && !is_one_of(*name, *options.names)) {
        return refuse(head_fault::host,
                      "that Host is not among the names of this server in its configuration", 421);
    }
    return std::nullopt;
}

// Two lines of one of these mean two things to two readers.
constexpr std::array<std::string_view, 4> singles = {"Content-Type", "Authorization", "Expect",
                                                     "Proxy-Authorization"};

constexpr std::array<std::string_view, 8> end_to_end = {
    "Host",          "Content-Length",    "Content-Type", "Content-Encoding",
    "Authorization", "Transfer-Encoding", "Cookie",       "Forwarded"};

fault check_repeated(const request_head& head) {
    for (const std::string_view name : singles) {
        if (head.headers.count(name) > 1) {
            return refuse(head_fault::repeated, std::string{name} + " came twice");
        }
    }
    return std::nullopt;
}

fault check_connection(const request_head& head, const std::vector<std::string>& vital) {
    for (const std::string_view name : list_members(head.headers, "Connection")) {
        if (is_one_of(name, end_to_end) || is_one_of(name, vital)) {
            return refuse(head_fault::connection, "Connection names a header that must go on");
        }
    }
    if (head.headers.contains("Upgrade")) {
        return refuse(head_fault::upgrade, "no other protocol is spoken here");
    }
    const std::string* expect = head.headers.find("Expect");
    if (expect != nullptr && !equal_ignoring_case(*expect, "100-continue")) {
        return refuse(head_fault::expectation, "the expectation cannot be met", 417);
    }
    return std::nullopt;
}

using framing = std::variant<body_framing, refused_head>;

framing chunked_framing(const request_head& head) {
    const bool one = head.headers.count("Transfer-Encoding") == 1;
    if (!one || !equal_ignoring_case(*head.headers.find("Transfer-Encoding"), "chunked")) {
        return refuse(head_fault::transfer_encoding, "the only transfer coding is chunked");
    }
    if (head.version == version::http_1_0) {
        return refuse(head_fault::transfer_encoding, "HTTP/1.0 has no transfer codings");
    }
    if (head.headers.contains("Content-Length")) {
        return refuse(head_fault::content_length,
                      "Content-Length and Transfer-Encoding exclude each other");
    }
    return body_framing{.how = body_framing::by::chunks};
}

framing framing_of(const request_head& head) {
    if (head.headers.contains("Transfer-Encoding")) return chunked_framing(head);
    const std::size_t lengths = head.headers.count("Content-Length");
    if (lengths == 0) return body_framing{};
    const std::string& text = *head.headers.find("Content-Length");
    const std::optional<std::uint64_t> length = to_number(text);
    const bool padded = text.size() > 1 && text.front() == '0';
    if (lengths > 1 || !length || padded) {
        return refuse(head_fault::content_length, "Content-Length must be one plain number");
    }
    return body_framing{.how = body_framing::by::length, .length = *length};
}

constexpr std::array<std::string_view, 16> fault_names = {
    "request_line",   "version",           "method",
    "target",         "line_ending",       "folded",
    "header_name",    "header_value",      "host",
    "content_length", "transfer_encoding", "repeated",
    "connection",     "upgrade",           "expectation",
    "too_long"};

} // namespace

std::variant<body_framing, refused_head> check_head(const request_head& head,
                                                    const head_options& options) {
    if (auto wrong = check_limits(head, options.limits)) return *std::move(wrong);
    if (auto wrong = check_method(head, options.limits)) return *std::move(wrong);
    if (auto wrong = check_target(head)) return *std::move(wrong);
    if (auto wrong = check_lines(head)) return *std::move(wrong);
    if (auto wrong = check_host(head, options)) return *std::move(wrong);
    if (auto wrong = check_repeated(head)) return *std::move(wrong);
    if (auto wrong = check_connection(head, options.vital)) return *std::move(wrong);
    return framing_of(head);
}

std::string_view name(head_fault fault) {
    return fault_names.at(static_cast<std::size_t>(fault));
}

} // namespace semel::http
