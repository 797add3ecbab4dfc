#include "stores/mysql/session.hpp"

#include <gtest/gtest.h>

namespace semel::mysql {
namespace {

TEST(MysqlVersions, TellWhichSqlIsSpoken) {
    EXPECT_EQ(dialect_of("10.11.19-MariaDB-0+deb12u1").value(), mysql_dialect::mariadb);
    EXPECT_EQ(dialect_of("5.5.5-10.6.1-MariaDB").value(), mysql_dialect::mariadb);
    EXPECT_EQ(dialect_of("11.4.2-MariaDB-log").value(), mysql_dialect::mariadb);
    EXPECT_EQ(dialect_of("8.0.36").value(), mysql_dialect::mysql8);
    EXPECT_EQ(dialect_of("8.4.0-commercial").value(), mysql_dialect::mysql8);
}

TEST(MysqlVersions, OlderServersAreRefusedByName) {
    for (const char* old : {"10.5.29-MariaDB", "5.5.5-10.3.39-MariaDB", "5.7.44", "", "strange"}) {
        const auto got = dialect_of(old);
        ASSERT_FALSE(got) << old;
        EXPECT_EQ(got.error().code, errc::unsupported) << old;
        EXPECT_NE(got.error().detail.find("MariaDB 10.6 or MySQL 8.0"), std::string::npos);
    }
}

} // namespace
} // namespace semel::mysql
