#include "fingerprint/json_number.hpp"

#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>

#include <gtest/gtest.h>

#include "semel/fingerprint.hpp"

namespace semel {
namespace {

std::string number(std::string_view text, number_profile profile = number_profile::exact_large) {
    std::string out;
    const auto outcome = detail::append_number(out, text, profile);
    return outcome == detail::number_outcome::written ? out : "out of range";
}

std::string double_text(std::uint64_t bits) {
    std::string out;
    detail::append_double(out, std::bit_cast<double>(bits));
    return out;
}

TEST(CanonicalNumber, PrintsTheSamplesOfRfc8785AppendixB) {
    struct sample {
        std::uint64_t bits;
        std::string_view text;
    };
    constexpr sample samples[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    for (const sample& one : samples) EXPECT_EQ(double_text(one.bits), one.text);
}

// Doubles drawn from the chain SHA-256(0…0), SHA-256 of that, and so on.
class double_chain {
public:
    double next() {
        double value = 0;
        while (value == 0 || !std::isfinite(value)) {
            if (used_ == 4) {
                block_ = fingerprint::raw(fingerprint{block_}.as_string_view()).bytes();
                used_ = 0;
            }
            std::memcpy(&value, block_.data() + 8 * used_++, sizeof value);
        }
        return value;
    }

private:
    fingerprint::bytes_type block_{};
    std::size_t used_ = 4;
};

TEST(CanonicalNumber, PrintsTextThatReadsBackAsTheSameDouble) {
    double_chain chain;
    for (int i = 0; i < 10'000; ++i) {
        const double value = chain.next();
        std::string text;
        detail::append_double(text, value);
        double again = 0;
        std::from_chars(text.data(), text.data() + text.size(), again);

        ASSERT_EQ(std::bit_cast<std::uint64_t>(again), std::bit_cast<std::uint64_t>(value)) << text;
    }
}

TEST(CanonicalNumber, LeavesCanonicalTextAloneInEveryProfile) {
    double_chain chain;
    for (int i = 0; i < 10'000; ++i) {
        std::string text;
        detail::append_double(text, chain.next());

        ASSERT_EQ(number(text, number_profile::exact_large), text);
        ASSERT_EQ(number(text, number_profile::exact), text);
        ASSERT_EQ(number(text, number_profile::rfc8785), text);
    }
}

// The hash stands for text that was compared, by the published checksums of its first 1,000 to
// 1,000,000 lines, with the number test file of the RFC's authors.
TEST(CanonicalNumber, PrintsTenThousandDoublesAsItAlwaysDid) {
    double_chain chain;
    std::string lines;
    for (int i = 0; i < 10'000; ++i) {
        detail::append_double(lines, chain.next());
        lines += '\n';
    }

    EXPECT_EQ(fingerprint::raw(lines).hex(),
              "8911ef2733549913051ff25e76d861ecd4b2af80e3f77bd0fad335b8fc0fd031");
}

TEST(CanonicalNumber, KeepsShortIntegersAsTheyAre) {
    EXPECT_EQ(number("0"), "0");
    EXPECT_EQ(number("-17"), "-17");
    EXPECT_EQ(number("999999999999999"), "999999999999999");
}

TEST(CanonicalNumber, HasOneZero) {
    for (const std::string_view zero : {"-0", "0.0", "-0.0", "0e5", "-0E-7", "0.000"}) {
        EXPECT_EQ(number(zero), "0") << zero;
        EXPECT_EQ(number(zero, number_profile::exact), "0") << zero;
    }
}

TEST(CanonicalNumber, WritesOneTextForAllSpellingsOfAValue) {
    for (const std::string_view text : {"1000", "1e3", "1E+3", "1000.0", "0.1e4", "100000e-2"}) {
        EXPECT_EQ(number(text), "1000") << text;
    }
    for (const std::string_view text :
         {"9007199254740993", "9007199254740993.0", "9007199254740993e0", "900719925474099.30e1"}) {
        EXPECT_EQ(number(text), "9007199254740993") << text;
    }
}

TEST(CanonicalNumber, KeepsLargeIntegersExactly) {
    EXPECT_EQ(number("9007199254740991"), "9007199254740991");
    EXPECT_EQ(number("9007199254740992"), "9007199254740992");
    EXPECT_EQ(number("9007199254740993"), "9007199254740993");
    EXPECT_EQ(number("-9007199254740993"), "-9007199254740993");
    EXPECT_EQ(number("18446744073709551615"), "18446744073709551615");
    EXPECT_EQ(number("123456789012345678901234567890"), "123456789012345678901234567890");
    EXPECT_EQ(number("9007199254740993.5"), "9007199254740993.5");
}

TEST(CanonicalNumber, FollowsRfc8785WhereALargeNumberLosesNothing) {
    EXPECT_EQ(number("1" + std::string(30, '0')), "1e+30");
    EXPECT_EQ(number("1E30"), "1e+30");
    EXPECT_EQ(number("1" + std::string(20, '0')), "1" + std::string(20, '0'));
}

TEST(CanonicalNumber, BoundsTheTextOfLargeExactNumbers) {
    EXPECT_EQ(number("12345678901234567891e21"), "12345678901234567891" + std::string(21, '0'));
    EXPECT_EQ(number("12345678901234567891e22"), "12345678901234567891e+22");
    EXPECT_EQ(number("12345678901234567891" + std::string(22, '0')), "12345678901234567891e+22");
}

TEST(CanonicalNumber, RoundsSmallerNumbersLikeRfc8785) {
    EXPECT_EQ(number("333333333.33333329"), "333333333.3333333");
    EXPECT_EQ(number("0.1000000000000000055"), "0.1");
    EXPECT_EQ(number("1e-400"), "0");
}

TEST(CanonicalNumber, RoundsNothingInTheExactProfile) {
    const auto exact = number_profile::exact;

    EXPECT_EQ(number("333333333.33333329", exact), "333333333.33333329");
    EXPECT_EQ(number("0.10000000000000000550", exact), "0.1000000000000000055");
    EXPECT_EQ(number("-0.00000100000000000000001", exact), "-0.00000100000000000000001");
    EXPECT_EQ(number("1e-400", exact), "1e-400");
    EXPECT_EQ(number("0.25", exact), "0.25");
}

TEST(CanonicalNumber, RoundsEverythingInTheStrictProfile) {
    const auto strict = number_profile::rfc8785;

    EXPECT_EQ(number("9007199254740993", strict), "9007199254740992");
    EXPECT_EQ(number("123456789012345678901234567890", strict), "1.2345678901234568e+29");
}

TEST(CanonicalNumber, RefusesWhatNoDoubleHolds) {
    for (const std::string_view text :
         {"1e309", "-1e400", "1.7976931348623159e308", "1e99999999999999999999"}) {
        EXPECT_EQ(number(text), "out of range") << text;
    }
    EXPECT_EQ(number("1e-99999999999999999999", number_profile::exact), "out of range");
}

TEST(CanonicalNumber, NamesTheOffsetOfANumberOutOfRange) {
    for (const std::string_view text : {R"({"a":1e400})", R"({"a":1.7976931348623159e308})"}) {
        const result<std::string> form = canonical_json(text);

        ASSERT_FALSE(form.has_value());
        EXPECT_EQ(form.error().code, errc::invalid_argument);
        EXPECT_TRUE(form.error().detail.starts_with("at byte offset 5: ")) << form.error().detail;
    }
}

} // namespace
} // namespace semel
