// Work, its rows and its record in one PostgreSQL transaction.
#include "semel/transaction/postgres.hpp"

#include <gmock/gmock.h>

#include <functional>
#include <latch>
#include <thread>

#include "postgres_fixture.hpp"
#include "semel/engine.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

struct refused_payment : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class PostgresTransaction : public postgres_test {
protected:
    PostgresTransaction() { run("CREATE TABLE " + payment_table() + " (amount int)"); }
    ~PostgresTransaction() override {
        here_ = postgres_transaction{mine_.native()};
        if (in_transaction()) run("ROLLBACK");
        run("DROP TABLE " + payment_table());
    }

    std::string payment_table() { return prefix() + "payment"; }
    void run(const std::string& text) { mine_.sql(text); }
    std::string pay(std::string answer = {}) {
        run("INSERT INTO " + payment_table() + " VALUES (5)");
        return answer;
    }
    // As others see it.
    std::string payments() { return sql("SELECT count(*) FROM " + payment_table()); }
    std::string recorded() { return sql("SELECT count(*) FROM " + record_table()); }
    bool in_transaction() { return PQtransactionStatus(mine_.native()) != PQTRANS_IDLE; }

    static request payment(std::string key = "p1") {
        return {.tenant = "acme", .operation = "PAY", .key = std::move(key)};
    }
    outcome<std::string> transact(const std::function<std::string()>& work,
                                  request what = payment()) {
        return engine_.transact<std::string>(here_, std::move(what), work);
    }
    outcome<std::string> join(const std::function<std::string()>& work, request what = payment()) {
        return engine_.execute_in<std::string>(here_, std::move(what), work);
    }
    static errc why(const outcome<std::string>& of) {
        return of.why() ? of.why()->code : errc::internal;
    }
    postgres_transaction port_on(testing_support::postgres_client& client) {
        return postgres_transaction{client.native(), {.table_prefix = prefix()}};
    }

    testing_support::postgres_client mine_;
    engine engine_{
        open(), {.failures = {when<refused_payment>(exception_class::final)}}, {.sweep = {}}};
    postgres_transaction here_ = port_on(mine_);
};

// ---- transact -----------------------------------------------------------------------------------

TEST_F(PostgresTransaction, RowAndRecordAreCommittedTogetherAndRepeatsAreReplayed) {
    const auto first = transact([&] { return pay("7"); });
    const auto second = transact([&] { return pay("8"); });

    EXPECT_EQ(first.kind(), outcome_kind::executed);
    EXPECT_EQ(second.kind(), outcome_kind::replayed);
    EXPECT_EQ(second.value(), "7");
    EXPECT_EQ(payments(), "1");
    EXPECT_FALSE(in_transaction());
}

TEST_F(PostgresTransaction, ARepeatOutsideOfATransactionIsReplayedToo) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());

    const auto second = engine_.execute<std::string>(payment(), [] { return std::string{"8"}; });

    EXPECT_EQ(second.value(), "7");
}

