#include "base/units.hpp"

#include <gtest/gtest.h>

namespace semel::units_test {
namespace {

using namespace std::chrono_literals;

TEST(Units, DurationsAreNumbersWithUnits) {
    EXPECT_EQ(parse_duration("30s"), 30s);
    EXPECT_EQ(parse_duration("500ms"), 500ms);
    EXPECT_EQ(parse_duration("250us"), 250us);
    EXPECT_EQ(parse_duration("1h30m"), 90min);
    EXPECT_EQ(parse_duration("7d"), 168h);
    EXPECT_EQ(parse_duration("0s"), 0s);
}

TEST(Units, AnythingElseIsNoDuration) {
    for (const char* wrong : {"", "30", "s", "30 s", "-30s", "1.5s", "30sec", "30S", "+1s",
                              "99999999999999999999s", "9223372036854775807d", "1h30"}) {
        EXPECT_FALSE(parse_duration(wrong)) << wrong;
    }
}

TEST(Units, SizesAreNumbersWithUnits) {
    EXPECT_EQ(parse_size("8MiB"), std::size_t{8} << 20);
    EXPECT_EQ(parse_size("64KiB"), std::size_t{64} << 10);
    EXPECT_EQ(parse_size("1GiB"), std::size_t{1} << 30);
    EXPECT_EQ(parse_size("12B"), 12U);
    for (const char* wrong : {"", "8", "8MB", "MiB", "8 MiB", "-1B", "1MiB1KiB"}) {
        EXPECT_FALSE(parse_size(wrong)) << wrong;
    }
}

TEST(Units, WhatIsShownIsReadAgain) {
    for (const duration one : {duration{1}, duration{1500}, duration{90min}, duration{24h}}) {
        EXPECT_EQ(parse_duration(show_duration(one)), one) << show_duration(one);
    }
    EXPECT_EQ(show_duration(24h), "1d");
    EXPECT_EQ(show_duration(90s), "90s");
    EXPECT_EQ(show_size(std::size_t{8} << 20), "8MiB");
    EXPECT_EQ(show_size(1000), "1000B");
    EXPECT_EQ(show_size(0), "0B");
}

} // namespace
} // namespace semel::units_test
