#include "ids/base32.hpp"

namespace semel::detail {
namespace {

constexpr std::string_view upper_digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
constexpr std::string_view lower_digits = "0123456789abcdefghjkmnpqrstvwxyz";
constexpr std::uint8_t no_digit = 0xFF;

constexpr std::array<std::uint8_t, 256> make_values() {
    std::array<std::uint8_t, 256> values{};
    values.fill(no_digit);
    for (std::size_t i = 0; i < 32; ++i) {
        values[static_cast<unsigned char>(upper_digits[i])] = static_cast<std::uint8_t>(i);
        values[static_cast<unsigned char>(lower_digits[i])] = static_cast<std::uint8_t>(i);
    }
    return values;
}
constexpr std::array<std::uint8_t, 256> digit_values = make_values();

} // namespace

std::string to_base32(uuid128 value, letters alphabet) {
    const std::string_view digits = alphabet == letters::upper ? upper_digits : lower_digits;
    std::string text(ulid::text_size, '0');
    for (std::size_t i = text.size(); i-- > 0;) {
        text[i] = digits[value.low & 31U];
        value.low = (value.low >> 5U) | (value.high << 59U);
        value.high >>= 5U;
    }
    return text;
}

std::optional<uuid128> from_base32(std::string_view text, accept what) {
    if (text.size() != ulid::text_size || text.front() < '0' || text.front() > '7') {
        return std::nullopt;
    }
    uuid128 value;
    for (const char c : text) {
        const std::uint8_t digit = digit_values[static_cast<unsigned char>(c)];
        const bool wrong_case = what == accept::lower_only && c >= 'A' && c <= 'Z';
        if (digit == no_digit || wrong_case) return std::nullopt;
        value.high = (value.high << 5U) | (value.low >> 59U);
        value.low = (value.low << 5U) | digit;
    }
    return value;
}

} // namespace semel::detail
