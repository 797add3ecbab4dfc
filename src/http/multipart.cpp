#include "http/multipart.hpp"

#include <algorithm>
#include <utility>

#include "http/media_type.hpp"
#include "http/text.hpp"

namespace semel::http {
namespace {

constexpr std::size_t boundary_bytes_max = 70;
constexpr std::size_t parts_max = 10'000;
constexpr std::size_t part_headers_max = 32;
constexpr int depth_max = 4;

// One delimiter line: where the text before it ends and the text after it begins.
struct delimiter {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool last = false;
};

// The line must hold nothing but the boundary, "--" on the last one, and blanks. What merely starts
// like the boundary is content.
std::optional<delimiter> delimiter_at(std::string_view body, std::size_t begin, std::size_t dashes,
                                      std::size_t boundary_bytes) {
    std::size_t at = dashes + 2 + boundary_bytes;
    const bool last = body.substr(at, 2) == "--";
    if (last) at += 2;
    at = std::min(body.find_first_not_of(" \t", at), body.size());
    if (body.substr(at, 2) == "\r\n") return delimiter{.begin = begin, .end = at + 2, .last = last};
    if (last && at == body.size()) return delimiter{.begin = begin, .end = at, .last = true};
    return std::nullopt;
}

// The next delimiter from `from` on; its line begins the body or follows a CRLF that belongs to it.
std::optional<delimiter> find_delimiter(std::string_view body, std::string_view dashed,
                                        std::size_t from) {
    for (std::size_t at = body.find(dashed, from); at != std::string_view::npos;
         at = body.find(dashed, at + 1)) {
        const bool after_line = at >= from + 2 && body.substr(at - 2, 2) == "\r\n";
        if (!after_line && at != 0) continue;
        const std::size_t begin = after_line ? at - 2 : at;
        if (auto found = delimiter_at(body, begin, at, dashed.size() - 2)) return found;
    }
    return std::nullopt;
}

std::optional<header_list> parse_part_headers(std::string_view lines) {
    header_list headers;
    while (!lines.empty()) {
        const std::size_t end = std::min(lines.find("\r\n"), lines.size());
        const std::string_view line = lines.substr(0, end);
        lines.remove_prefix(std::min(end + 2, lines.size()));
        const std::size_t colon = line.find(':');
        const bool fine = colon != std::string_view::npos && is_token(line.substr(0, colon)) &&
                          is_value(line.substr(colon + 1));
        if (!fine || headers.size() == part_headers_max) return std::nullopt;
        headers.add(std::string{line.substr(0, colon)},
                    std::string{trimmed(line.substr(colon + 1))});
    }
    return headers;
}

// A part may lack headers, and the blank line too where it has no body.
std::optional<body_part> parse_part(std::string_view text) {
    if (text.empty()) return body_part{};
    if (text.starts_with("\r\n")) return body_part{.headers = {}, .body = text.substr(2)};
    const std::size_t blank = text.find("\r\n\r\n");
    const bool has_body = blank != std::string_view::npos;
    if (!has_body && !text.ends_with("\r\n")) return std::nullopt;
    auto headers = parse_part_headers(text.substr(0, has_body ? blank : text.size() - 2));
    if (!headers) return std::nullopt;
    return body_part{.headers = *std::move(headers),
                     .body = has_body ? text.substr(blank + 4) : std::string_view{}};
}

std::optional<fingerprint> digest_body(std::string_view body, std::string_view boundary,
                                       const digest_options& options, int depth);

std::string without_boundary(const parameterised& type) {
    std::string made = lowered(type.value);
    for (const auto& [name, value] : type.parameters) {
        if (equal_ignoring_case(name, "boundary")) continue;
        made.append("; ").append(lowered(name)).append("=").append(value);
    }
    return made;
}

// Name and value of every header, where names are in lower case and sorted; a boundary is not part
// of what it delimits.
void add_part(fingerprint_builder& parts, const body_part& part, const digest_options& options,
              int depth) {
    std::vector<std::pair<std::string, std::string>> lines;
    std::optional<fingerprint> inner;
    // A part with several types is ambiguous, and each type would be parsed.
    const auto types =
        std::count_if(part.headers.begin(), part.headers.end(), [](const header& one) {
            return equal_ignoring_case(one.name, "Content-Type");
        });
    for (const header& line : part.headers) {
        std::string value = line.value;
        const parameterised type = parse_parameterised(value);
        const std::string* boundary = type.find("boundary");
        if (types == 1 && boundary != nullptr && equal_ignoring_case(line.name, "Content-Type")) {
            inner = digest_body(part.body, *boundary, options, depth + 1);
            if (inner) value = without_boundary(type);
        }
        lines.emplace_back(lowered(line.name), std::move(value));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    parts.add("headers", std::to_string(lines.size()));
    for (const auto& [name, value] : lines) parts.add(name, value);
    parts.add(inner ? "parts" : "body", inner ? *inner : fingerprint::raw(part.body, options));
}

std::optional<fingerprint> digest_body(std::string_view body, std::string_view boundary,
                                       const digest_options& options, int depth) {
    if (depth > depth_max) return std::nullopt;
    const auto parsed = parse_multipart(body, boundary);
    if (!parsed) return std::nullopt;
    fingerprint_builder parts{options};
    parts.add("preamble", parsed->preamble).add("epilogue", parsed->epilogue);
    for (const body_part& part : parsed->parts) add_part(parts, part, options, depth);
    return parts.finish();
}

} // namespace

std::optional<multipart_body> parse_multipart(std::string_view body, std::string_view boundary) {
    if (boundary.empty() || boundary.size() > boundary_bytes_max) return std::nullopt;
    const std::string dashed = "--" + std::string{boundary};
    auto open = find_delimiter(body, dashed, 0);
    if (!open) return std::nullopt;
    multipart_body parsed{.preamble = body.substr(0, open->begin), .epilogue = {}, .parts = {}};
    while (!open->last) {
        const auto next = find_delimiter(body, dashed, open->end);
        if (!next || parsed.parts.size() == parts_max) return std::nullopt;
        auto part = parse_part(body.substr(open->end, next->begin - open->end));
        if (!part) return std::nullopt;
        parsed.parts.push_back(*std::move(part));
        open = next;
    }
    parsed.epilogue = body.substr(open->end);
    return parsed;
}

std::optional<fingerprint> multipart_fingerprint(std::string_view body, std::string_view boundary,
                                                 const digest_options& options) {
    return digest_body(body, boundary, options, 0);
}

} // namespace semel::http
