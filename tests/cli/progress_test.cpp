#include "progress.hpp"

#include <gtest/gtest.h>

namespace semel::app {
namespace {

using std::chrono::seconds;

TEST(Progress, ShowsABarWhereTheEndIsKnown) {
    EXPECT_EQ(progress_line("sweep", 1'040'000, 2'000'000, seconds{40}),
              "sweep  [==========          ]   52 %  1,040,000 of 2,000,000  26,000/s  40 s");
    EXPECT_EQ(progress_line("sweep", 3, 2, seconds{1}),
              "sweep  [====================]  100 %  3 of 2  3/s  1 s");
}

TEST(Progress, CountsWhereItIsNot) {
    EXPECT_EQ(progress_line("export", 1'234, 0, seconds{2}), "export  1,234  617/s  2 s");
    EXPECT_EQ(progress_line("migrate", 0, 0, seconds{0}), "migrate  0 s");
}

} // namespace
} // namespace semel::app
