// Stores that are only looked at: by a user who may do no more than that.
#include <gmock/gmock.h>

#include "database.hpp"
#include "semel/outbox/open.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class SqlReadOnly : public database_test {
protected:
    [[nodiscard]] std::string readers_url() const {
        std::string made = database_url(database_port());
        const std::size_t user = made.find("//") + 2;
        made.replace(user, made.find('@') - user, reader_.user());
        return made + (made.find('?') == std::string::npos ? "?" : "&") + "prefix=" + prefix();
    }
    [[nodiscard]] std::unique_ptr<store> open_to_look() const {
        return semel::open_store(readers_url(), {.mode = open_mode::read_only}).value();
    }

private:
    const database_reader reader_{prefix()};
};

TEST_F(SqlReadOnly, AUserWhoMaySelectSeesRecordsAndTheirAudit) {
    const auto store = open();
    (void)said<answers::started>(store->call(id_of("running"), begin_by(anna)));
    (void)said<answers::started>(store->call(id_of("gone"), begin_by(anna)));
    (void)said<answers::removed>(
        store->call(id_of("gone"), commands::remove{.actor = "olga", .reason = "test"}));

    const auto looked = open_to_look();
    const auto found = said<answers::found>(looked->call(id_of("running"), commands::lookup{}));
    const auto all = looked->search({});
    const auto audit = looked->audit(id_of("gone"));

    EXPECT_TRUE(found.current);
    ASSERT_TRUE(all) << describe(all.error());
    EXPECT_EQ(all->records.size(), 1U);
    ASSERT_TRUE(audit) << describe(audit.error());
    EXPECT_EQ(audit->size(), 1U);
}

TEST_F(SqlReadOnly, WhatWritesIsRefusedAndHasNoEffect) {
    const auto looked = open_to_look();

    const auto begun = looked->call(id_of("k"), begin_by(anna));
    const auto swept = looked->sweep({.records_max = 10});

    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().possible, effect::none) << describe(begun.error());
    EXPECT_FALSE(swept);
    EXPECT_EQ(sql("SELECT count(*) FROM " + record_table()), "0");
}

// The connection itself is read-only, whatever its user may do.
TEST_F(SqlReadOnly, AUserWhoMayWriteDoesNot) {
    const auto looked = semel::open_store(url(), {.mode = open_mode::read_only}).value();

    const auto begun = looked->call(id_of("k"), begin_by(anna));

    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().possible, effect::none) << describe(begun.error());
    EXPECT_EQ(sql("SELECT count(*) FROM " + record_table()), "0");
}

TEST_F(SqlReadOnly, AUserWhoMaySelectSeesTheOutbox) {
    const auto table = outbox::open_table(readers_url(), {.mode = open_mode::read_only});
    ASSERT_TRUE(table) << describe(table.error());

    const auto listed = (*table)->list({});
    const auto shown = (*table)->show(1);
    const auto backlog = (*table)->measure();

    EXPECT_TRUE(listed) << describe(listed.error());
    EXPECT_TRUE(shown) << describe(shown.error());
    EXPECT_TRUE(backlog) << describe(backlog.error());
    EXPECT_FALSE((*table)->requeue({}));
}

TEST_F(SqlReadOnly, MissingTablesAreNamedAndNotMade) {
    const std::string url = database_url(database_port());
    const std::string there =
        (url.find('?') == std::string::npos ? "?" : "&") + std::string{"prefix=not_there_"};
    for (const open_mode mode : {open_mode::existing, open_mode::read_only}) {
        const auto opened = semel::open_store(url + there, {.mode = mode});

        ASSERT_FALSE(opened);
        EXPECT_EQ(opened.error().code, errc::schema_missing) << describe(opened.error());
        EXPECT_THAT(opened.error().detail, HasSubstr("semel migrate --store"));
    }
    EXPECT_EQ(sql("SELECT count(*) FROM information_schema.tables WHERE table_name LIKE "
                  "'not_there_%'"),
              "0");
}

} // namespace
} // namespace semel
