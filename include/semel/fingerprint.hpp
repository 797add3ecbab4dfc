// Fingerprints: the SHA-256 of the canonical form of what matters in a request. Two requests with
// the same key and different fingerprints are a mismatch; equal fingerprints are a repeat.
//
// `fingerprint` itself is a plain value; everything that needs no hashing is inline here. The
// functions that compute one live in the library semel::fingerprint. All may be called from any
// thread.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/fingerprint/canonical_json.hpp"

namespace semel {

struct digest_options {
    // Not empty: HMAC-SHA-256 under this secret instead of SHA-256. A reader of the store then
    // cannot test guesses of a small body against its fingerprint.
    std::string secret = {};
};

struct json_options {
    canonical_options canonical = {}; // selection, number profile, limits
    std::string secret = {};          // as in digest_options
};

class fingerprint {
public:
    static constexpr std::size_t size_bytes = 32;
    using bytes_type = std::array<std::byte, size_bytes>;

    explicit constexpr fingerprint(const bytes_type& bytes) noexcept : bytes_(bytes) {}

    // Anything but 32 bytes is invalid_argument.
    static result<fingerprint> from_bytes(std::span<const std::byte> bytes);
    static result<fingerprint> from_bytes(std::string_view bytes);
    // 64 hex digits, either case; anything else is invalid_argument.
    static result<fingerprint> from_hex(std::string_view hex);

    // The hash of exactly these bytes: what `sha256sum` prints.
    static fingerprint raw(std::string_view body, const digest_options& options = {});

    // The hash of canonical_json(body): what `semel canonical < body | sha256sum` prints.
    // A body that canonical_json refuses (not JSON, duplicate names, over a limit) counts as raw
    // bytes behind the tag "semel:not-json\0", which no JSON text starts with; so it never collides
    // with a document.
    static fingerprint json(std::string_view body, const json_options& options = {});

    // application/x-www-form-urlencoded: the hash of the fields decoded, sorted by name (fields of
    // one name keep their order) and encoded again in one way.
    static fingerprint form(std::string_view body, const digest_options& options = {});

    [[nodiscard]] constexpr const bytes_type& bytes() const noexcept { return bytes_; }
    [[nodiscard]] std::string_view as_string_view() const noexcept {
        return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
    }
    [[nodiscard]] std::string hex() const;

    friend constexpr bool operator==(const fingerprint&, const fingerprint&) = default;
    friend constexpr std::strong_ordering operator<=>(const fingerprint& left,
                                                      const fingerprint& right) noexcept {
        for (std::size_t i = 0; i < size_bytes; ++i) {
            if (left.bytes_[i] != right.bytes_[i]) return left.bytes_[i] <=> right.bytes_[i];
        }
        return std::strong_ordering::equal;
    }

private:
    bytes_type bytes_;
};

// A fingerprint over several named parts, for instance the method, path, query and body of a
// request. Names and values are length-prefixed, so ("a", "bc") and ("ab", "c") differ; the order
// of the parts counts. A large part goes in as its own fingerprint. Not thread-safe.
class fingerprint_builder {
public:
    explicit fingerprint_builder(digest_options options = {});

    fingerprint_builder& add(std::string_view name, std::string_view value);
    fingerprint_builder& add(std::string_view name, const fingerprint& value);

    // The fingerprint of the parts so far; more may be added after it.
    [[nodiscard]] fingerprint finish() const;

private:
    digest_options options_;
    std::string parts_;
};

// The canonical text that fingerprint::form hashes.
[[nodiscard]] std::string canonical_form(std::string_view body);

namespace detail {

constexpr int hex_value(char digit) noexcept {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

inline std::string to_hex(std::span<const std::byte> bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string hex;
    hex.reserve(bytes.size() * 2);
    for (const std::byte byte : bytes) {
        hex += digits[std::to_integer<unsigned>(byte >> 4U)];
        hex += digits[std::to_integer<unsigned>(byte & std::byte{0x0F})];
    }
    return hex;
}

} // namespace detail

inline result<fingerprint> fingerprint::from_bytes(std::span<const std::byte> bytes) {
    if (bytes.size() != size_bytes) {
        return failure{.code = errc::invalid_argument,
                       .detail = "a fingerprint has 32 bytes, not " + std::to_string(bytes.size())};
    }
    bytes_type copy;
    std::memcpy(copy.data(), bytes.data(), size_bytes);
    return fingerprint{copy};
}

inline result<fingerprint> fingerprint::from_bytes(std::string_view bytes) {
    return from_bytes(std::as_bytes(std::span{bytes.data(), bytes.size()}));
}

inline result<fingerprint> fingerprint::from_hex(std::string_view hex) {
    if (hex.size() != 2 * size_bytes) {
        return failure{.code = errc::invalid_argument,
                       .detail =
                           "a fingerprint has 64 hex digits, not " + std::to_string(hex.size())};
    }
    bytes_type bytes;
    for (std::size_t i = 0; i < size_bytes; ++i) {
        const int high = detail::hex_value(hex[2 * i]);
        const int low = detail::hex_value(hex[2 * i + 1]);
        if (high < 0 || low < 0) {
            return failure{.code = errc::invalid_argument,
                           .detail = "not a hex digit at position " + std::to_string(2 * i)};
        }
        bytes[i] = static_cast<std::byte>(high * 16 + low);
    }
    return fingerprint{bytes};
}

inline std::string fingerprint::hex() const {
    return detail::to_hex(bytes_);
}

} // namespace semel

// The bytes are already a hash: the first eight of them are as good as any mix of all.
template <> struct std::hash<semel::fingerprint> {
    std::size_t operator()(const semel::fingerprint& of) const noexcept {
        std::size_t value = 0;
        std::memcpy(&value, of.bytes().data(), sizeof value);
        return value;
    }
};

namespace semel {

// Child keys along a call chain: the next hop gets a key that is the same on every repeat of this
// request and different from that of every other request. Pure; any thread.

// The longest key that any store takes. Longer results of the functions below become
// "sha256-<64 hex digits>", which stays deterministic but can no longer be read.
inline constexpr std::size_t derived_key_bytes_max = 255;

// The key of one step of the work done under `key`: derive("order-17", "payment") is
// "order-17:payment". Different pairs never give the same key: ':' and '%' inside the suffix are
// written %3A and %25, so the last ':' is always the one put here.
[[nodiscard]] std::string derive(std::string_view key, std::string_view suffix);

// A key as another system knows it: prefix("billing", "order-17") is "billing/order-17". Different
// pairs never give the same key: '/' and '%' inside the system's name are written %2F and %25, so
// the first '/' is always the one put here. May be mixed with derive in either order.
[[nodiscard]] std::string prefix(std::string_view system, std::string_view key);

// The key of a request that came without one: "fp-<64 hex digits>". Two requests with equal content
// are then one request; use it only where that is meant.
[[nodiscard]] std::string key_from(const fingerprint& content);
// Has it the form of such a key?
[[nodiscard]] bool is_derived_key(std::string_view key);

} // namespace semel
