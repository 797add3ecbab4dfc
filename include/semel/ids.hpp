// Public ids: 128-bit values that sort by time and are safe to show.
//
//   ulid            01ARZ3NDEKTSV4RRFFQ69G5FAV        26 characters, upper case
//   typed_id        order_01h455vb4pex5vsknk084sn02q  TypeID 0.3: prefix and UUIDv7, lower case
//   public_id_codec order_5rk0d…                      an internal 64-bit id, encrypted
//
// All are plain values with a 16-byte big-endian binary form that sorts like the text. Functions
// may be called from any thread.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"

namespace semel {

// 128 bits, ordered as an unsigned number.
struct uuid128 {
    std::uint64_t high = 0;
    std::uint64_t low = 0;

    static constexpr std::size_t size_bytes = 16;
    using bytes_type = std::array<std::byte, size_bytes>;

    [[nodiscard]] bytes_type bytes() const;
    // Anything but 16 bytes is invalid_argument.
    static result<uuid128> from_bytes(std::span<const std::byte> bytes);

    [[nodiscard]] std::string to_string() const; // 8-4-4-4-12 hex digits, lower case
    // The milliseconds since 1970 in the first 48 bits; only ULIDs and UUIDv7 have them there.
    [[nodiscard]] constexpr std::uint64_t milliseconds() const noexcept { return high >> 16U; }
    [[nodiscard]] constexpr unsigned version() const noexcept { return (high >> 12U) & 0x0FU; }

    friend constexpr auto operator<=>(const uuid128&, const uuid128&) = default;
};

struct random80 {
    std::uint16_t high = 0;
    std::uint64_t low = 0;
};

class ulid {
public:
    static constexpr std::size_t text_size = 26;
    static constexpr std::uint64_t milliseconds_max = (std::uint64_t{1} << 48U) - 1;

    constexpr ulid() = default; // all zero
    explicit constexpr ulid(uuid128 value) noexcept : value_(value) {}

    // Precondition: milliseconds <= milliseconds_max.
    static ulid from_parts(std::uint64_t milliseconds, random80 random);
    // Crockford's alphabet in either case, 26 characters, the first at most '7'. His aliases
    // (I and L for 1, O for 0) are refused: one id has one spelling. Else invalid_argument.
    static result<ulid> parse(std::string_view text);
    static result<ulid> from_bytes(std::span<const std::byte> bytes);

    [[nodiscard]] std::string to_string() const;
    [[nodiscard]] uuid128::bytes_type bytes() const { return value_.bytes(); }
    [[nodiscard]] constexpr uuid128 value() const noexcept { return value_; }
    [[nodiscard]] constexpr std::uint64_t milliseconds() const noexcept {
        return value_.milliseconds();
    }

    friend constexpr auto operator<=>(const ulid&, const ulid&) = default;

private:
    uuid128 value_;
};

// Strictly increasing ULIDs. Within one millisecond the random part counts up by one; if the clock
// goes back, the last millisecond is kept and counted up, so order survives. Thread-safe; the two
// sources are called one at a time.
class ulid_generator {
public:
    struct sources {
        std::function<std::uint64_t()> milliseconds;
        std::function<random80()> random;
    };

    explicit ulid_generator(sources from);

    // limit_exceeded: the random part is used up in this millisecond, or the clock is past the year
    // 10889. Nothing has changed then.
    result<ulid> next();

private:
    const sources from_;
    detail::mutex mutex_;
    ulid last_ SEMEL_GUARDED_BY(mutex_);
};

// The process's own generator: system clock, operating system's randomness. Increasing within the
// process; a forked child starts afresh and does not repeat its parent's ids.
[[nodiscard]] ulid new_ulid();
// The same for UUIDv7.
[[nodiscard]] uuid128 new_uuid7();

// ---- TypeID ------------------------------------------------------------------------------------

// A TypeID whose prefix is known only at run time.
struct type_id {
    std::string prefix;
    uuid128 value;

    // Up to 63 characters of a-z and '_', starting and ending with a letter; or empty.
    [[nodiscard]] static constexpr bool is_valid_prefix(std::string_view prefix) noexcept;

    // Any 128-bit value is accepted, not only UUIDv7. Else invalid_argument.
    static result<type_id> parse(std::string_view text);
    // A new UUIDv7. invalid_argument: bad prefix.
    static result<type_id> generate(std::string_view prefix);
    // Precondition: is_valid_prefix(prefix).
    [[nodiscard]] std::string to_string() const;

