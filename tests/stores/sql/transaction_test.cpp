// Work, its rows and its record in one transaction: what every database promises.
#include <latch>
#include <thread>
#include <vector>

#include "payments.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

TEST_F(SqlTransaction, RowAndRecordAreCommittedTogetherAndRepeatsAreReplayed) {
    const auto first = transact([&] { return pay("7"); });
    const auto second = transact([&] { return pay("8"); });

    EXPECT_EQ(first.kind(), outcome_kind::executed);
    EXPECT_EQ(second.kind(), outcome_kind::replayed);
    EXPECT_EQ(second.value(), "7");
    EXPECT_EQ(payments(), "1");
    EXPECT_FALSE(in_transaction());
}

TEST_F(SqlTransaction, ARepeatOutsideOfATransactionIsReplayedToo) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());

    const auto second = engine_.execute<std::string>(payment(), [] { return std::string{"8"}; });

    EXPECT_EQ(second.value(), "7");
}

TEST_F(SqlTransaction, RejectionReferenceAndAttributesAreKept) {
    request what = payment();
    what.with.attributes = R"({"shop": 1})";
    const auto first = engine_.transact<std::string>(here_, what, [&](execution& run) {
        run.set_result_ref("pay_1");
        return reject(pay("no"));
    });

    const auto second = transact([&] { return pay("8"); });

    EXPECT_TRUE(first.executed());
    EXPECT_TRUE(first.rejected());
    EXPECT_TRUE(second.replayed());
    EXPECT_TRUE(second.rejected());
    EXPECT_EQ(second.value(), "no");
    EXPECT_EQ(sql("SELECT count(*) FROM " + record_table() + " WHERE " + as_text("result_ref") +
                  " = 'pay_1' AND " + as_text("attributes") + " = '{\"shop\": 1}'"),
              "1");
}

TEST_F(SqlTransaction, R_31_AnExceptionLeavesNeitherRowNorRecord) {
    EXPECT_THROW(static_cast<void>(transact([&]() -> std::string {
                                       pay();
                                       throw std::runtime_error{"no network"};
                                   }).value()),
                 std::runtime_error);

    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
    EXPECT_FALSE(in_transaction());
    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
}

TEST_F(SqlTransaction, AFinalFailureIsKeptWithoutItsRows) {
    int runs = 0;
    const auto work = [&]() -> std::string {
        ++runs;
        pay();
        throw refused_payment{"card stolen"};
    };
    EXPECT_THROW(static_cast<void>(transact(work).value()), refused_payment);

    const auto again = transact(work);

    EXPECT_EQ(again.kind(), outcome_kind::failed);
    EXPECT_EQ(again.error(), "card stolen");
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(payments(), "0");
}

TEST_F(SqlTransaction, WorkThatEndsTheTransactionIsRefusedAndLeavesNoRecord) {
    std::vector<const char*> tricks{"ROLLBACK", "COMMIT", "ROLLBACK; BEGIN", "COMMIT; BEGIN"};
    tricks.insert(tricks.end(), further_tricks);
    for (const char* trick : tricks) {
        const auto out = transact([&] {
            run(trick);
            return std::string{"7"};
        });

        EXPECT_EQ(why(out), errc::transaction_broken) << trick;
        EXPECT_EQ(recorded(), "0") << trick;
        EXPECT_FALSE(in_transaction()) << trick;
    }
}

