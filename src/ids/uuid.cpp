#include "semel/ids.hpp"

namespace semel {

uuid128::bytes_type uuid128::bytes() const {
    bytes_type bytes;
    for (std::size_t i = 0; i < 8; ++i) {
        bytes[i] = static_cast<std::byte>(high >> (56U - 8U * i));
        bytes[8 + i] = static_cast<std::byte>(low >> (56U - 8U * i));
    }
    return bytes;
}

result<uuid128> uuid128::from_bytes(std::span<const std::byte> bytes) {
    if (bytes.size() != size_bytes) {
        return failure{.code = errc::invalid_argument,
                       .detail = "an id has 16 bytes, not " + std::to_string(bytes.size())};
    }
    uuid128 value;
    for (std::size_t i = 0; i < 8; ++i) {
        value.high = (value.high << 8U) | std::to_integer<std::uint64_t>(bytes[i]);
        value.low = (value.low << 8U) | std::to_integer<std::uint64_t>(bytes[8 + i]);
    }
    return value;
}

std::string uuid128::to_string() const {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(36);
    const bytes_type all = bytes();
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        text += digits[std::to_integer<unsigned>(all[i] >> 4U)];
        text += digits[std::to_integer<unsigned>(all[i] & std::byte{0x0F})];
    }
    return text;
}

} // namespace semel
