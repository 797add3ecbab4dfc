#include "databases/mysql/store/row.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <thread>
#include <vector>

namespace semel::mysql {
namespace {

TEST(MysqlRow, ARecordIsWholeWhenEachOfItsCheckpointsHasBeenRead) {
    EXPECT_TRUE(whole_record({.checkpoints = 0}));
    EXPECT_TRUE(whole_record({.checkpoints = 2, .read = 2}));
    for (const record_row& one : {record_row{.checkpoints = 2, .read = 1},
                                  record_row{.checkpoints = 2, .read = 2, .sound = false}}) {
        const auto made = whole_record(one);
        ASSERT_FALSE(made);
        EXPECT_EQ(made.error().code, errc::corrupt);
    }
}

// Two rounds with the same number would take one another's claim for their own.
TEST(MysqlRow, VersionsOfManyLanesAreAllDifferent) {
    constexpr std::size_t each = 50'000; // so many 32-bit numbers would hardly all differ
    constexpr std::size_t lanes = 8;
    std::vector<std::int64_t> drawn(lanes * each);
    {
        std::vector<std::jthread> all;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            all.emplace_back([&drawn, lane] {
                const auto own = std::span{drawn}.subspan(lane * each, each);
                std::generate(own.begin(), own.end(), new_row_version);
            });
        }
    }
    std::sort(drawn.begin(), drawn.end());

    EXPECT_EQ(std::adjacent_find(drawn.begin(), drawn.end()), drawn.end());
    EXPECT_GE(drawn.front(), 0);
    EXPECT_LT(drawn.back(), std::int64_t{1} << 62) << "a batch counts on from there";
}

TEST(MysqlRow, IdsMustFitTheirColumns) {
    const std::string most(255, 'x');
    EXPECT_TRUE(check_size({.tenant = most, .operation = most, .key = std::string(1'024, 'k')}));
    EXPECT_FALSE(check_size({.tenant = most + "x", .operation = "o", .key = "k"}));
    EXPECT_FALSE(check_size({.tenant = "t", .operation = most + "x", .key = "k"}));
    const auto too_long =
        check_size({.tenant = "t", .operation = "o", .key = std::string(1'025, 'k')});
    ASSERT_FALSE(too_long);
    EXPECT_EQ(too_long.error().code, errc::limit_exceeded);
}

} // namespace
} // namespace semel::mysql