TEST_F(PostgresTransaction, AnExceptionLeavesNeitherRowNorRecord) {
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

TEST_F(PostgresTransaction, AFinalFailureIsKeptWithoutItsRows) {
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

TEST_F(PostgresTransaction, WorkThatEndsTheTransactionIsRefusedAndLeavesNoRecord) {
    for (const char* trick : {"ROLLBACK", "COMMIT", "ROLLBACK; BEGIN", "COMMIT; BEGIN",
                              "COMMIT AND CHAIN", "ROLLBACK AND CHAIN"}) {
        const auto out = transact([&] {
            run(trick);
            return std::string{"7"};
        });

        EXPECT_EQ(why(out), errc::transaction_broken) << trick;
        EXPECT_EQ(recorded(), "0") << trick;
        EXPECT_FALSE(in_transaction()) << trick;
    }
}

TEST_F(PostgresTransaction, WorkThatSwallowsAnErrorOfItsOwnIsRefused) {
    const auto out = transact([&] {
        EXPECT_THROW(run("SELECT 1/0"), std::runtime_error);
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
    EXPECT_FALSE(in_transaction());
}

TEST_F(PostgresTransaction, DdlAndSavepointsInsideTheWorkAreFine) {
    const auto out = transact([&] {
        run("SAVEPOINT mine");
        pay();
        run("ROLLBACK TO mine");
        run("ALTER TABLE " + payment_table() + " ADD note text");
        return pay("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresTransaction, NestingTheSameKeyIsRefusedAndAnotherKeyIsNot) {
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

TEST_F(PostgresTransaction, AnotherPortOnTheSameConnectionMayNestAnotherKey) {
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

TEST_F(PostgresTransaction, AClaimWithoutATransactionIsNotOverwritten) {
    int runs = 0;
    const auto out = transact([&] {
        if (++runs == 1) {
            (void)said<answers::started>(engine_.records().call(
                {.tenant = "acme", .operation = "PAY", .key = "p1"}, begin_by(anna)));
        }
        return pay("7");
    });

    EXPECT_EQ(out.kind(), outcome_kind::in_progress) << describe(*out.why());
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(sql("SELECT state FROM " + record_table()), "0");
}

TEST_F(PostgresTransaction, ARepeatWaitsForTheTransactionThatIsUnderWayAndReplays) {
    std::latch inside{1};
    std::jthread first{[&] {
        testing_support::postgres_client other;
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

TEST_F(PostgresTransaction, ARepeatThatDoesNotWaitIsToldInProgressAtOnce) {
    testing_support::postgres_client other;
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

TEST_F(PostgresTransaction, WaitingEndsInTimeAndTheConnectionsOwnTimeoutIsBack) {
    here_ = postgres_transaction{
        mine_.native(), {.table_prefix = prefix(), .lock_wait = std::chrono::milliseconds{20}}};
    run("SET lock_timeout = '7s'");
    testing_support::postgres_client other;
    auto port = port_on(other);

    const auto holder = engine_.transact<std::string>(port, payment(), [&] {
        const auto out = transact([&] { return pay("2"); });
        EXPECT_EQ(why(out), errc::timed_out);
        EXPECT_EQ(out.why()->possible, effect::none);
        return std::string{"1"};
    });
    std::string inside;
    const auto next =
        transact([&] { return inside = mine_.sql("SHOW lock_timeout"); }, payment("p2"));

    EXPECT_TRUE(holder.executed());
    EXPECT_TRUE(next.executed());
    EXPECT_EQ(inside, "7s");
    EXPECT_EQ(mine_.sql("SHOW lock_timeout"), "7s");
}

TEST_F(PostgresTransaction, WorkThatHidesADeadlockOfItsOwnIsRefused) {
    const auto out = transact([&] {
        pay();
        EXPECT_THROW(run("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$"),
                     std::runtime_error);
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresTransaction, ATakeOverSeesTheCheckpointsOfTheLeaseBefore) {
    const record_id id{.tenant = "acme", .operation = "PAY", .key = "p1"};
    const claim lost = said<answers::started>(engine_.records().call(id, begin_by(anna))).by;
    for (const char* step : {"one", "two"}) {
        (void)engine_.records()
            .call(id, commands::checkpoint{.by = lost, .step = {.name = step, .data = step}})
            .value();
    }
    (void)engine_.records().call(id, commands::abandon{.by = lost}).value();
    sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");

    const auto out = engine_.transact<std::string>(here_, payment(), [&](execution& at) {
        EXPECT_TRUE(at.taken_over());
        return at.step("one", [] { return std::string{"new"}; }) +
               at.step("two", [] { return std::string{"new"}; });
    });

    EXPECT_EQ(out.value(), "onetwo");
    EXPECT_EQ(sql("SELECT count(*) FROM " + prefix() + "checkpoint"), "0");
}

TEST_F(PostgresTransaction, ASessionThatForgotItsStatementsGoesOn) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    run("DISCARD ALL");

    EXPECT_TRUE(transact([&] { return pay("8"); }, payment("p2")).executed());
}

TEST_F(PostgresTransaction, AConnectionThatIsLostInTheWorkLeavesNothing) {
    const auto out = transact([&] {
        pay();
        sql("SELECT pg_terminate_backend(" + std::to_string(PQbackendPID(mine_.native())) + ")");
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        return std::string{"7"};
    });

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(payments(), "0");
    PQreset(mine_.native());
    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
}

// ---- execute_in ---------------------------------------------------------------------------------

TEST_F(PostgresTransaction, AJoinedExecutionIsTheCallersToCommit) {
    run("BEGIN");
    const auto out = join([&] { return pay("7"); });

    EXPECT_TRUE(out.executed());
    EXPECT_TRUE(in_transaction());
    EXPECT_EQ(recorded(), "0");
    run("COMMIT");
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresTransaction, ARolledBackJoinedExecutionNeverWas) {
    run("BEGIN");
    ASSERT_TRUE(join([&] { return pay("7"); }).executed());
    run("ROLLBACK");

    run("BEGIN");
    const auto again = join([&] { return pay("8"); });
    run("COMMIT");

    EXPECT_TRUE(again.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresTransaction, ManyJoinedExecutionsOnOneObjectEachSeeTheirOwnTransaction) {
    for (int i = 0; i < 50; ++i) {
        run("BEGIN");
        const auto out = join([&] { return pay("7"); });
        EXPECT_EQ(out.kind(), i == 0 ? outcome_kind::executed : outcome_kind::replayed);
        run("COMMIT");
    }

    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresTransaction, OlderSnapshotsAreRefused) {
    for (const char* level : {"REPEATABLE READ", "SERIALIZABLE"}) {
        run(std::string{"BEGIN ISOLATION LEVEL "} + level);
        const auto out = join([&] { return pay("7"); });
        run("ROLLBACK");

        EXPECT_EQ(why(out), errc::unsupported) << level;
        EXPECT_THAT(out.why()->detail, HasSubstr("READ COMMITTED"));
    }
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresTransaction, RollingBackPastTheExecutionIsNoticed) {
    run("BEGIN; SAVEPOINT mine");

    const auto out = join([&] {
        run("ROLLBACK TO mine");
        return pay("7");
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(PQtransactionStatus(mine_.native()), PQTRANS_INERROR) << "it can still be committed";
    run("ROLLBACK");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(PostgresTransaction, JoinedWorkThatCommitsIsRefusedAndLeavesNoRecord) {
    run("BEGIN");
    const auto out = join([&] {
        run("COMMIT");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
}

// ---- connections that cannot keep the promise ---------------------------------------------------

TEST_F(PostgresTransaction, TransactOutsideAndExecuteInInsideOfATransaction) {
    EXPECT_EQ(why(join([] { return std::string{"7"}; })), errc::invalid_argument);
    run("BEGIN");
    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::invalid_argument);
    EXPECT_TRUE(in_transaction());
    EXPECT_THROW(run("SELECT 1/0"), std::runtime_error);
    EXPECT_EQ(why(join([] { return std::string{"7"}; })), errc::invalid_argument);
}

TEST_F(PostgresTransaction, APipelineOfTheCallersIsLeftAlone) {
    ASSERT_EQ(PQenterPipelineMode(mine_.native()), 1);
    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::invalid_argument);
    ASSERT_EQ(PQexitPipelineMode(mine_.native()), 1);
}

TEST_F(PostgresTransaction, MissingTablesAreNamed) {
    here_ = postgres_transaction{mine_.native(), {.table_prefix = "not_there_"}};

    const auto out = transact([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::schema_missing) << describe(*out.why());
    EXPECT_THAT(out.why()->detail, HasSubstr("semel migrate"));
}

TEST_F(PostgresTransaction, NewerTablesAreRefused) {
    sql("UPDATE " + prefix() + "meta SET value = 99 WHERE name = 'schema_version'");

    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::schema_newer);
}

} // namespace
} // namespace semel
