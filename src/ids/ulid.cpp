#include "ids/base32.hpp"

#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"

namespace semel {
namespace {

// The next larger value with the same 48 bits of time, if there is one.
std::optional<uuid128> increment_random(uuid128 value) {
    constexpr std::uint64_t random_high_mask = 0xFFFF;
    if (++value.low != 0) return value;
    if ((value.high & random_high_mask) == random_high_mask) return std::nullopt;
    ++value.high;
    return value;
}

} // namespace

ulid ulid::from_parts(std::uint64_t milliseconds, random80 random) {
    SEMEL_ASSERT(milliseconds <= milliseconds_max);
    return ulid{uuid128{.high = (milliseconds << 16U) | random.high, .low = random.low}};
}

result<ulid> ulid::parse(std::string_view text) {
    const auto value = detail::from_base32(text, detail::accept::both_cases);
    if (!value) {
        return failure{.code = errc::invalid_argument,
                       .detail = "not a ULID: 26 characters of 0-9 and A-Z without I, L, O and U, "
                                 "the first at most 7"};
    }
    return ulid{*value};
}

result<ulid> ulid::from_bytes(std::span<const std::byte> bytes) {
    const result<uuid128> value = uuid128::from_bytes(bytes);
    if (!value) return value.error();
    return ulid{*value};
}

std::string ulid::to_string() const {
    return detail::to_base32(value_, detail::letters::upper);
}

ulid_generator::ulid_generator(sources from) : from_(std::move(from)) {}

result<ulid> ulid_generator::next() {
    const detail::guard lock(mutex_);
    const std::uint64_t now = from_.milliseconds();
    if (now > ulid::milliseconds_max) {
        return failure{.code = errc::limit_exceeded,
                       .detail = "the clock is past what a ULID can hold"};
    }
    if (now > last_.milliseconds()) {
        last_ = ulid::from_parts(now, from_.random());
        return last_;
    }
    const auto following = increment_random(last_.value());
    if (!following) {
        return failure{.code = errc::limit_exceeded,
                       .detail = "the random part of ULIDs is used up in this millisecond"};
    }
    last_ = ulid{*following};
    return last_;
}

} // namespace semel
