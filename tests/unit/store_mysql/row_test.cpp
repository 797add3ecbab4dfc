#include "stores/mysql/row.hpp"

#include <gtest/gtest.h>

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
