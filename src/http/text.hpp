// Characters and small texts of HTTP. ASCII only, no locale. Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "semel/http/message.hpp"

namespace semel::http {

[[nodiscard]] constexpr bool is_digit(char c) {
    return c >= '0' && c <= '9';
}
[[nodiscard]] constexpr bool is_alpha(char c) {
    return to_lower(c) >= 'a' && to_lower(c) <= 'z';
}
// 0x21–0x7E: printable and not blank.
[[nodiscard]] constexpr bool is_visible(char c) {
    return c > ' ' && c < '\x7F';
}
// RFC 9110: what names and methods are made of. A table: every byte of every head asks it.
inline constexpr auto token_chars = [] {
    std::array<bool, 256> table{};
    for (const char c : std::string_view{"!#$%&'*+-.^_`|~"})
        table[static_cast<unsigned char>(c)] = true;
    for (char c = '0'; c <= '9'; ++c) table[static_cast<unsigned char>(c)] = true;
    for (char c = 'a'; c <= 'z'; ++c) table[static_cast<unsigned char>(c)] = true;
    for (char c = 'A'; c <= 'Z'; ++c) table[static_cast<unsigned char>(c)] = true;
    return table;
}();
[[nodiscard]] constexpr bool is_token_char(char c) {
    return token_chars[static_cast<unsigned char>(c)];
}
// What a header's value may hold: the tab, printable ASCII and, since RFC 9110 allows it and
// services put UTF-8 there, bytes from 0x80.
[[nodiscard]] constexpr bool is_value_char(char c) {
    return c == '\t' || static_cast<unsigned char>(c) >= 0x80 || (c >= ' ' && c < '\x7F');
}

[[nodiscard]] bool is_token(std::string_view text);
[[nodiscard]] bool is_value(std::string_view text);
[[nodiscard]] std::string lowered(std::string_view text);
// Without spaces and tabs at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// Digits only, and no overflow.
[[nodiscard]] std::optional<std::uint64_t> to_number(std::string_view digits);

// Takes what comes before the next `separator` outside quotes off the front of `rest`, with the
// separator; without one, all of it.
[[nodiscard]] std::string_view take_until_unquoted(std::string_view& rest, char separator);

} // namespace semel::http
