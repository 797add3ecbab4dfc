#include <gmock/gmock.h>

#include <latch>
#include <thread>
#include <vector>

#include "semel/open.hpp"
#include "support/postgres_server.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class PostgresMigrate : public testing::Test {
protected:
    std::string tables() {
        return client_.sql("SELECT count(*) FROM pg_tables WHERE tablename LIKE '" +
                           prefix_.name() + "%'");
    }

    const testing_support::postgres_prefix prefix_;
    testing_support::postgres_client client_;
};

TEST_F(PostgresMigrate, CreatesTheTablesOnce) {
    const auto first = migrate(prefix_.url(), migrate_mode::run).value();
    const auto second = migrate(prefix_.url(), migrate_mode::run).value();

    EXPECT_EQ(first.from, 0);
    EXPECT_GE(first.to, 2);
    EXPECT_EQ(second.from, first.to);
    EXPECT_EQ(second.sql, "");
    EXPECT_EQ(tables(), "7");
}

TEST_F(PostgresMigrate, ManyAtOnceMakeOneOfThem) {
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

TEST_F(PostgresMigrate, ADryRunSaysHowAndChangesNothing) {
    const auto would = migrate(prefix_.url(), migrate_mode::dry_run).value();

    EXPECT_EQ(would.from, 0);
    EXPECT_THAT(would.sql, HasSubstr("CREATE TABLE " + prefix_.name() + "record"));
    EXPECT_EQ(tables(), "0");
}

TEST_F(PostgresMigrate, TheSqlOfADryRunCanBeRunByHand) {
    const auto would = migrate(prefix_.url(), migrate_mode::dry_run).value();

    client_.sql("BEGIN;" + would.sql + "COMMIT;");

    EXPECT_EQ(migrate(prefix_.url(), migrate_mode::run).value().from, would.to);
    EXPECT_TRUE(open_store(prefix_.url() + "&lanes=1"));
}

// New things belong where the others are, wherever those of this user would go.
TEST_F(PostgresMigrate, AnUpgradeGoesToWhereTheTablesAre) {
    (void)migrate(prefix_.url(), migrate_mode::run).value();
    client_.sql("DROP DOMAIN " + prefix_.name() + "key_lock");
    const std::string own = prefix_.name() + "own";
    client_.sql("CREATE SCHEMA " + own);

    const auto got =
        migrate(prefix_.url() + "&options=-csearch_path%3D" + own + "%2Cpublic", migrate_mode::run);
    client_.sql("DROP SCHEMA " + own); // empty

    EXPECT_TRUE(got);
    EXPECT_EQ(client_.sql("SELECT to_regtype('" + prefix_.name() + "key_lock') IS NOT NULL"), "t");
}

TEST_F(PostgresMigrate, AFailureLeavesNothingBehind) {
    client_.sql("CREATE TABLE " + prefix_.name() + "audit (x int)");

    const auto got = migrate(prefix_.url(), migrate_mode::run);

    EXPECT_FALSE(got);
    EXPECT_EQ(tables(), "1");
}

} // namespace
} // namespace semel
