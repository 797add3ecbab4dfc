#include "databases/mysql/store/session.hpp"

#include <gtest/gtest.h>

namespace semel::mysql {
namespace {

TEST(MysqlAbilities, TellWhichSqlIsSpoken) {
    EXPECT_EQ(
        dialect_for({.compound_statements = true, .skips_locked_rows = true}, "8.0.30").value(),
        mysql_dialect::mariadb)
        << "whatever a proxy calls it";
    EXPECT_EQ(dialect_for({.skips_locked_rows = true}, "9.7.4").value(), mysql_dialect::mysql8);
}

TEST(MysqlAbilities, OlderServersAreRefusedByName) {
    for (const abilities has : {abilities{}, abilities{.compound_statements = true}}) {
        const auto got = dialect_for(has, "5.7.44");
        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, errc::unsupported);
        EXPECT_NE(got.error().detail.find("5.7.44"), std::string::npos);
        EXPECT_NE(got.error().detail.find("MariaDB 10.6 or MySQL 8.0"), std::string::npos);
    }
}

} // namespace
} // namespace semel::mysql
