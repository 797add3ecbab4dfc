#include "fingerprint/json_number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

namespace semel::detail {
namespace {

// Every integer of up to 15 digits is a double and is printed by ECMAScript digit for digit.
constexpr std::size_t safe_digits = 15;
constexpr double two_to_53 = 9007199254740992.0;
// Far beyond any double; an exponent that is cut off here is refused where its value matters.
constexpr std::int64_t exponent_limit = 1'000'000'000;

// digits * 10^exponent. The digits have no zeros at either end; zero has none at all.
struct decimal {
    bool negative = false;
    std::string digits = {};
    std::int64_t exponent = 0;

    [[nodiscard]] std::int64_t point() const { // digits left of the decimal point
        return static_cast<std::int64_t>(digits.size()) + exponent;
    }
    friend bool operator==(const decimal&, const decimal&) = default;
};

std::int64_t read_exponent(std::string_view text) {
    if (text.starts_with('+')) text.remove_prefix(1);
    std::int64_t exponent = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (read.ec == std::errc::result_out_of_range) {
        return text.starts_with('-') ? -exponent_limit : exponent_limit;
    }
    return std::clamp(exponent, -exponent_limit, exponent_limit);
}

decimal read_decimal(std::string_view text) {
    decimal number;
    number.negative = text.starts_with('-');
    if (number.negative) text.remove_prefix(1);
    if (const auto mark = text.find_first_of("eE"); mark != std::string_view::npos) {
        number.exponent = read_exponent(text.substr(mark + 1));
        text = text.substr(0, mark);
    }
    if (const auto point = text.find('.'); point != std::string_view::npos) {
        number.digits.append(text.substr(0, point)).append(text.substr(point + 1));
        number.exponent -= static_cast<std::int64_t>(text.size() - point - 1);
    } else {
        number.digits = text;
    }
    const std::size_t last = number.digits.find_last_not_of('0');
    const std::size_t kept = last == std::string::npos ? 0 : last + 1;
    number.exponent += static_cast<std::int64_t>(number.digits.size() - kept);
    number.digits.resize(kept);
    number.digits.erase(0, std::min(number.digits.find_first_not_of('0'), kept));
    return number;
}

// ECMAScript's Number::toString for decimal digits and the position of the point.
void append_es6(std::string& out, std::string_view digits, int point) {
    const int count = static_cast<int>(digits.size());
    if (count <= point && point <= 21) {
        out.append(digits).append(static_cast<std::size_t>(point - count), '0');
    } else if (0 < point && point <= 21) {
        const auto whole = static_cast<std::size_t>(point);
        out.append(digits.substr(0, whole)).append(1, '.').append(digits.substr(whole));
    } else if (-6 < point && point <= 0) {
        out.append("0.").append(static_cast<std::size_t>(-point), '0').append(digits);
    } else {
        out += digits.front();
        if (count > 1) out.append(1, '.').append(digits.substr(1));
        out.append(point > 0 ? "e+" : "e-").append(std::to_string(std::abs(point - 1)));
    }
}

// A text that append_es6 never writes for another value: either plain digits, which name exactly
// one value, or an exponent behind digits that have no point.
void append_exact(std::string& out, const decimal& number) {
    if (number.negative) out += '-';
    const std::int64_t point = number.point();
    if (number.exponent >= 0 && number.exponent <= 21) {
        out.append(number.digits).append(static_cast<std::size_t>(number.exponent), '0');
    } else if (number.exponent < 0 && point > 0) {
        const auto whole = static_cast<std::size_t>(point);
        out.append(number.digits, 0, whole).append(1, '.').append(number.digits, whole);
    } else if (number.exponent < 0 && point > -6) {
        out.append("0.").append(static_cast<std::size_t>(-point), '0').append(number.digits);
    } else {
        out.append(number.digits).append(number.exponent > 0 ? "e+" : "e-");
        out.append(std::to_string(std::abs(number.exponent)));
    }
}

struct shortest_text {
    std::array<char, 32> buffer;
    std::size_t size;

    explicit shortest_text(double value) {
        const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                       std::chars_format::scientific);
        size = static_cast<std::size_t>(end.ptr - buffer.data());
    }
    [[nodiscard]] std::string_view view() const { return {buffer.data(), size}; }
};

bool is_short_integer(std::string_view text) {
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    if (text.size() - sign > safe_digits) return false;
    return std::all_of(text.begin() + static_cast<std::ptrdiff_t>(sign), text.end(),
                       [](char c) { return c >= '0' && c <= '9'; });
}

bool must_stay_exact(double value, number_profile profile) {
    switch (profile) {
    case number_profile::exact_large: return std::abs(value) >= two_to_53;
    case number_profile::exact: return true;
    case number_profile::rfc8785: return false;
    }
    return true;
}

} // namespace

number_outcome append_number(std::string& out, std::string_view text, number_profile profile) {
    if (is_short_integer(text)) {
        out += text == "-0" ? "0" : text;
        return number_outcome::written;
    }
    double value = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
    if (read.ec == std::errc::result_out_of_range) {
        // Too large and too small are reported alike; too small is a double, namely zero.
        if (read_decimal(text).point() > 0) return number_outcome::out_of_range;
        value = 0;
    }
    if (!std::isfinite(value)) return number_outcome::out_of_range;
    if (must_stay_exact(value, profile)) {
        const decimal wanted = read_decimal(text);
        if (wanted.exponent <= -exponent_limit) return number_outcome::out_of_range;
        if (!wanted.digits.empty() && wanted != read_decimal(shortest_text{value}.view())) {
            append_exact(out, wanted);
            return number_outcome::written;
        }
    }
    append_double(out, value);
    return number_outcome::written;
}

void append_double(std::string& out, double value) {
    if (value == 0) { // also -0
        out += '0';
        return;
    }
    if (value < 0) out += '-';
    const shortest_text shortest{std::abs(value)}; // d[.ddd]e±xx
    const std::string_view text = shortest.view();
    const std::size_t mark = text.find('e');
    std::array<char, 32> digits;
    std::size_t count = 0;
    for (const char c : text.substr(0, mark)) {
        if (c != '.') digits[count++] = c;
    }
    const auto exponent = static_cast<int>(read_exponent(text.substr(mark + 1)));
    append_es6(out, {digits.data(), count}, exponent + 1);
}

} // namespace semel::detail
