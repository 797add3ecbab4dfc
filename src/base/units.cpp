#include "base/units.hpp"

#include <array>
#include <charconv>
#include <limits>

namespace semel {
namespace {

struct unit {
    std::string_view name;
    std::int64_t worth;
};

// Largest first. Longer names come before those they end with: "ms" before "s".
constexpr std::array<unit, 6> times = {{{"d", 86'400'000'000},
                                        {"h", 3'600'000'000},
                                        {"m", 60'000'000},
                                        {"s", 1'000'000},
                                        {"ms", 1'000},
                                        {"us", 1}}};
constexpr std::array<unit, 4> sizes = {
    {{"GiB", std::int64_t{1} << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}};

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

template <std::size_t N>
std::optional<std::int64_t> worth_of(const std::array<unit, N>& units, std::string_view name) {
    for (const unit& one : units) {
        if (one.name == name) return one.worth;
    }
    return std::nullopt;
}

// Takes "30s" off the front of "30s500ms".
template <std::size_t N>
std::optional<std::int64_t> take_amount(const std::array<unit, N>& units, std::string_view& rest) {
    std::size_t digits = 0;
    while (digits < rest.size() && is_digit(rest[digits])) ++digits;
    std::size_t letters = digits;
    while (letters < rest.size() && !is_digit(rest[letters])) ++letters;
    const auto count = parse_count(rest.substr(0, digits));
    const auto worth = worth_of(units, rest.substr(digits, letters - digits));
    if (!count || !worth) return std::nullopt;
    if (*count > std::numeric_limits<std::int64_t>::max() / 4 / *worth) return std::nullopt;
    rest.remove_prefix(letters);
    return *count * *worth;
}

template <std::size_t N>
std::string shown(const std::array<unit, N>& units, std::int64_t amount, std::string_view none) {
    if (amount == 0) return std::string{none};
    for (const unit& one : units) {
        if (amount % one.worth == 0) {
            return std::to_string(amount / one.worth) + std::string{one.name};
        }
    }
    return {};
}

} // namespace

std::optional<std::int64_t> parse_count(std::string_view digits) {
    std::int64_t number = 0;
    const char* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, number);
    const bool fine = error == std::errc{} && stopped == end && number >= 0;
    return fine && is_digit(digits.front()) ? std::optional{number} : std::nullopt;
}

std::optional<duration> parse_duration(std::string_view text) {
    if (text.empty()) return std::nullopt;
    std::int64_t sum = 0;
    while (!text.empty()) {
        const auto part = take_amount(times, text);
        if (!part || sum > std::numeric_limits<std::int64_t>::max() / 4) return std::nullopt;
        sum += *part;
    }
    return duration{sum};
}

std::string show_duration(duration what) {
    return shown(times, what.count(), "0s");
}

std::optional<std::size_t> parse_size(std::string_view text) {
    const auto bytes = take_amount(sizes, text);
    if (!bytes || !text.empty()) return std::nullopt;
    return static_cast<std::size_t>(*bytes);
}

std::string show_size(std::size_t bytes) {
    return shown(sizes, static_cast<std::int64_t>(bytes), "0B");
}

} // namespace semel