TEST_F(SqlTransaction, WorkThatRollsBackIsRefusedWithItsRows) {
    const auto out = transact([&] {
        pay();
        run("ROLLBACK");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqlTransaction, SavepointsInsideTheWorkAreFine) {
    const auto out = transact([&] {
        run("SAVEPOINT mine");
        pay();
        run("ROLLBACK TO SAVEPOINT mine");
        return pay("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlTransaction, NestingTheSameKeyIsRefusedAndAnotherKeyIsNot) {
    errc inner_same{};
    bool inner_other = false;
    bool inner_again = false;

    const auto out = transact([&] {
        inner_same = why(join([] { return std::string{"1"}; }));
        inner_other = join([&] { return pay("1"); }, payment("child")).executed();
        inner_again = join([&] { return pay("1"); }, payment("child")).replayed();
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(inner_same, errc::transaction_broken);
    EXPECT_TRUE(inner_other);
    EXPECT_TRUE(inner_again);
    EXPECT_EQ(recorded(), "2");
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlTransaction, AnyNumberOfRepeatsInsideTheWorkLeaveItsOwnKeyAlone) {
    ASSERT_TRUE(transact([&] { return pay("1"); }, payment("child")).executed());
    const auto out = transact([&] {
        for (int i = 0; i < 5'000; ++i) {
            const auto again = join([&] { return pay("2"); }, payment("child"));
            if (!again.replayed()) throw std::runtime_error{"executed twice"};
        }
        return pay("3");
    });

    EXPECT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(payments(), "2");
}

// They are other records.
TEST_F(SqlTransaction, TheSameKeyInOtherTablesIsAnotherOne) {
    const database_prefix second;
    (void)migrate(second.url(), migrate_mode::run).value();
    database_transaction there{mine_.native(), {.table_prefix = second.name()}};

    const auto out = transact([&] {
        return engine_.execute_in<std::string>(there, payment(), [&] { return pay("7"); }).value();
    });

    EXPECT_EQ(out.value(), "7");
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(sql("SELECT count(*) FROM " + second.name() + "record"), "1");
}

TEST_F(SqlTransaction, AnotherPortOnTheSameConnectionMayNestAnotherKey) {
    const auto out = transact([&] {
        auto inner = port_on(mine_);
        const auto child =
            engine_.execute_in<std::string>(inner, payment("child"), [&] { return pay("1"); });
        EXPECT_TRUE(child.executed());
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(recorded(), "2");
}

TEST_F(SqlTransaction, ARepeatWaitsForTheTransactionThatIsUnderWayAndReplays) {
    std::latch inside{1};
    std::jthread first{[&] {
        database_client other;
        auto port = port_on(other);
        const auto out = engine_.transact<std::string>(port, payment(), [&] {
            other.sql("INSERT INTO " + payment_table() + " VALUES (1)");
            inside.count_down();
            std::this_thread::sleep_for(std::chrono::milliseconds{100});
            return std::string{"first"};
        });
        EXPECT_TRUE(out.executed());
    }};
    inside.wait();

    const auto out = transact([&] { return pay("second"); });

    EXPECT_EQ(out.kind(), outcome_kind::replayed);
    EXPECT_EQ(out.value(), "first");
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlTransaction, ARepeatThatDoesNotWaitIsToldInProgressAtOnce) {
    database_client other;
    auto port = port_on(other);
    auto what = payment();
    what.with.wait = wait_mode::answer;

    const auto out = engine_.transact<std::string>(port, payment(), [&] {
        EXPECT_TRUE(transact([&] { return pay("2"); }, what).in_progress());
        return std::string{"1"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "0");
}

TEST_F(SqlTransaction, AJoinedExecutionIsTheCallersToCommit) {
    run("BEGIN");
    const auto out = join([&] { return pay("7"); });

    EXPECT_TRUE(out.executed());
    EXPECT_TRUE(in_transaction());
    EXPECT_EQ(recorded(), "0");
    run("COMMIT");
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlTransaction, ARolledBackJoinedExecutionNeverWas) {
    run("BEGIN");
    ASSERT_TRUE(join([&] { return pay("7"); }).executed());
    run("ROLLBACK");

    run("BEGIN");
    const auto again = join([&] { return pay("8"); });
    run("COMMIT");

    EXPECT_TRUE(again.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlTransaction, ManyJoinedExecutionsOnOneObjectEachSeeTheirOwnTransaction) {
    for (int i = 0; i < 200; ++i) {
        run("BEGIN");
        const auto out = join([&] { return pay("7"); });
        EXPECT_EQ(out.kind(), i == 0 ? outcome_kind::executed : outcome_kind::replayed);
        run("COMMIT");
    }

    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlTransaction, JoinedWorkThatCommitsIsRefusedAndLeavesNoRecord) {
    run("BEGIN");
    const auto out = join([&] {
        run("COMMIT");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqlTransaction, RollingBackPastTheExecutionIsNoticed) {
    run("BEGIN; SAVEPOINT mine");

    const auto out = join([&] {
        run("ROLLBACK TO SAVEPOINT mine");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    run("ROLLBACK");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqlTransaction, TransactIsForOutsideAndExecuteInForInsideOfATransaction) {
    EXPECT_EQ(why(join([] { return std::string{"7"}; })), errc::invalid_argument);
    run("BEGIN");
    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::invalid_argument);
    EXPECT_TRUE(in_transaction());
}

TEST_F(SqlTransaction, MissingTablesAreNamed) {
    here_ = database_transaction{mine_.native(), {.table_prefix = "not_there_"}};

    const auto out = transact([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::schema_missing) << describe(*out.why());
    EXPECT_THAT(out.why()->detail, HasSubstr("semel migrate"));
}

TEST_F(SqlTransaction, NewerTablesAreRefused) {
    sql("UPDATE " + prefix() + "meta SET value = 99 WHERE name = 'schema_version'");

    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::schema_newer);
}

} // namespace
} // namespace semel
