// What a session relies on is set, whatever the server, role or URL say.
#include "databases/postgres/store/session.hpp"

#include <gtest/gtest.h>

#include "support/postgres_server.hpp"

namespace semel::postgres {
namespace {

using std::chrono::seconds;

class PostgresSession : public testing::Test {
protected:
    void connect(const std::string& parameters) {
        const std::string url = testing_support::postgres_url() + parameters;
        to_ = read_target({.url = url,
                           .connect_timeout = seconds{5},
                           .answer_timeout = seconds{3},
                           .lock_timeout = std::chrono::milliseconds{70}})
                  .value();
        on_ = connection::start(to_).value();
        ASSERT_EQ(on_->advance(soon()).value(), connection::progress::ready);
        set_up(*on_, to_).value();
    }

    static local_time soon() { return local_clock::now() + seconds{5}; }

    std::string show(const std::string& setting) {
        const auto got = on_->query("SHOW " + setting, soon()).value();
        return std::string{got.bytes(0, 0)};
    }

    target to_;
    std::unique_ptr<connection> on_;
};

TEST_F(PostgresSession, AcknowledgedWritesAreFlushedEvenWhereTheRoleDoesNotCare) {
    connect("?options=-c%20synchronous_commit%3Doff");
    EXPECT_EQ(show("synchronous_commit"), "on");
}

TEST_F(PostgresSession, AStrongerPromiseOfTheRoleIsKept) {
    connect("?options=-c%20synchronous_commit%3Dremote_apply");
    EXPECT_EQ(show("synchronous_commit"), "remote_apply");
}

TEST_F(PostgresSession, TheIsolationIsReadCommitted) {
    connect("?options=-c%20default_transaction_isolation%3Dserializable");
    EXPECT_EQ(show("transaction_isolation"), "read committed");
}

TEST_F(PostgresSession, TimeoutsArriveAtTheServer) {
    connect("");
    EXPECT_EQ(show("statement_timeout"), "3s");
    EXPECT_EQ(show("lock_timeout"), "70ms");
    EXPECT_EQ(show("idle_in_transaction_session_timeout"), "12s");
}

TEST_F(PostgresSession, ADeadlineIsKeptWhateverTheServerDoes) {
    connect("");
    const local_time before = local_clock::now();

    const auto got = on_->query("SELECT pg_sleep(60)", before + std::chrono::milliseconds{100});

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::timed_out);
    EXPECT_EQ(got.error().possible, effect::unknown);
    EXPECT_TRUE(on_->lost());
    EXPECT_LT(local_clock::now() - before, seconds{2}); // the server would stop it after 3 s
}

TEST_F(PostgresSession, AnErrorTheServerReportsHasRolledBackAndTheConnectionGoesOn) {
    connect("");
    const std::string name = "bad";
    const std::string text = "SELECT 1 / $1::bigint";
    const preparation one{name, text};
    on_->prepare({&one, 1}, soon()).value();
    const auto zero = big_endian(0);
    const call what{.name = name, .values = {{zero.data(), zero.size()}}};

    const auto got = on_->pipeline({&what, 1}, soon());

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().possible, effect::none);
    EXPECT_FALSE(on_->lost());
    EXPECT_EQ(show("server_version_num").size(), 6U);
}

} // namespace
} // namespace semel::postgres
