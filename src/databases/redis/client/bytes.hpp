// Integers and length-prefixed strings in a row of bytes.
#pragma once

#include <bit>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "semel/base/time.hpp"

namespace semel::redis {

// The most significant byte first. Compilers make one instruction of it.
template <std::unsigned_integral Number> Number big_endian(Number number) {
    if constexpr (std::endian::native == std::endian::big || sizeof(Number) == 1) return number;
    if constexpr (sizeof(Number) == 2) return __builtin_bswap16(number);
    if constexpr (sizeof(Number) == 4) return __builtin_bswap32(number);
    if constexpr (sizeof(Number) == 8) return __builtin_bswap64(number);
}

template <std::unsigned_integral Number> void append(std::string& to, Number number) {
    number = big_endian(number);
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &number, sizeof bytes);
    to.append(bytes, sizeof bytes);
}

inline void append(std::string& to, duration span) {
    append(to, static_cast<std::uint64_t>(span.count()));
}

inline void append(std::string& to, time_point moment) {
    append(to, moment.time_since_epoch());
}

inline void append(std::string& to, std::string_view text) {
    append(to, static_cast<std::uint32_t>(text.size()));
    to += text;
}

// Takes them out again. Past the end everything is zero or empty and intact() says no.
class byte_reader {
public:
    explicit byte_reader(std::string_view bytes) : left_(bytes) {}

    template <std::unsigned_integral Number> Number number() {
        Number made = 0;
        const std::string_view bytes = take(sizeof(Number));
        if (!bytes.empty()) std::memcpy(&made, bytes.data(), sizeof made);
        return big_endian(made);
    }
    duration span() { return duration{static_cast<std::int64_t>(number<std::uint64_t>())}; }
    time_point moment() { return time_point{span()}; }
    std::string_view text() { return take(number<std::uint32_t>()); }
    std::string_view take(std::size_t count) {
        if (left_.size() < count) {
            intact_ = false;
            left_ = {};
            return {};
        }
        const std::string_view taken = left_.substr(0, count);
        left_.remove_prefix(count);
        return taken;
    }

    [[nodiscard]] bool intact() const { return intact_; }
    [[nodiscard]] bool done() const { return left_.empty(); }

private:
    std::string_view left_;
    bool intact_ = true;
};

} // namespace semel::redis
