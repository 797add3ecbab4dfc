#include "http/path.hpp"

#include <algorithm>

#include "semel/fingerprint.hpp"
#include "semel/http/route.hpp"

namespace semel::http {
namespace {

std::optional<std::string> decoded(std::string_view path) {
    std::string plain;
    plain.reserve(path.size());
    for (std::size_t i = 0; i < path.size(); ++i) {
        char c = path[i];
        if (c == '%') {
            if (path.size() - i < 3) return std::nullopt;
            const int high = semel::detail::hex_value(path[i + 1]);
            const int low = semel::detail::hex_value(path[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            c = static_cast<char>(high * 16 + low);
            i += 2;
        }
        if (c == '\0') return std::nullopt;
        plain += c;
    }
    return plain;
}

std::vector<std::string> split(std::string_view path) {
    std::vector<std::string> segments;
    while (!path.empty()) {
        const std::size_t end = std::min(path.find('/'), path.size());
        if (end > 0) segments.emplace_back(path.substr(0, end));
        path.remove_prefix(std::min(end + 1, path.size()));
    }
    return segments;
}

bool takes_any(std::string_view segment) {
    return segment == "*" ||
           (segment.size() > 2 && segment.front() == '{' && segment.back() == '}');
}

} // namespace

std::optional<std::vector<std::string>> decoded_segments(std::string_view path) {
    const std::optional<std::string> plain = decoded(path);
    if (!plain) return std::nullopt;
    return split(*plain);
}

std::optional<std::vector<std::string>> without_parameters(std::string_view path) {
    if (path.find(';') == std::string_view::npos) return std::nullopt;
    std::string plain;
    bool skipped = false;
    for (const char c : path) {
        if (c == '/') skipped = false;
        if (c == ';') skipped = true;
        if (!skipped) plain += c;
    }
    return decoded_segments(plain);
}

std::vector<std::string> pattern_segments(std::string_view pattern) {
    return split(pattern);
}

bool fits(const std::vector<std::string>& pattern, const std::vector<std::string>& segments) {
    for (std::size_t i = 0; i < pattern.size(); ++i) {
        if (pattern[i] == "**") return true;
        if (i == segments.size()) return false;
        if (!takes_any(pattern[i]) && pattern[i] != segments[i]) return false;
    }
    return pattern.size() == segments.size();
}

bool matches(std::string_view pattern, std::string_view path) {
    const auto parts = pattern_segments(pattern);
    const auto segments = decoded_segments(path);
    const auto plain = without_parameters(path);
    return segments && (fits(parts, *segments) || (plain && fits(parts, *plain)));
}

} // namespace semel::http
