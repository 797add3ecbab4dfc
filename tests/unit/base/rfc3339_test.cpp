#include "base/rfc3339.hpp"

#include <gtest/gtest.h>

#include <chrono>

namespace semel::rfc3339_test {
namespace {

using namespace std::chrono_literals;

TEST(Rfc3339, StepsDecideTheFraction) {
    const time_point when{std::chrono::sys_days{2026y / 1 / 31} + 12h + 1s + 7890us};

    EXPECT_EQ(rfc3339(when), "2026-01-31T12:00:01.007890Z");
    EXPECT_EQ(rfc3339(when, time_step::milliseconds), "2026-01-31T12:00:01.007Z");
    EXPECT_EQ(rfc3339(when, time_step::seconds), "2026-01-31T12:00:01Z");
    EXPECT_EQ(rfc3339(time_point{}), "1970-01-01T00:00:00.000000Z");
}

} // namespace
} // namespace semel::rfc3339_test
