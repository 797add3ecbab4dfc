#include "stores/mysql/row.hpp"

#include <gtest/gtest.h>

namespace semel::mysql {
namespace {

TEST(MysqlRow, CheckpointsAreReadInTheirOrder) {
    std::vector<checkpoint> got;

    ASSERT_TRUE(read_checkpoints("6F6E65:FF00,74776F:", got));

    const std::vector<checkpoint> expected{{.name = "one", .data = std::string{"\xff\0", 2}},
                                           {.name = "two", .data = ""}};
    EXPECT_EQ(got, expected);
}

TEST(MysqlRow, TextThatIsNoCheckpointsIsRefused) {
    for (const char* text : {"6F6E65", "0:00", "00:0", "zz:00", "00:zz", "00:00,x"}) {
        std::vector<checkpoint> got;
        EXPECT_FALSE(read_checkpoints(text, got)) << text;
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
