#include <gmock/gmock.h>

#include "open/targets.hpp"

namespace semel {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;
using testing::Not;

result<mysql_store_options> mysql_target_of(std::string_view url) {
    return mysql_target(net::parse_url(url).value(), {});
}

std::string why_not_mysql(std::string_view url) {
    const auto got = mysql_target_of(url);
    if (got) return "it is fine";
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    return got.error().detail;
}

TEST(MysqlTargetUrl, EveryPartIsRead) {
    const auto got =
        mysql_target_of("mysql://anna:p%40ss:w@db.local:3307/orders?prefix=pay_&lanes=3"
                        "&batch_max=64&lock_timeout_ms=50&statement_timeout_ms=2k"
                        "&connect_timeout_ms=700")
            .value();

    EXPECT_EQ(got.user, "anna");
    EXPECT_EQ(got.password, "p@ss:w");
    EXPECT_EQ(got.host, "db.local");
    EXPECT_EQ(got.port, 3307);
    EXPECT_EQ(got.database, "orders");
    EXPECT_EQ(got.table_prefix, "pay_");
    EXPECT_EQ(got.lanes, 3U);
    EXPECT_EQ(got.batch_max, 64U);
    EXPECT_EQ(got.lock_timeout, milliseconds{50});
    EXPECT_EQ(got.statement_timeout, milliseconds{2'000});
    EXPECT_EQ(got.connect_timeout, milliseconds{700});
    EXPECT_EQ(got.tls, mysql_tls::off);
}

TEST(MysqlTargetUrl, HostAndDatabaseAreEnough) {
    const auto got = mysql_target_of("mariadb://[::1]/orders").value();

    EXPECT_EQ(got.host, "::1");
    EXPECT_EQ(got.port, 3306);
    EXPECT_EQ(got.user, "");
}

TEST(MysqlTargetUrl, WhoeverNamesAnAuthorityWantsToCheck) {
    EXPECT_EQ(mysql_target_of("mysql://h/d?ca_file=x").value().tls, mysql_tls::verify);
    EXPECT_EQ(mysql_target_of("mysql://h/d?tls=verify").value().tls, mysql_tls::verify);
    EXPECT_EQ(mysql_target_of("mysql://h/d?tls=unverified").value().tls, mysql_tls::unverified);
    EXPECT_EQ(mysql_target_of("mysql://h/d?tls=off").value().tls, mysql_tls::off);
}

TEST(MysqlTargetUrl, WhatCannotBeReadIsNamed) {
    EXPECT_THAT(why_not_mysql("mysql:orders"), HasSubstr("mysql://user:password@host"));
    EXPECT_THAT(why_not_mysql("mysql://h"), HasSubstr("names no database"));
    EXPECT_THAT(why_not_mysql("mysql://h:0/d"), HasSubstr("port"));
    EXPECT_THAT(why_not_mysql("mysql://h:99999/d"), HasSubstr("port"));
    EXPECT_THAT(why_not_mysql("mysql://[::1/d"), HasSubstr("']'"));
    EXPECT_THAT(why_not_mysql("mysql://h/d?tls=maybe"), HasSubstr("verify"));
    EXPECT_THAT(why_not_mysql("mysql://h/d?colour=red"), HasSubstr("colour"));
}

TEST(MysqlTargetUrl, AComplaintNeverRepeatsThePassword) {
    for (const char* url : {"mysql://anna:secret@h:x/d", "mysql://anna:secret@h",
                            "mysql://anna:secret@[h/d", "mysql://anna:secret@h/d?colour=red"}) {
        EXPECT_THAT(why_not_mysql(url), Not(HasSubstr("secret")));
    }
}

} // namespace
} // namespace semel
