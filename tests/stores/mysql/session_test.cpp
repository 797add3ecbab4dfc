// What a session relies on is set, whatever the server and its users' defaults say.
#include "databases/mysql/store/session.hpp"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <iostream>

#include "databases/mysql/transaction/caller_connection.hpp"
#include "support/mysql_server.hpp"
#include "support/tcp_proxy.hpp"

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

    void set_up_as_found() { set_up(*on_, to_, find_dialect(*on_, soon()).value()).value(); }

    std::string show(const std::string& setting) {
        auto got = on_->query("SELECT @@" + setting, soon()).value();
        return got.next() ? std::string{got.bytes(0)} : "nothing";
    }

    target to_;
    std::unique_ptr<connection> on_;
};

TEST_F(MysqlSession, SettingsOfTheServerDoNotCount) {
    on_->query("SET SESSION " + testing_support::isolation_variable() +
                   "='SERIALIZABLE',autocommit=0,time_zone='+05:00',"
                   "sql_mode='ANSI_QUOTES,NO_BACKSLASH_ESCAPES';SET NAMES utf8mb4",
               soon())
        .value();

    set_up_as_found();

    EXPECT_EQ(show(testing_support::isolation_variable()), "READ-COMMITTED");
    EXPECT_EQ(show("autocommit"), "1");
    EXPECT_EQ(show("time_zone"), "+00:00");
    EXPECT_EQ(show("sql_mode"), "STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION");
    EXPECT_EQ(show("character_set_client"), "binary");
    EXPECT_EQ(show("character_set_results"), "binary");
}

// MySQL waits for a lock at least a second, and has no limit for statements that write.
TEST_F(MysqlSession, TimeoutsArriveAtTheServer) {
    set_up_as_found();

    EXPECT_EQ(show("lock_wait_timeout"), "3");
    if (testing_support::tested_mysql == testing_support::mysql_kind::mariadb) {
        EXPECT_EQ(show("max_statement_time"), "3.000000");
        EXPECT_EQ(show("innodb_lock_wait_timeout"), "0");
    } else {
        EXPECT_EQ(show("innodb_lock_wait_timeout"), "1");
    }
}

TEST_F(MysqlSession, TheServerIsAskedWhichSqlItUnderstands) {
    const bool mariadb = testing_support::tested_mysql == testing_support::mysql_kind::mariadb;

    EXPECT_EQ(find_dialect(*on_, soon()).value(),
              mariadb ? mysql_dialect::mariadb : mysql_dialect::mysql8);
    EXPECT_FALSE(on_->lost());
}

// The library forgets then that there were rows, and would call it an answer without any.
TEST_F(MysqlSession, ALossAmongTheRowsOfAnAnswerIsALoss) {
    testing_support::tcp_proxy proxy{testing_support::mysql_port()};
    to_.port = static_cast<std::uint16_t>(proxy.port());
    const auto own = connect(to_).value();
    testing_support::mysql_client client{proxy.port()};
    caller_connection callers{client.native(), mysql_dialect::mysql8};
    const std::string text = "SELECT REPEAT('x', 100000)";
    ASSERT_TRUE(own->query(text, soon()));
    ASSERT_TRUE(callers.run({{text}}));

    proxy.cut_after(testing_support::direction::to_client, 50'000);
    const auto by_ours = own->query(text, soon());
    proxy.never_cut();
    proxy.cut_after(testing_support::direction::to_client, 50'000);
    const auto by_callers = callers.run({{text}});

    EXPECT_FALSE(by_ours);
    EXPECT_FALSE(by_callers);
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

    const auto got = on_->run({.text = "SELECT SLEEP(60)", .what = script::writes::somewhere},
                              before + std::chrono::milliseconds{100});

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::timed_out) << describe(got.error());
    EXPECT_EQ(got.error().possible, effect::unknown);
    EXPECT_TRUE(on_->lost());
    EXPECT_LT(local_clock::now() - before, seconds{2}); // the server would stop it after 3 s
}

TEST_F(MysqlSession, AnErrorBeforeTheCommitHasRolledBackAndTheConnectionGoesOn) {
    set_up_as_found();

    const auto got = on_->run({.text = "BEGIN;SELECT nothing FROM nowhere;COMMIT",
                               .what = script::writes::at_commit,
                               .before_commit = 1,
                               .in_transaction = true},
                              soon());

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().possible, effect::none);
    EXPECT_FALSE(on_->lost());
    ASSERT_TRUE(on_->query("SAVEPOINT here", soon()));
    EXPECT_FALSE(on_->query("RELEASE SAVEPOINT here", soon())) << "it is in a transaction";
}

TEST_F(MysqlSession, TextsThatTheServerWouldRefuseAreNotSent) {
    set_up_as_found();
    const std::string text = "SELECT '" + std::string(on_->text_bytes_max(), 'x') + "'";

    const auto got = on_->query(text, soon());

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::limit_exceeded);
    EXPECT_FALSE(on_->lost());
}

} // namespace
} // namespace semel::mysql
