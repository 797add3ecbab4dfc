#include <gmock/gmock.h>

#include <latch>
#include <thread>
#include <vector>

#include "semel/open.hpp"
#include "support/mysql_server.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class MysqlMigrate : public testing::Test {
protected:
    std::string tables() {
        return client_.sql("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = "
                           "DATABASE() AND table_name LIKE '" +
                           prefix_.name() + "%'");
    }

    const testing_support::mysql_prefix prefix_;
    testing_support::mysql_client client_;
};

TEST_F(MysqlMigrate, CreatesTheTablesOnce) {
    const auto first = migrate(prefix_.url(), migrate_mode::run).value();
    const auto second = migrate(prefix_.url(), migrate_mode::run).value();

    EXPECT_EQ(first.from, 0);
    EXPECT_GE(first.to, 2);
    EXPECT_EQ(second.from, first.to);
    EXPECT_EQ(second.sql, "");
    EXPECT_EQ(tables(), "7");
}

TEST_F(MysqlMigrate, ManyAtOnceMakeOneOfThem) {
    constexpr std::size_t callers = 8;
    std::vector<migration_report> got(callers);
    std::latch ready{callers};
    {
        std::vector<std::jthread> all;
        for (std::size_t i = 0; i < callers; ++i) {
            all.emplace_back([&, i] {
                ready.arrive_and_wait();
                got[i] = migrate(prefix_.url(), migrate_mode::run).value();
            });
        }
    }

    const auto made =
        std::count_if(got.begin(), got.end(), [](const auto& one) { return one.from == 0; });
    EXPECT_EQ(made, 1);
    EXPECT_EQ(tables(), "7");
    EXPECT_TRUE(open_store(prefix_.url() + "&lanes=1"));
}

TEST_F(MysqlMigrate, ADryRunSaysHowAndChangesNothing) {
    const auto would = migrate(prefix_.url(), migrate_mode::dry_run).value();

    EXPECT_EQ(would.from, 0);
    EXPECT_THAT(would.sql, HasSubstr("CREATE TABLE IF NOT EXISTS " + prefix_.name() + "record"));
    EXPECT_EQ(tables(), "0");
}

TEST_F(MysqlMigrate, TheSqlOfADryRunCanBeRunByHand) {
    const auto would = migrate(prefix_.url(), migrate_mode::dry_run).value();

    client_.sql_all(would.sql);

    EXPECT_EQ(migrate(prefix_.url(), migrate_mode::run).value().from, would.to);
    EXPECT_TRUE(open_store(prefix_.url() + "&lanes=1"));
}

// Every CREATE TABLE commits by itself.
TEST_F(MysqlMigrate, WhatAnInterruptedRunHasLeftIsTakenUpAgain) {
    const auto would = migrate(prefix_.url(), migrate_mode::dry_run).value();
    client_.sql_all(would.sql.substr(
        0, would.sql.find("CREATE TABLE IF NOT EXISTS " + prefix_.name() + "checkpoint")));
    ASSERT_EQ(tables(), "2");

    const auto got = migrate(prefix_.url(), migrate_mode::run).value();

    EXPECT_EQ(got.from, 0);
    EXPECT_EQ(tables(), "7");
    EXPECT_TRUE(open_store(prefix_.url() + "&lanes=1"));
}

// Records are not waited for, but what others do to the tables is, and to the server's own tables
// about tables.
TEST_F(MysqlMigrate, AMigrationWaitsForLocks) {
    (void)migrate(prefix_.url(), migrate_mode::run).value();
    client_.sql("UPDATE " + prefix_.name() + "meta SET value = 0 WHERE name = 'schema_version'");
    testing_support::mysql_client stranger;
    stranger.sql("BEGIN");
    stranger.sql("SELECT * FROM " + prefix_.name() + "meta FOR UPDATE");
    const std::jthread later{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        stranger.sql("ROLLBACK");
    }};

    EXPECT_TRUE(migrate(prefix_.url(), migrate_mode::run));
}

TEST_F(MysqlMigrate, ATableOfSomebodyElseIsNoticedWhenTheStoreIsOpened) {
    client_.sql("CREATE TABLE " + prefix_.name() + "audit (x INT)");
    (void)migrate(prefix_.url(), migrate_mode::run).value();

    const auto opened = open_store(prefix_.url() + "&lanes=1");

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::schema_missing) << describe(opened.error());
}

} // namespace
} // namespace semel
