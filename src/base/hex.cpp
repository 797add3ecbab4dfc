#include "base/hex.hpp"

namespace semel {
namespace {

constexpr std::string_view lower = "0123456789abcdef";
constexpr std::string_view upper = "0123456789ABCDEF";

bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '.' || c == '_';
}

} // namespace

std::string to_hex(std::string_view bytes) {
    std::string made;
    made.reserve(bytes.size() * 2);
    for (const char one : bytes) {
        const auto byte = static_cast<unsigned char>(one);
        made += {lower[byte >> 4U], lower[byte & 15U]};
    }
    return made;
}

std::optional<std::string> from_hex(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string made;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto high = lower.find(text[at]);
        const auto low = lower.find(text[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        made += static_cast<char>(high << 4U | low);
    }
    return made;
}

void append_escape(std::string& to, char byte) {
    const auto code = static_cast<unsigned char>(byte);
    to += {'%', upper[code >> 4U], upper[code & 15U]};
}

std::string percent_escaped(std::string_view text) {
    std::string made;
    for (const char c : text) {
        if (is_unreserved(c)) {
            made += c;
        } else {
            append_escape(made, c);
        }
    }
    return made;
}

} // namespace semel
