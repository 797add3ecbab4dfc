#include "edge/console/cursor_seal.hpp"

namespace semel::edge {
namespace {

constexpr std::string_view digits = "0123456789abcdef";
constexpr std::size_t padded_to = 128;

// A search of all tenants must not be gone on with by one that sees its own only.
std::string bound_to(const record_query& of) {
    return "semel cursor " + (of.tenant ? "of " + *of.tenant : "of all");
}

std::string hex(std::string_view bytes) {
    std::string made;
    for (const char one : bytes) {
        const auto byte = static_cast<unsigned char>(one);
        made += {digits[byte >> 4U], digits[byte & 15U]};
    }
    return made;
}

std::optional<std::string> bytes_of(std::string_view text) {
    if (text.size() % 2 != 0) return std::nullopt;
    std::string made;
    for (std::size_t at = 0; at < text.size(); at += 2) {
        const auto high = digits.find(text[at]);
        const auto low = digits.find(text[at + 1]);
        if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
        made += static_cast<char>(high << 4U | low);
    }
    return made;
}

} // namespace

cursor_seal::cursor_seal(std::string secret) : box_({{.id = "c", .secret = std::move(secret)}}) {}

std::string cursor_seal::close(std::string_view cursor, const record_query& of) const {
    if (cursor.empty()) return {};
    std::string padded{cursor};
    padded.resize((padded.size() + padded_to) / padded_to * padded_to, ' ');
    return hex(box_.close(padded, bound_to(of)));
}

std::optional<std::string> cursor_seal::open(std::string_view sealed,
                                             const record_query& of) const {
    const auto bytes = bytes_of(sealed);
    auto plain = bytes ? box_.open(*bytes, bound_to(of)) : std::nullopt;
    if (plain) plain->erase(plain->find_last_not_of(' ') + 1);
    return plain;
}

} // namespace semel::edge
