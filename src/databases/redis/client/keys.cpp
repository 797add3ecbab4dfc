#include "databases/redis/client/keys.hpp"

#include <charconv>

namespace semel::redis {

namespace {

constexpr std::size_t prefix_bytes_max = 64;
constexpr std::size_t hash_digits = 16;
constexpr std::string_view after_hash = "}:";

void append_part(std::string& to, std::string_view part) {
    char digits[20];
    to.append(digits, std::to_chars(digits, digits + sizeof digits, part.size()).ptr);
    to += ':';
    to += part;
}

std::string key_of(std::string_view prefix, std::uint64_t hash, char kind, const record_id& id) {
    std::string key;
    key.reserve(prefix.size() + hash_digits + 16 + id.tenant.size() + id.operation.size() +
                id.key.size());
    key += prefix;
    key += '{';
    for (int shift = 60; shift >= 0; shift -= 4) key += "0123456789abcdef"[(hash >> shift) & 15U];
    key += after_hash;
    key += kind;
    key += ':';
    append_part(key, id.tenant);
    append_part(key, id.operation);
    key += id.key;
    return key;
}

std::optional<std::string> take_part(std::string_view& from) {
    std::size_t length = 0;
    const auto [end, error] = std::from_chars(from.data(), from.data() + from.size(), length);
    const auto digits = static_cast<std::size_t>(end - from.data());
    if (error != std::errc{} || digits >= from.size() || from[digits] != ':') return std::nullopt;
    from.remove_prefix(digits + 1);
    if (from.size() < length) return std::nullopt;
    std::string part{from.substr(0, length)};
    from.remove_prefix(length);
    return part;
}

} // namespace

bool valid_prefix(std::string_view prefix) {
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                         "0123456789_-:.";
    return !prefix.empty() && prefix.size() <= prefix_bytes_max &&
           prefix.find_first_not_of(allowed) == std::string_view::npos;
}

std::string record_key(std::string_view prefix, std::uint64_t hash, const record_id& id) {
    return key_of(prefix, hash, 'r', id);
}

std::string audit_key(std::string_view prefix, std::uint64_t hash, const record_id& id) {
    return key_of(prefix, hash, 'a', id);
}

std::string front_key(std::string_view prefix, std::uint64_t hash, const record_id& id) {
    return key_of(prefix, hash, 'f', id);
}

std::string record_pattern(std::string_view prefix) {
    return std::string{prefix} + "{*}:r:*";
}

std::string front_pattern(std::string_view prefix) {
    return std::string{prefix} + "{*}:f:*";
}

std::optional<record_id> id_in(std::string_view key, std::string_view prefix) {
    if (!key.starts_with(prefix)) return std::nullopt;
    key.remove_prefix(prefix.size());
    if (key.size() < 1 + hash_digits + 4) return std::nullopt;
    if (key.front() != '{' || key.substr(1 + hash_digits, 4) != "}:r:") return std::nullopt;
    key.remove_prefix(1 + hash_digits + 4);
    auto tenant = take_part(key);
    if (!tenant) return std::nullopt;
    auto operation = take_part(key);
    if (!operation) return std::nullopt;
    return record_id{
        .tenant = *std::move(tenant), .operation = *std::move(operation), .key = std::string{key}};
}

} // namespace semel::redis
