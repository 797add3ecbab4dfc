// How the parts of a store's or a sink's URL are written. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace semel::net {

[[nodiscard]] constexpr bool is_digit(char one) {
    return one >= '0' && one <= '9';
}
[[nodiscard]] constexpr bool is_letter_or_digit(char one) {
    return is_digit(one) || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z');
}
// Of a host that is no IPv6 address.
[[nodiscard]] constexpr bool is_host_char(char one) {
    return is_letter_or_digit(one) || one == '.' || one == '-' || one == '_';
}

// -1 if it is none.
[[nodiscard]] int hex_digit(char one);

// %XX resolved; a sign that is not followed by two digits stays.
[[nodiscard]] std::string decoded_url_text(std::string_view text);

// A URL as a value inside the URL of a tiered store: & and % escaped.
[[nodiscard]] std::string nested_url(std::string_view url);

} // namespace semel::net