    friend auto operator<=>(const type_id&, const type_id&) = default;
};

// A string literal as a template argument.
template <std::size_t Size> struct fixed_string {
    std::array<char, Size> text{};

    consteval fixed_string(const char (&literal)[Size]) {
        std::copy_n(literal, Size, text.begin());
    }
    [[nodiscard]] constexpr std::string_view view() const noexcept {
        return {text.data(), Size - 1};
    }
};

// An id of one kind of thing: typed_id<"order"> and typed_id<"user"> do not mix, and a wrong prefix
// does not compile.
template <fixed_string Prefix> class typed_id {
public:
    static_assert(type_id::is_valid_prefix(Prefix.view()), "not a TypeID prefix: use a-z and _");
    static constexpr std::string_view prefix = Prefix.view();

    constexpr typed_id() = default; // all zero
    explicit constexpr typed_id(uuid128 value) noexcept : value_(value) {}

    static typed_id generate() { return typed_id{new_uuid7()}; }
    // invalid_argument: not a TypeID, or one with another prefix.
    static result<typed_id> parse(std::string_view text);
    static result<typed_id> from_bytes(std::span<const std::byte> bytes);

    [[nodiscard]] std::string to_string() const;
    [[nodiscard]] uuid128::bytes_type bytes() const { return value_.bytes(); }
    [[nodiscard]] constexpr uuid128 value() const noexcept { return value_; }

    friend constexpr auto operator<=>(const typed_id&, const typed_id&) = default;

private:
    uuid128 value_;
};

// ---- internal ids, made public -----------------------------------------------------------------

struct public_id_codec_options {
    std::string prefix; // of the kind of thing; a TypeID prefix, not empty
    std::string secret; // at least 16 bytes; changing it changes every public id
};

// Turns internal 64-bit ids (database keys) into opaque public ids and back, without a table. The
// text has the form of a TypeID: prefix, '_', 26 characters. Behind it is one AES-256 block under a
// key made from secret and prefix, holding the id and 64 check bits. So public ids do not show how
// many there are or which came first, and a changed, guessed or foreign one is refused, except with
// probability 2^-64. The same id always gives the same text. It is an identifier, not a permission.
// Immutable; any thread.
class public_id_codec {
public:
    // invalid_argument: bad prefix or too short a secret.
    static result<public_id_codec> make(const public_id_codec_options& from);

    [[nodiscard]] std::string encode(std::uint64_t internal) const;
    // invalid_argument: not of this form, of another prefix, or not made under this secret.
    [[nodiscard]] result<std::uint64_t> decode(std::string_view text) const;

private:
    public_id_codec(std::string prefix, const std::array<std::byte, 32>& key)
        : prefix_(std::move(prefix)), key_(key) {}

    std::string prefix_;
    std::array<std::byte, 32> key_;
};

// ------------------------------------------------------------------------------------------------

constexpr bool type_id::is_valid_prefix(std::string_view prefix) noexcept {
    if (prefix.empty()) return true;
    const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; };
    return prefix.size() <= 63 && prefix.front() != '_' && prefix.back() != '_' &&
           std::all_of(prefix.begin(), prefix.end(), allowed);
}

template <fixed_string Prefix>
result<typed_id<Prefix>> typed_id<Prefix>::parse(std::string_view text) {
    const result<type_id> any = type_id::parse(text);
    if (!any) return any.error();
    if (any->prefix != prefix) {
        return failure{.code = errc::invalid_argument,
                       .detail = "the id's prefix is '" + any->prefix + "', not '" +
                                 std::string{prefix} + "'"};
    }
    return typed_id{any->value};
}

template <fixed_string Prefix>
result<typed_id<Prefix>> typed_id<Prefix>::from_bytes(std::span<const std::byte> bytes) {
    const result<uuid128> value = uuid128::from_bytes(bytes);
    if (!value) return value.error();
    return typed_id{*value};
}

template <fixed_string Prefix> std::string typed_id<Prefix>::to_string() const {
    return type_id{.prefix = std::string{prefix}, .value = value_}.to_string();
}

} // namespace semel

template <> struct std::hash<semel::uuid128> {
    std::size_t operator()(const semel::uuid128& value) const noexcept {
        // The low half is random in every kind of id but a hand-made one; the high half is mixed in
        // for those.
        return static_cast<std::size_t>(value.low ^ (value.high * 0x9E3779B97F4A7C15U));
    }
};
template <> struct std::hash<semel::ulid> {
    std::size_t operator()(const semel::ulid& id) const noexcept {
        return std::hash<semel::uuid128>{}(id.value());
    }
};
template <semel::fixed_string Prefix> struct std::hash<semel::typed_id<Prefix>> {
    std::size_t operator()(const semel::typed_id<Prefix>& id) const noexcept {
        return std::hash<semel::uuid128>{}(id.value());
    }
};
