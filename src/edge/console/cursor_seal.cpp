#include "edge/console/cursor_seal.hpp"

#include "base/hex.hpp"

namespace semel::edge {
namespace {

constexpr std::size_t padded_to = 128;

// A search of all tenants must not be gone on with by one that sees its own only.
std::string bound_to(const record_query& of) {
    return "semel cursor " + (of.tenant ? "of " + *of.tenant : "of all");
}

} // namespace

cursor_seal::cursor_seal(std::string secret) : box_({{.id = "c", .secret = std::move(secret)}}) {}

std::string cursor_seal::close(std::string_view cursor, const record_query& of) const {
    if (cursor.empty()) return {};
    std::string padded{cursor};
    padded.resize((padded.size() + padded_to) / padded_to * padded_to, ' ');
    return to_hex(box_.close(padded, bound_to(of)));
}

std::optional<std::string> cursor_seal::open(std::string_view sealed,
                                             const record_query& of) const {
    const auto bytes = from_hex(sealed);
    auto plain = bytes ? box_.open(*bytes, bound_to(of)) : std::nullopt;
    if (plain) plain->erase(plain->find_last_not_of(' ') + 1);
    return plain;
}

} // namespace semel::edge
