// Work, its rows and its record in one PostgreSQL transaction: what is particular to it.
#include <optional>
#include <thread>

#include "other_tables.hpp"
#include "stores/sql/payments.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class PostgresTransaction : public SqlTransaction {
protected:
    const record_id id_{.tenant = "acme", .operation = "PAY", .key = "p1"};
};

TEST_F(PostgresTransaction, WorkThatSwallowsAnErrorOfItsOwnIsRefused) {
    const auto out = transact([&] {
        EXPECT_THROW(run("SELECT 1/0"), std::runtime_error);
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
    EXPECT_FALSE(in_transaction());
}

// Semel's own guards raise the same states, but before COMMIT.
TEST_F(PostgresTransaction, AnErrorThatWasDeferredToCommitIsTheApplications) {
    for (const std::string how : {"1/0", "ln(0)"}) {
        const std::string refuse = prefix() + "refuse()";
        mine_.sql("CREATE FUNCTION " + refuse + " RETURNS trigger LANGUAGE plpgsql AS " +
                  "$$BEGIN PERFORM " + how + "; RETURN NULL; END$$");
        mine_.sql("CREATE CONSTRAINT TRIGGER refuses AFTER INSERT ON " + payment_table() +
                  " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION " + refuse);
        int runs = 0;

        const auto out = transact([&] {
            ++runs;
            return pay("7");
        });

        EXPECT_EQ(runs, 1) << how;
        ASSERT_TRUE(out.why()) << how;
        EXPECT_EQ(out.why()->code, errc::internal) << out.why()->detail;
        EXPECT_EQ(recorded(), "0");
        mine_.sql("DROP FUNCTION " + refuse + " CASCADE");
    }
}

TEST_F(PostgresTransaction, DdlAndSavepointsInsideTheWorkAreFine) {
    const auto out = transact([&] {
        run("SAVEPOINT mine");
        pay();
        run("ROLLBACK TO SAVEPOINT mine");
        run("ALTER TABLE " + payment_table() + " ADD note text");
        return pay("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresTransaction, WaitingEndsInTimeAndTheConnectionsOwnTimeoutIsBack) {
    here_ = database_transaction{
        mine_.native(), {.table_prefix = prefix(), .lock_wait = std::chrono::milliseconds{20}}};
    run("SET lock_timeout = '7s'");
    database_client other;
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

// What `enter` relies on: the server reads the number, and so takes the lock, before it looks.
TEST_F(PostgresTransaction, TheLookIsBehindTheLock) {
    const std::string lock = prefix() + "key_lock";
    // Constraints are judged in the order of their names.
    sql("ALTER DOMAIN " + lock +
        " ADD CONSTRAINT a_wait CHECK (pg_advisory_xact_lock(VALUE)::text = '')");
    database_client other;
    auto port = port_on(other);
    std::jthread repeat;
    std::optional<outcome<std::string>> repeated;

    const auto first = transact([&] {
        repeat = std::jthread{[&] {
            repeated = engine_.transact<std::string>(port, payment(), [&] { return pay("2"); });
        }};
        const local_time patience = local_clock::now() + std::chrono::seconds{30};
        while (!waits_for_lock(lock) && local_clock::now() < patience) {
            std::this_thread::sleep_for(std::chrono::milliseconds{5});
        }
        EXPECT_TRUE(waits_for_lock(lock));
        return pay("1");
    });
    repeat.join();

    EXPECT_TRUE(first.executed());
    EXPECT_TRUE(repeated->replayed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresTransaction, WorkThatHidesADeadlockOfItsOwnIsRefused) {
    const auto out = transact([&] {
        pay();
        EXPECT_THROW(mine_.sql("DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$"),
                     std::runtime_error);
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresTransaction, ATakeOverSeesTheCheckpointsOfTheLeaseBefore) {
    const claim lost = said<answers::started>(engine_.records().call(id_, begin_by(anna))).by;
    for (const char* step : {"one", "two"}) {
        (void)engine_.records()
            .call(id_, commands::checkpoint{.by = lost, .step = {.name = step, .data = step}})
            .value();
    }
    (void)engine_.records().call(id_, commands::abandon{.by = lost}).value();
    sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");

    const auto out = engine_.transact<std::string>(here_, payment(), [&](execution& at) {
        EXPECT_TRUE(at.taken_over());
        return at.step("one", [] { return std::string{"new"}; }) +
               at.step("two", [] { return std::string{"new"}; });
    });

    EXPECT_EQ(out.value(), "onetwo");
    EXPECT_EQ(sql("SELECT count(*) FROM " + prefix() + "checkpoint"), "0");
}

// Its record would be written where nobody has looked for it.
TEST_F(PostgresTransaction, WorkThatMakesTheTransactionSeeOtherTablesIsRefused) {
    const other_tables others{prefix()};
    const auto pay_elsewhere = [&] {
        pay();
        run("SET LOCAL search_path = " + others.schema + ", public");
        return std::string{"7"};
    };
    EXPECT_EQ(why(transact(pay_elsewhere)), errc::transaction_broken);
    run("BEGIN");
    EXPECT_EQ(why(join(pay_elsewhere)), errc::transaction_broken);
    run("ROLLBACK");

    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(others.recorded(), "0");
}

// Record and checkpoints are read by two statements, between which a lease goes on.
TEST_F(PostgresTransaction, ARecordThatGetsCheckpointsMeanwhileIsInProgress) {
    const claim by = said<answers::started>(engine_.records().call(id_, begin_by(anna))).by;
    std::jthread owner{[&](const std::stop_token& stop) {
        for (int i = 0; !stop.stop_requested(); ++i) {
            (void)engine_.records().call(
                id_, commands::checkpoint{
                         .by = by, .step = {.name = std::to_string(i % 60), .data = "done"}});
            if (i % 60 < 59) continue;
            sql("UPDATE " + record_table() + " SET checkpoints = 0; DELETE FROM " + prefix() +
                "checkpoint");
        }
    }};
    auto what = payment();
    what.with.wait = wait_mode::answer;
    for (int i = 0; i < 3'000; ++i) {
        const auto out = transact([&] { return pay("7"); }, what);
        ASSERT_EQ(out.kind(), outcome_kind::in_progress) << describe(*out.why());
    }
}

// A lease does not take the lock.
TEST_F(PostgresTransaction, ARecordThatAppearedMeanwhileIsNotOverwritten) {
    int runs = 0;
    const auto out = transact([&] {
        ++runs;
        (void)said<answers::started>(engine_.records().call(id_, begin_by(anna)));
        return pay("7");
    });

    EXPECT_EQ(out.kind(), outcome_kind::in_progress) << "the second look has seen it";
    EXPECT_EQ(runs, 1);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(sql("SELECT state FROM " + record_table()), "0");
}

TEST_F(PostgresTransaction, ARecordThatChangedMeanwhileIsNotOverwritten) {
    (void)said<answers::started>(engine_.records().call(id_, begin_by(anna)));
    sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");
    run("BEGIN");
    const auto out = join([&] {
        (void)said<answers::started>(engine_.records().call(id_, begin_by(bert)));
        return pay("7");
    });
    run("COMMIT");

    EXPECT_EQ(why(out), errc::conflict);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(sql("SELECT state FROM " + record_table()), "0");
}

TEST_F(PostgresTransaction, ASessionThatForgotItsStatementsGoesOn) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    run("DISCARD ALL");

    EXPECT_TRUE(transact([&] { return pay("8"); }, payment("p2")).executed());
}

// BEGIN is the same for both, and the other one has made it known again.
TEST_F(PostgresTransaction, ASessionThatForgotTheStatementsOfTwoPrefixesGoesOn) {
    const testing_support::postgres_prefix second;
    (void)migrate(second.url(), migrate_mode::run).value();
    database_transaction there{mine_.native(), {.table_prefix = second.name()}};
    const auto transact_there = [&](const std::string& key) {
        return engine_.transact<std::string>(there, payment(key), [&] { return pay("7"); });
    };
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    ASSERT_TRUE(transact_there("p1").executed());
    run("DISCARD ALL");
    ASSERT_TRUE(transact_there("p2").executed());

    const auto out = transact([&] { return pay("7"); }, payment("p2"));

    EXPECT_TRUE(out.executed()) << describe(*out.why());
}

// A schema for each tenant, say. The statements are the session's, and know the first one's types.
TEST_F(PostgresTransaction, ASessionThatMovesToOtherTablesGoesOnThere) {
    const other_tables others{prefix()};
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    run("SET search_path = " + others.schema + ", public");

    const auto moved = transact([&] { return pay("8"); });
    run("SET search_path = public");
    auto fresh = port_on(mine_);
    const auto back =
        engine_.transact<std::string>(fresh, payment(), [] { return std::string{"9"}; });

    EXPECT_TRUE(moved.executed()) << describe(*moved.why());
    EXPECT_TRUE(back.replayed()) << describe(*back.why());
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(others.recorded(), "1");
}

// The transaction is the caller's, who has to begin it again.
TEST_F(PostgresTransaction, ATransactionOfASessionThatHasMovedIsToBeginAgain) {
    const other_tables others{prefix()};
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    run("SET search_path = " + others.schema + ", public");
    run("BEGIN");
    const auto first = join([&] { return pay("8"); });
    run("ROLLBACK");

    run("BEGIN");
    const auto again = join([&] { return pay("8"); });
    run("COMMIT");

    EXPECT_EQ(why(first), errc::conflict) << describe(*first.why());
    EXPECT_TRUE(again.executed()) << describe(*again.why());
    EXPECT_EQ(payments(), "2");
    EXPECT_EQ(others.recorded(), "1");
}

TEST_F(PostgresTransaction, TablesThatWereMadeAnewAreFound) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    const std::string old = record_table() + "_old";
    sql("DROP DOMAIN " + prefix() + "key_lock; ALTER TABLE " + record_table() + " RENAME TO " +
        old + "; CREATE TABLE " + record_table() + " (LIKE " + old +
        " INCLUDING ALL); DROP TABLE " + old);
    (void)migrate(url(), migrate_mode::run).value();

    const auto out = transact([&] { return pay("8"); });

    EXPECT_TRUE(out.executed()) << describe(*out.why());
}

TEST_F(PostgresTransaction, AMissingFloorIsNamed) {
    sql("DELETE FROM " + prefix() + "meta WHERE name = 'fence_floor'");

    const auto owned = transact([&] { return pay("7"); });
    run("BEGIN");
    const auto joined = join([&] { return pay("7"); });
    run("ROLLBACK");

    for (const auto* out : {&owned, &joined}) {
        EXPECT_EQ(why(*out), errc::corrupt) << describe(*out->why());
        EXPECT_THAT(out->why()->detail, HasSubstr("fence floor is missing"));
    }
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresTransaction, AMissingLockIsMadeByTheMigration) {
    sql("DROP DOMAIN " + prefix() + "key_lock");
    const auto before = transact([&] { return pay("7"); });
    const auto opened = open_postgres_store(options());
    const auto repaired = migrate(url(), migrate_mode::run).value();

    EXPECT_EQ(why(before), errc::schema_missing) << describe(*before.why());
    EXPECT_THAT(before.why()->detail, HasSubstr("semel migrate"));
    EXPECT_FALSE(opened);
    EXPECT_NE(repaired.from, repaired.to);
    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
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

TEST_F(PostgresTransaction, ASessionThatBeginsWithAnotherLevelIsGivenTheRightOne) {
    run("SET default_transaction_isolation = 'serializable'");
    for (const char* key : {"p1", "p2"}) {
        std::string inside;
        const auto out = transact(
            [&] {
                inside = mine_.sql("SHOW transaction_isolation");
                return pay("7");
            },
            payment(key));

        EXPECT_TRUE(out.executed());
        EXPECT_EQ(inside, "read committed");
    }
    EXPECT_EQ(payments(), "2");
    EXPECT_EQ(mine_.sql("SHOW transaction_isolation"), "serializable");
}

TEST_F(PostgresTransaction, RollingBackPastTheExecutionIsNoticed) {
    run("BEGIN; SAVEPOINT mine");

    const auto out = join([&] {
        run("ROLLBACK TO SAVEPOINT mine");
        return pay("7");
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(PQtransactionStatus(mine_.native()), PQTRANS_INERROR) << "it can still be committed";
    run("ROLLBACK");
    EXPECT_EQ(recorded(), "0");
}

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

} // namespace
} // namespace semel
