// What a session relies on is set, whatever the server and its users' defaults say.
#include "stores/mysql/session.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <iostream>

#include "support/mysql_server.hpp"

namespace semel::mysql {
namespace {

using std::chrono::seconds;

class MysqlSession : public testing::Test {
protected:
    void SetUp() override {
        to_ = read_target({.port = static_cast<std::uint16_t>(testing_support::mysql_port()),
                           .user = "semel",
                           .password = "semel",
                           .database = "semel",
                           .connect_timeout = seconds{5},
                           .statement_timeout = seconds{3},
                           .lock_timeout = std::chrono::milliseconds{70}})
                  .value();
        on_ = connect(to_).value();
    }

    static local_time soon() { return local_clock::now() + seconds{5}; }

    void set_up_as(mysql_dialect dialect) { set_up(*on_, to_, dialect).value(); }

    std::string show(const std::string& setting) {
        auto got = on_->query("SELECT @@" + setting, soon()).value();
        return got.next() ? std::string{got.bytes(0)} : "nothing";
    }

    target to_;
    std::unique_ptr<connection> on_;
};

TEST_F(MysqlSession, SettingsOfTheServerDoNotCount) {
    on_->query("SET SESSION tx_isolation='SERIALIZABLE',autocommit=0,time_zone='+05:00',"
               "sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES';SET NAMES utf8mb4",
               soon())
        .value();

    set_up_as(mysql_dialect::mariadb);

    EXPECT_EQ(show("tx_isolation"), "READ-COMMITTED");
    EXPECT_EQ(show("autocommit"), "1");
    EXPECT_EQ(show("time_zone"), "+00:00");
    EXPECT_EQ(show("sql_mode"), "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION");
    EXPECT_EQ(show("character_set_client"), "binary");
    EXPECT_EQ(show("character_set_results"), "binary");
}

TEST_F(MysqlSession, TimeoutsArriveAtTheServer) {
    set_up_as(mysql_dialect::mariadb);

    EXPECT_EQ(show("max_statement_time"), "3.000000");
    EXPECT_EQ(show("innodb_lock_wait_timeout"), "0");
    EXPECT_EQ(show("lock_wait_timeout"), "3");
}

TEST_F(MysqlSession, MysqlWaitsForLocksAsBrieflyAsItCan) {
    set_up_as(mysql_dialect::mysql8);

    EXPECT_EQ(show("innodb_lock_wait_timeout"), "1");
}

TEST_F(MysqlSession, LocalhostIsReachedByItsPort) {
    to_.host = "localhost";

    EXPECT_TRUE(connect(to_));
}

// The client library would take the socket of whatever server is the machine's own. It reads its
// name once, so only a new process sees it.
TEST_F(MysqlSession, APortOfLocalhostWhereNobodyListensIsNotReplacedByASocket) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    ::setenv("MYSQL_UNIX_PORT", show("socket").c_str(), 1);
    to_.host = "localhost";
    to_.port = 1;

    const auto try_it = [&] {
        const auto got = connect(to_);
        std::cerr << (got ? "connected" : describe(got.error()));
        std::exit(0);
    };
    EXPECT_EXIT(try_it(), testing::ExitedWithCode(0), "unavailable");
    ::unsetenv("MYSQL_UNIX_PORT");
}

TEST_F(MysqlSession, ADeadlineIsKeptWhateverTheServerDoes) {
    const local_time before = local_clock::now();

    const auto got = on_->run({.text = "SELECT SLEEP(2)", .what = script::writes::somewhere},
                              before + std::chrono::milliseconds{100});

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::timed_out) << describe(got.error());
    EXPECT_EQ(got.error().possible, effect::unknown);
    EXPECT_TRUE(on_->lost());
    EXPECT_LT(local_clock::now() - before, seconds{1});
}

TEST_F(MysqlSession, AnErrorBeforeTheCommitHasRolledBackAndTheConnectionGoesOn) {
    set_up_as(mysql_dialect::mariadb);

    const auto got = on_->run({.text = "BEGIN;SELECT nothing FROM nowhere;COMMIT",
                               .what = script::writes::at_commit,
                               .before_commit = 1,
                               .in_transaction = true},
                              soon());

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().possible, effect::none);
    EXPECT_FALSE(on_->lost());
    EXPECT_EQ(show("in_transaction"), "0");
}

TEST_F(MysqlSession, TextsThatTheServerWouldRefuseAreNotSent) {
    set_up_as(mysql_dialect::mariadb);
    const std::string text = "SELECT '" + std::string(on_->text_bytes_max(), 'x') + "'";

    const auto got = on_->query(text, soon());

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::limit_exceeded);
    EXPECT_FALSE(on_->lost());
}

} // namespace
} // namespace semel::mysql
