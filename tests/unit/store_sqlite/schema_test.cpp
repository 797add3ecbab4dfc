#include "databases/sqlite/client/schema.hpp"

#include <gmock/gmock.h>

#include "sqlite_fixture.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class SqliteSchema : public sqlite_test {};

TEST_F(SqliteSchema, OpeningCreatesTheTables) {
    const auto made = open();

    EXPECT_EQ(sql("SELECT value FROM semel_meta WHERE name = 'schema_version'"),
              std::to_string(sqlite::migrations().size()));
    EXPECT_EQ(sql("SELECT value FROM semel_meta WHERE name = 'fence_floor'"), "0");
    EXPECT_EQ(sql("SELECT count(*) FROM semel_record"), "0");
    EXPECT_EQ(sql("SELECT count(*) FROM semel_checkpoint"), "0");
    EXPECT_EQ(sql("SELECT count(*) FROM semel_audit"), "0");
    EXPECT_EQ(sql("PRAGMA journal_mode"), "wal");
}

TEST_F(SqliteSchema, OpeningAgainChangesNothing) {
    open().reset();
    const std::string before = sql("SELECT group_concat(sql) FROM sqlite_schema");
    const std::string version = sql("PRAGMA schema_version");

    open().reset();

    EXPECT_EQ(sql("SELECT group_concat(sql) FROM sqlite_schema"), before);
    EXPECT_EQ(sql("PRAGMA schema_version"), version);
}

TEST_F(SqliteSchema, AnotherPrefixIsAnotherStoreInTheSameFile) {
    const auto first = open();
    const auto second = open({.path = path(), .table_prefix = "billing_"});

    said<answers::started>(first->call(id_of("k"), begin_by(anna)));

    said<answers::started>(second->call(id_of("k"), begin_by(bert)));
    EXPECT_EQ(sql("SELECT count(*) FROM billing_record"), "1");
}

TEST_F(SqliteSchema, TheApplicationsOwnTablesStay) {
    sql("CREATE TABLE orders (id INTEGER PRIMARY KEY); INSERT INTO orders VALUES (7)");

    open().reset();

    EXPECT_EQ(sql("SELECT id FROM orders"), "7");
}

TEST_F(SqliteSchema, ANewerSchemaIsRefusedAndNothingIsTouched) {
    open().reset();
    sql("PRAGMA journal_mode=DELETE; UPDATE semel_meta SET value = 99 WHERE name = "
        "'schema_version'");

    const failure why = open_failure({.path = path()});

    EXPECT_EQ(why.code, errc::schema_newer);
    EXPECT_EQ(why.possible, effect::none);
    EXPECT_THAT(why.detail, HasSubstr("version 99"));
    EXPECT_THAT(why.detail, HasSubstr("use a newer semel"));
    EXPECT_EQ(sql("PRAGMA journal_mode"), "delete");
    EXPECT_EQ(sql("SELECT value FROM semel_meta WHERE name = 'schema_version'"), "99");
}

TEST_F(SqliteSchema, AFailedCreationLeavesNothingHalfDone) {
    // A table of somebody else is in the way of the third one.
    sql("CREATE TABLE semel_checkpoint (x)");

    const failure why = open_failure({.path = path()});

    EXPECT_EQ(why.code, errc::internal);
    EXPECT_EQ(sql("SELECT count(*) FROM sqlite_schema WHERE name LIKE 'semel_%'"), "1");
}

TEST(SqlitePrefix, StandsWhereverTheWrittenOneStands) {
    EXPECT_EQ(sqlite::with_prefix("UPDATE semel_meta SET x = semel_record.y", "b_"),
              "UPDATE b_meta SET x = b_record.y");
    EXPECT_EQ(sqlite::with_prefix("SELECT 1", "b_"), "SELECT 1");
    EXPECT_EQ(sqlite::with_prefix("", "b_"), "");
}

TEST(SqlitePrefix, IsAnIdentifier) {
    EXPECT_TRUE(sqlite::valid_prefix("semel_"));
    EXPECT_TRUE(sqlite::valid_prefix("A9_"));
    EXPECT_TRUE(sqlite::valid_prefix(std::string(32, 'a')));
    EXPECT_FALSE(sqlite::valid_prefix(""));
    EXPECT_FALSE(sqlite::valid_prefix("9a"));
    EXPECT_FALSE(sqlite::valid_prefix("a-b"));
    EXPECT_FALSE(sqlite::valid_prefix("a; DROP TABLE x"));
    EXPECT_FALSE(sqlite::valid_prefix(std::string(33, 'a')));
}

TEST(SqliteMigrations, AreNumberedWithoutGaps) {
    const auto all = sqlite::migrations();

    for (std::size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(std::stoul(std::string{all[i].name.substr(0, 4)}), i + 1);
        EXPECT_FALSE(all[i].text.empty());
    }
}

} // namespace
} // namespace semel
