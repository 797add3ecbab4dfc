// Statements one by one: the way they take on MySQL, and on a MariaDB that a proxy calls otherwise.
#include "stores/sql/payments.hpp"

namespace semel {
namespace {

class Mysql8Transaction : public SqlTransaction {
protected:
    Mysql8Transaction() {
        here_ = database_transaction{mine_.native(),
                                     {.table_prefix = prefix(), .dialect = mysql_dialect::mysql8}};
    }

    static request payment_of(int amount) {
        request made = payment();
        made.content = fingerprint::raw(std::to_string(amount));
        return made;
    }
    store& records() { return engine_.records(); }

    const record_id id_{.tenant = "acme", .operation = "PAY", .key = "p1"};
};

TEST_F(Mysql8Transaction, RowAndRecordAreCommittedTogetherAndRepeatsAreReplayed) {
    const auto first = transact([&] { return pay("7"); });
    const auto second = transact([&] { return pay("8"); });

    EXPECT_TRUE(first.executed());
    EXPECT_TRUE(second.replayed());
    EXPECT_EQ(second.value(), "7");
    EXPECT_EQ(payments(), "1");
    EXPECT_FALSE(in_transaction());
}

TEST_F(Mysql8Transaction, AnExpiredKeyIsTakenAgain) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    put_in_the_past("expires_at");

    const auto out = transact([&] { return pay("8"); });

    ASSERT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(transact([&] { return pay("9"); }).value(), "8");
    EXPECT_EQ(payments(), "2");
}

TEST_F(Mysql8Transaction, WhatFailedMayBeTriedAgain) {
    const auto by = said<answers::started>(records().call(id_, begin_by(anna))).by;
    (void)said<answers::stored>(records().call(
        id_, commands::fail{.by = by, .error = "no", .retention = std::chrono::hours{1}}));

    const auto out = transact([&] { return pay("7"); });

    ASSERT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(transact([&] { return pay("8"); }).value(), "7");
}

TEST_F(Mysql8Transaction, ALapsedClaimIsTakenOverAndItsStepsAreForgotten) {
    const auto by = said<answers::started>(records().call(id_, begin_by(anna))).by;
    (void)said<answers::stored>(records().call(
        id_, commands::checkpoint{.by = by, .step = {.name = "step", .data = "done"}}));
    sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");

    const auto out = transact([&] { return pay("7"); });

    ASSERT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(sql("SELECT COUNT(*) FROM " + prefix() + "checkpoint"), "0");
}

TEST_F(Mysql8Transaction, ARecordThatTheWorkHasChangedIsNotOverwritten) {
    (void)said<answers::started>(records().call(id_, begin_by(anna)));
    sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");
    int runs = 0;

    const auto out = transact([&] {
        if (++runs == 1) run("UPDATE " + record_table() + " SET version = version + 1");
        return pay("B");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(payments(), "1");
}

TEST_F(Mysql8Transaction, AnotherPayloadIsAMismatch) {
    ASSERT_TRUE(transact([&] { return pay("7"); }, payment_of(5)).executed());

    const auto out = transact([&] { return pay("8"); }, payment_of(6));

    EXPECT_EQ(out.kind(), outcome_kind::mismatch);
    EXPECT_EQ(payments(), "1");
}

TEST_F(Mysql8Transaction, WorkThatEndsTheTransactionIsRefusedAndLeavesNoRecord) {
    for (const char* trick : {"ROLLBACK", "COMMIT", "COMMIT; BEGIN", "ROLLBACK AND CHAIN"}) {
        const auto out = transact([&] {
            run(trick);
            return std::string{"7"};
        });

        EXPECT_EQ(why(out), errc::transaction_broken) << trick;
        EXPECT_EQ(recorded(), "0") << trick;
        EXPECT_FALSE(in_transaction()) << trick;
    }
}

TEST_F(Mysql8Transaction, AJoinedExecutionIsTheCallersToCommit) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    put_in_the_past("expires_at");

    run("BEGIN");
    const auto again = join([&] { return pay("8"); });
    const auto other = join([&] { return pay("9"); }, payment("p2"));
    EXPECT_EQ(recorded(), "1");
    run("COMMIT");

    EXPECT_TRUE(again.executed()) << describe(*again.why());
    EXPECT_TRUE(other.executed());
    EXPECT_EQ(recorded(), "2");
    EXPECT_EQ(payments(), "3");
}

TEST_F(Mysql8Transaction, NoNamedLockIsLeftBehind) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    EXPECT_THROW(
        (void)transact([]() -> std::string { throw std::runtime_error{"x"}; }, payment("p2"))
            .value(),
        std::runtime_error);

    EXPECT_EQ(mine_.sql("SELECT @@autocommit"), "1");
    database_client other;
    auto port = port_on(other);
    for (const char* key : {"p1", "p2"}) {
        auto what = payment(key);
        what.with.wait = wait_mode::answer;
        const auto out = engine_.transact<std::string>(port, what, [] { return std::string{"8"}; });
        EXPECT_FALSE(out.in_progress()) << key;
    }
}

} // namespace
} // namespace semel
