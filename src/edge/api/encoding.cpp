#include "edge/api/encoding.hpp"

#include <cstdint>

#include "semel/fingerprint.hpp"

namespace semel::edge {
namespace {

constexpr std::string_view letters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

unsigned byte_at(std::string_view bytes, std::size_t at) {
    return at < bytes.size() ? static_cast<unsigned char>(bytes[at]) : 0U;
}

void append_number(std::string& to, std::uint64_t number) {
    for (int shift = 56; shift >= 0; shift -= 8) to += static_cast<char>(number >> shift);
}

std::uint64_t number_at(std::string_view bytes, std::size_t at) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < 8; ++i) number = (number << 8U) | byte_at(bytes, at + i);
    return number;
}

constexpr std::size_t claim_bytes = 24;

} // namespace

std::string to_base64(std::string_view bytes) {
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const unsigned three =
            byte_at(bytes, at) << 16U | byte_at(bytes, at + 1) << 8U | byte_at(bytes, at + 2);
        for (std::size_t i = 0; i < 4; ++i) {
            text += i > bytes.size() - at ? '=' : letters[(three >> (18 - 6 * i)) & 0x3FU];
        }
    }
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    if (text.size() % 4 != 0) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3);
    const std::size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
    for (std::size_t at = 0; at < text.size(); at += 4) {
        const bool last = at + 4 == text.size();
        unsigned three = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            const bool padded = last && i >= 4 - padding;
            const auto value = padded ? 0 : letters.find(text[at + i]);
            if (value == std::string_view::npos) return std::nullopt;
            three = three << 6U | static_cast<unsigned>(value);
        }
        const std::size_t count = last ? 3 - padding : 3;
        for (std::size_t i = 0; i < count; ++i) bytes += static_cast<char>(three >> (16 - 8 * i));
    }
    // Two spellings of the same bytes would be two tokens for one claim.
    if (to_base64(bytes) != text) return std::nullopt;
    return bytes;
}

std::string attempt_token(const claim& by) {
    std::string bytes;
    append_number(bytes, by.fence);
    append_number(bytes, by.owner.high);
    append_number(bytes, by.owner.low);
    std::string text = to_base64(bytes);
    for (char& c : text) c = c == '+' ? '-' : c == '/' ? '_' : c;
    return text;
}

std::optional<claim> parse_attempt_token(std::string_view token) {
    std::string text{token};
    if (text.find_first_of("+/=") != std::string::npos) return std::nullopt;
    for (char& c : text) c = c == '-' ? '+' : c == '_' ? '/' : c;
    const auto bytes = from_base64(text);
    if (!bytes || bytes->size() != claim_bytes) return std::nullopt;
    return claim{.fence = number_at(*bytes, 0),
                 .owner = {.high = number_at(*bytes, 8), .low = number_at(*bytes, 16)}};
}

std::optional<std::string> percent_decoded(std::string_view text) {
    std::string bytes;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] != '%') {
            bytes += text[at];
            continue;
        }
        if (text.size() - at < 3) return std::nullopt;
        const int high = semel::detail::hex_value(text[at + 1]);
        const int low = semel::detail::hex_value(text[at + 2]);
        if (high < 0 || low < 0) return std::nullopt;
        bytes += static_cast<char>(high * 16 + low);
        at += 2;
    }
    return bytes;
}

} // namespace semel::edge
