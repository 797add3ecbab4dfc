#include "databases/mysql/store/statements.hpp"

#include <gtest/gtest.h>

#include "databases/mysql/store/row.hpp"

namespace semel::mysql {
namespace {

const statement_texts mariadb{"pay_", mysql_dialect::mariadb};
const statement_texts mysql8{"pay_", mysql_dialect::mysql8};

row_buffer ids(int count) {
    row_buffer made;
    for (int i = 0; i < count; ++i) {
        add_id(made.add_row(), {.tenant = "t", .operation = "o", .key = std::to_string(i)});
    }
    return made;
}

row_buffer renewals(int count) {
    row_buffer made = row_buffer{};
    for (int i = 0; i < count; ++i) {
        add_id(made.add_row(), {.tenant = "t", .operation = "o", .key = std::to_string(i)});
        made.add_sql("@n").add(std::int64_t{7}).add(owner_id{}).add(std::int64_t{30});
    }
    return made;
}

bool contains(const std::string& text, std::string_view what) {
    return text.find(what) != std::string::npos;
}

TEST(MysqlStatements, NothingIsLeftToBeFilledIn) {
    for (const int count : {1, 3}) {
        const std::string text = mariadb.update(renew_update(), renewals(count));
        EXPECT_FALSE(contains(text, "{")) << text;
        EXPECT_TRUE(contains(text, "pay_record")) << text;
    }
}

TEST(MysqlStatements, OneRowIsNamedByItsValuesAndManyAreJoined) {
    const std::string one = mariadb.update(renew_update(), renewals(1));
    const std::string many = mariadb.update(renew_update(), renewals(3));

    EXPECT_TRUE(contains(one, "r.tenant='t' AND r.operation='o' AND r.`key`='0' AND r.fence=7"));
    EXPECT_FALSE(contains(one, "UNION"));
    EXPECT_TRUE(contains(many, "UNION ALL SELECT 't','o','2',@n,7"));
    EXPECT_TRUE(contains(many, "r.fence=q.a4"));
}

TEST(MysqlStatements, OnlyMariadbSaysWhatIsNew) {
    EXPECT_TRUE(contains(mariadb.insert_returning(ids(2)), "RETURNING version"));
    EXPECT_FALSE(contains(mysql8.insert(ids(2)), "RETURNING"));
}

// The server wants the right to write also of who only prepares or explains such a statement.
TEST(MysqlStatements, WhatOnlyLooksAsksForNoRightToWrite) {
    for (const std::string& text :
         {mariadb.prepare(open_mode::read_only), mariadb.probe(open_mode::read_only)}) {
        for (const char* word : {"INSERT", "UPDATE", "DELETE"}) {
            EXPECT_FALSE(contains(text, word)) << text;
        }
        EXPECT_TRUE(contains(text, "SELECT")) << text;
    }
    EXPECT_TRUE(contains(mariadb.probe(open_mode::create), "DELETE"));
}

TEST(MysqlStatements, ALoneCompletionNamesItsValuesInTheOrderOfTheStatement) {
    row_buffer one = ids(1);
    one.add_sql("@n").add(std::int64_t{7}).add(std::string_view{"owner"}).add(std::int64_t{30});
    one.add(std::int64_t{0}).add(std::int64_t{9}).add(std::string_view{"type"});
    one.add(std::string_view{"ref"}).add(std::string_view{"body"});

    EXPECT_EQ(mariadb.complete_alone(one), "EXECUTE semel_complete USING 30,30,0,9,'type','ref',"
                                           "'body','t','o','0',7,'owner'");
    EXPECT_TRUE(
        contains(mariadb.prepare(open_mode::create), "r.fence=? AND r.owner=? AND r.state=0"));
    EXPECT_TRUE(contains(mariadb.prepare(open_mode::create),
                         "WHERE r.tenant=? AND r.operation=? AND r.`key`=?"));
    EXPECT_EQ(mariadb.look_alone(ids(1)), "EXECUTE semel_look USING 't','o','0'");
}

// Time is the server's: a statement's beginning, in UTC.
TEST(MysqlStatements, TimeIsReadByTheServer) {
    EXPECT_TRUE(contains(std::string{statement_texts::clock()}, "UTC_TIMESTAMP(6)"));
}

TEST(MysqlStatements, CheckpointsAreLookedForOnlyWhereSomebodyWantsThem) {
    using with = statement_texts::with;
    EXPECT_FALSE(contains(mariadb.load(ids(2), with::columns), "pay_checkpoint"));
    EXPECT_TRUE(contains(mariadb.load(ids(2), with::checkpoints), "pay_checkpoint"));
}

// A COMMIT within it could be done when the time is up.
TEST(MysqlStatements, OnlyWhatWaitsForLocksIsTimed) {
    const auto text = mariadb.timed(std::chrono::milliseconds{100}, "UPDATE x");

    EXPECT_EQ(text, "SET STATEMENT innodb_lock_wait_timeout=1,max_statement_time=0.100 FOR "
                    "UPDATE x");
    EXPECT_EQ(mysql8.timed(std::chrono::milliseconds{100}, "UPDATE x"), "UPDATE x");
}

TEST(MysqlStatements, WhatTheSweeperWaitsForIsTheLeaseThenTheRetention) {
    record it{.lease_until = time_point{duration{5}}, .expires_at = time_point{duration{9}}};
    EXPECT_EQ(due_at(it), time_point{duration{5}});
    it.state = record_state::failed_final;
    EXPECT_EQ(due_at(it), time_point{duration{9}});
}

} // namespace
} // namespace semel::mysql
