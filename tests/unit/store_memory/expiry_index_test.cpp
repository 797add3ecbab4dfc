#include "store/memory/expiry_index.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/noon.hpp"

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

using test::noon;

TEST(ExpiryIndex, GivesNothingBeforeItsTime) {
    expiry_index index;
    index.add(1, noon + seconds{10}, noon);

    EXPECT_EQ(index.take_due(noon + seconds{10} - duration{1}), std::nullopt);
    EXPECT_EQ(index.size(), 1U);
}

TEST(ExpiryIndex, GivesEachHintOnce) {
    expiry_index index;
    index.add(7, noon + seconds{1}, noon);

    EXPECT_EQ(index.take_due(noon + hours{1}), 7U);
    EXPECT_EQ(index.take_due(noon + hours{1}), std::nullopt);
    EXPECT_EQ(index.size(), 0U);
}

TEST(ExpiryIndex, IsAtMostASixteenthLate) {
    for (const duration ahead : {duration{seconds{10}}, duration{hours{1}}, duration{hours{720}}}) {
        expiry_index index;
        index.add(1, noon + ahead, noon);

        EXPECT_EQ(index.take_due(noon + ahead + ahead / 16 + milliseconds{66}), 1U);
    }
}

TEST(ExpiryIndex, SoonDueHintsAreLateByLessThanATenthOfASecond) {
    expiry_index index;
    index.add(1, noon, noon);

    EXPECT_EQ(index.take_due(noon + milliseconds{66}), 1U);
}

TEST(ExpiryIndex, HintsOfThePastAreDueAtOnce) {
    expiry_index index;
    index.add(1, time_point{}, noon);

    EXPECT_EQ(index.take_due(noon), 1U);
}

TEST(ExpiryIndex, GivesDueHintsAndKeepsTheOthers) {
    expiry_index index;
    for (std::uint64_t i = 0; i < 100; ++i) index.add(i, noon + hours{i}, noon);

    std::set<std::uint64_t> due;
    while (const auto one = index.take_due(noon + hours{20})) due.insert(*one);

    EXPECT_TRUE(due.contains(0));
    EXPECT_TRUE(due.contains(18));
    EXPECT_FALSE(due.contains(21));
    EXPECT_EQ(index.size(), 100 - due.size());
}

} // namespace
} // namespace semel
