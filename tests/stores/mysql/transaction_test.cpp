// Work, its rows and its record in one MariaDB transaction: what is particular to it.
#include <atomic>
#include <cstring>
#include <latch>
#include <string_view>
#include <thread>
#include <vector>

#include "stores/sql/deadlocks.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

// MySQL waits a second for it.
constexpr duration brief_wait = std::chrono::milliseconds{20};

class MysqlTransaction : public SqlTransaction {};

// MariaDB commits before and after DDL, whatever was in the transaction.
TEST_F(MysqlTransaction, WorkThatRunsDdlIsRefusedAndLeavesNoRecord) {
    const auto out = transact([&] {
        pay();
        run("ALTER TABLE " + payment_table() + " ADD note INT");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
    EXPECT_FALSE(in_transaction());
}

TEST_F(MysqlTransaction, AnErrorThatTheWorkHandlesItselfIsItsOwnBusiness) {
    const auto out = transact([&] {
        EXPECT_THROW(run("SELECT nothing FROM nowhere"), std::runtime_error);
        return pay("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

// What it saw would be told as done, and may never be.
TEST_F(MysqlTransaction, WhatOthersHaveNotCommittedIsNotReplayed) {
    database_client other;
    auto port = port_on(other);
    other.sql("SET SESSION TRANSACTION ISOLATION LEVEL READ UNCOMMITTED");
    run("BEGIN");
    ASSERT_TRUE(join([&] { return pay("7"); }).executed());

    other.sql("BEGIN");
    const auto out =
        engine_.execute_in<std::string>(port, payment(), [] { return std::string{"8"}; });
    other.sql("ROLLBACK");
    run("ROLLBACK");

    ASSERT_EQ(why(out), errc::unsupported);
    EXPECT_THAT(out.why()->detail, HasSubstr("READ UNCOMMITTED"));
}

TEST_F(MysqlTransaction, AMissingFloorIsNamed) {
    sql("DELETE FROM " + prefix() + "meta WHERE name = 'fence_floor'");

    const auto out = transact([&] { return pay("7"); });

    EXPECT_EQ(why(out), errc::corrupt) << describe(*out.why());
    EXPECT_THAT(out.why()->detail, HasSubstr("fence floor is missing"));
    EXPECT_EQ(payments(), "0");
}

TEST_F(MysqlTransaction, SavepointsInsideTheWorkAreFine) {
    const auto out = transact([&] {
        run("SAVEPOINT mine");
        pay();
        run("ROLLBACK TO SAVEPOINT mine");
        return pay("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(MysqlTransaction, AResultThatTheWorkHasNotFetchedIsRefused) {
    const auto out = transact([&] {
        pay();
        EXPECT_EQ(mysql_query(mine_.native(), "SELECT 1"), 0);
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(payments(), "0");
    EXPECT_FALSE(in_transaction());
}

TEST_F(MysqlTransaction, WaitingEndsInTime) {
    here_ =
        database_transaction{mine_.native(), {.table_prefix = prefix(), .lock_wait = brief_wait}};
    database_client other;
    auto port = port_on(other);

    const auto holder = engine_.transact<std::string>(port, payment(), [&] {
        const auto out = transact([&] { return pay("2"); });
        EXPECT_EQ(why(out), errc::timed_out);
        EXPECT_EQ(out.why()->possible, effect::none);
        EXPECT_FALSE(in_transaction());
        return std::string{"1"};
    });

    EXPECT_TRUE(holder.executed());
    EXPECT_TRUE(transact([&] { return pay("2"); }, payment("p2")).executed());
}

// 1213 has rolled back everything, and a later statement its number: only the broken transaction
// shows.
TEST_F(SqlDeadlock, WorkThatHidesItAndGoesOnIsRefused) {
    const auto survivor = start_survivor();

    const auto out = transact([&] {
        EXPECT_THROW(run_into_deadlock(), std::runtime_error);
        EXPECT_EQ(mine_.error(), 1213U);
        run("DO 1");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
}

// The server has rolled back, and each statement would commit by itself. The client does not know:
// an error does not say.
TEST_F(SqlDeadlock, NothingIsExecutedInWhatItHasRolledBack) {
    const auto survivor = start_survivor();
    run("BEGIN");
    EXPECT_THROW(run_into_deadlock(), std::runtime_error);

    for (const auto dialect : {mysql_dialect::mariadb, mysql_dialect::mysql8}) {
        database_transaction port{mine_.native(), {.table_prefix = prefix(), .dialect = dialect}};
        const auto out = engine_.execute_in<std::string>(port, payment(), [&] { return pay("7"); });

        EXPECT_EQ(why(out), errc::invalid_argument);
        // The first one to ask the server learns it, and then the client knows it, too.
        EXPECT_THAT(out.why()->detail,
                    testing::AnyOf(HasSubstr("deadlock"), HasSubstr("is in no transaction")));
        EXPECT_EQ(out.why()->possible, effect::none);
    }
    EXPECT_EQ(payments(), "0");
    run("ROLLBACK; BEGIN");
    EXPECT_TRUE(join([&] { return pay("7"); }).executed());
}

TEST_F(SqlDeadlock, WithoutAutocommitTheNextTransactionHasBegunAndIsJoined) {
    const auto survivor = start_survivor();
    run("SET autocommit = 0");
    EXPECT_THROW(run_into_deadlock(), std::runtime_error);

    const auto out = join([&] { return pay("7"); });
    run("ROLLBACK; SET autocommit = 1");

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(MysqlTransaction, AConnectionThatIsLostInTheWorkLeavesNothing) {
    database_client lost;
    auto port = port_on(lost);

    const auto out = engine_.transact<std::string>(port, payment(), [&] {
        lost.sql("INSERT INTO " + payment_table() + " VALUES (1)");
        sql("KILL " + std::to_string(mysql_thread_id(lost.native())));
        std::this_thread::sleep_for(std::chrono::milliseconds{50});
        return std::string{"7"};
    });

    EXPECT_FALSE(out.executed());
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(payments(), "0");
    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
}

TEST_F(MysqlTransaction, OddSettingsOfTheConnectionDoNotMatter) {
    const std::string isolation = testing_support::isolation_variable();
    run("SET SESSION sql_mode = 'ANSI_QUOTES,NO_BACKSLASH_ESCAPES', time_zone = '+05:00', " +
        isolation + " = 'SERIALIZABLE'");
    run("SET NAMES gbk");
    auto what = payment(std::string{"\x27\\\xbf\x27;", 5});

    const auto first = transact([&] { return pay(what.key); }, what);
    const auto second = transact([&] { return pay("8"); }, what);
    const auto outside = engine_.execute<std::string>(what, [] { return std::string{"9"}; });

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(second.value(), what.key);
    EXPECT_EQ(outside.value(), what.key);
    EXPECT_EQ(mine_.sql("SELECT @@" + isolation), "SERIALIZABLE");
}

// Times of records would be believed by others, whose clock is the server's: a key would expire at
// once, or never.
TEST_F(MysqlTransaction, AClockThatStandsStillIsRefusedBeforeTheWork) {
    for (const auto dialect : {mysql_dialect::mariadb, mysql_dialect::mysql8}) {
        here_ =
            database_transaction{mine_.native(), {.table_prefix = prefix(), .dialect = dialect}};
        for (const char* time : {"1000", "2000000000"}) {
            run(std::string{"SET timestamp = "} + time);
            const auto owned = transact([&] { return pay("7"); });
            run("BEGIN");
            const auto joined = join([&] { return pay("7"); });
            run("COMMIT");

            EXPECT_EQ(why(owned), errc::unsupported) << time;
            EXPECT_THAT(owned.why()->detail, HasSubstr("SET timestamp = DEFAULT"));
            EXPECT_EQ(why(joined), errc::unsupported) << time;
        }
    }
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");

    run("SET timestamp = DEFAULT");
    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
}

TEST_F(MysqlTransaction, WithoutAutocommitItIsTheSame) {
    run("SET autocommit = 0");
    const auto first = transact([&] { return pay("7"); });
    const auto second = transact([&] { return pay("8"); });
    EXPECT_TRUE(first.executed());
    EXPECT_TRUE(second.replayed());
    EXPECT_EQ(payments(), "1");

    for (const char* trick : {"ROLLBACK", "COMMIT"}) {
        const auto out = transact(
            [&] {
                pay();
                run(trick);
                return std::string{"7"};
            },
            payment("p2"));
        EXPECT_EQ(why(out), errc::transaction_broken) << trick;
    }
    EXPECT_EQ(recorded(), "1");

    // Whoever reads is in a transaction.
    mine_.sql("SELECT * FROM " + payment_table());
    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::invalid_argument);
    run("COMMIT; SET autocommit = 1");
}

// The lock must not outlive the transaction it is for.
TEST_F(MysqlTransaction, NoNamedLockIsLeftBehind) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    EXPECT_THROW(static_cast<void>(
                     transact([]() -> std::string { throw std::runtime_error{"x"}; }, payment("p2"))
                         .value()),
                 std::runtime_error);
    database_client other;
    auto port = port_on(other);
    for (const char* key : {"p1", "p2"}) {
        auto what = payment(key);
        what.with.wait = wait_mode::answer;
        const auto out = engine_.transact<std::string>(port, what, [] { return std::string{"8"}; });
        EXPECT_FALSE(out.in_progress()) << key;
    }
}

// REPEATABLE READ does not see what was committed since; inserting and locking do.
TEST_F(MysqlTransaction, AnOlderSnapshotDoesNotHideARecord) {
    for (const char* level : {"REPEATABLE READ", "READ COMMITTED", "SERIALIZABLE"}) {
        run(std::string{"SET TRANSACTION ISOLATION LEVEL "} + level);
        run("BEGIN");
        mine_.sql("SELECT COUNT(*) FROM " + payment_table());
        database_client other;
        auto port = port_on(other);
        ASSERT_TRUE(
            engine_.transact<std::string>(port, payment(level), [] { return std::string{"first"}; })
                .executed());

        const auto out = join([&] { return pay("second"); }, payment(level));
        run("COMMIT");

        EXPECT_TRUE(out.replayed()) << level;
        EXPECT_EQ(out.value(), "first") << level;
    }
    EXPECT_EQ(payments(), "0");
}

// Neither a transaction nor a claim without one gets a key that another transaction has begun.
TEST_F(MysqlTransaction, AnExecutionInACallersTransactionHoldsItsKeyUntilTheEnd) {
    for (const char* level : {"REPEATABLE READ", "READ COMMITTED"}) {
        const auto what = payment(level);
        database_client client;
        database_transaction impatient{client.native(),
                                       {.table_prefix = prefix(), .lock_wait = brief_wait}};
        const auto repeat = [&] {
            return engine_.transact<std::string>(impatient, what,
                                                 [] { return std::string{"second"}; });
        };
        run(std::string{"SET TRANSACTION ISOLATION LEVEL "} + level);
        run("BEGIN");
        const auto out = join(
            [&] {
                EXPECT_EQ(why(repeat()), errc::timed_out);
                return pay("first");
            },
            what);
        EXPECT_EQ(why(repeat()), errc::timed_out) << level;
        const auto claimed = engine_.records().call(
            {.tenant = what.tenant, .operation = what.operation, .key = what.key}, begin_by(anna));
        EXPECT_FALSE(claimed) << level;
        run("COMMIT");

        EXPECT_TRUE(out.executed()) << level;
        EXPECT_EQ(repeat().value(), "first") << level;
    }
    EXPECT_EQ(payments(), "2");
}

// In REPEATABLE READ the gap in front of a row that is in the way would be locked, too.
TEST_F(MysqlTransaction, ARepeatInACallersTransactionIsInNobodysWay) {
    ASSERT_TRUE(transact([] { return std::string{"7"}; }, payment("m")).executed());
    run("BEGIN");
    ASSERT_TRUE(join([] { return std::string{"8"}; }, payment("m")).replayed());
    database_client client;
    database_transaction impatient{client.native(),
                                   {.table_prefix = prefix(), .lock_wait = brief_wait}};

    for (const char* key : {"l", "lz", "m", "n"}) {
        const auto out =
            engine_.transact<std::string>(impatient, payment(key), [] { return std::string{"9"}; });
        EXPECT_EQ(out.replayed(), std::string_view{key} == "m") << key;
        EXPECT_EQ(out.executed(), std::string_view{key} != "m") << key;
    }
    run("ROLLBACK");
}

// Each has a key that the other one wants. The server ends one of the transactions.
TEST_F(MysqlTransaction, KeysThatAreTakenInTheOtherOrderEndInTime) {
    database_client client;
    auto port = port_on(client);
    std::latch both{2};
    const auto pay_two = [&](database_transaction& on, database_client& with, const char* first,
                             const char* second) {
        with.sql("BEGIN");
        const auto one =
            engine_.execute_in<std::string>(on, payment(first), [] { return std::string{"1"}; });
        both.arrive_and_wait();
        const auto two =
            engine_.execute_in<std::string>(on, payment(second), [] { return std::string{"2"}; });
        with.sql(two.executed() ? "COMMIT" : "ROLLBACK");
        EXPECT_TRUE(one.executed());
        EXPECT_TRUE(two.executed() || why(two) == errc::conflict) << describe(*two.why());
        return two.executed();
    };

    bool other = false;
    std::jthread beside{[&] { other = pay_two(port, client, "b", "a"); }};
    const bool mine = pay_two(here_, mine_, "a", "b");
    beside.join();

    EXPECT_NE(mine, other);
    EXPECT_EQ(recorded(), "2");
}

TEST_F(MysqlTransaction, DuplicatesThatWaitForATransactionThatRollsBackAreExecutedOnce) {
    constexpr int many = 8;
    std::atomic<int> executed = 0;
    std::atomic<int> replayed = 0;
    std::vector<std::jthread> repeats;
    const auto first = [&]() -> std::string {
        for (int i = 0; i < many; ++i) {
            repeats.emplace_back([&] {
                database_client client;
                auto port = port_on(client);
                const auto out = engine_.transact<std::string>(port, payment(), [&] {
                    client.sql("INSERT INTO " + payment_table() + " VALUES (5)");
                    return std::string{"second"};
                });
                EXPECT_EQ(out.value(), "second");
                ++(out.executed() ? executed : replayed);
            });
        }
        while (!waits_for_lock(record_table())) {
        }
        throw std::runtime_error{"no"};
    };
    EXPECT_THROW((void)transact(first).value(), std::runtime_error);
    repeats.clear();

    EXPECT_EQ(executed, 1);
    EXPECT_EQ(replayed, many - 1);
    EXPECT_EQ(payments(), "1");
}

TEST_F(MysqlTransaction, AnExceptionInACallersTransactionLeavesNoRecordThere) {
    run("BEGIN");
    EXPECT_THROW((void)join([]() -> std::string { throw std::runtime_error{"no"}; }).value(),
                 std::runtime_error);
    ASSERT_TRUE(join([&] { return pay("8"); }, payment("p2")).executed());
    run("COMMIT");

    EXPECT_EQ(recorded(), "1");
    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
}

// The row of a key that has no record yet must mean nothing to those who find it committed.
TEST_F(MysqlTransaction, WhatWorkThatCrashesHasCommittedIsNoRecord) {
    {
        database_client client;
        auto port = port_on(client);
        (void)engine_.transact<std::string>(port, payment(), [&] {
            client.sql("COMMIT");
            sql("KILL " + std::to_string(mysql_thread_id(client.native())));
            std::this_thread::sleep_for(std::chrono::milliseconds{50});
            return std::string{"6"};
        });
    }
    ASSERT_EQ(recorded(), "1");
    const record_id id{.tenant = "acme", .operation = "PAY", .key = "p1"};
    EXPECT_FALSE(said<answers::found>(engine_.records().call(id, commands::lookup{})).current);

    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
    EXPECT_EQ(engine_.execute<std::string>(payment(), [] { return std::string{"8"}; }).value(),
              "7");
}

TEST_F(MysqlTransaction, ARecordThatALeaseHoldsIsNotOverwritten) {
    (void)said<answers::started>(engine_.records().call(
        {.tenant = "acme", .operation = "PAY", .key = "p1"}, begin_by(anna)));
    run("BEGIN");
    const auto joined = join([&] { return pay("7"); });
    run("COMMIT");

    EXPECT_TRUE(joined.in_progress());
    EXPECT_TRUE(transact([&] { return pay("8"); }).in_progress());
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(sql("SELECT state FROM " + record_table()), "0");
}

// An instance of an earlier version takes a named lock, looks, and inserts the record at the end.
TEST_F(MysqlTransaction, AnInstanceThatInsertsAtTheEndWaitsAndIsRefused) {
    const record_id id{.tenant = "acme", .operation = "TEMPLATE", .key = "t"};
    const auto by = said<answers::started>(engine_.records().call(id, begin_by(anna))).by;
    (void)said<answers::stored>(engine_.records().call(id, complete_with(by, "earlier")));
    const std::string columns = columns_but_key();
    std::string without = columns;
    without.erase(without.find("`operation`,"), std::strlen("`operation`,"));
    const std::string insert = "INSERT INTO " + record_table() + " (operation," + key_column + "," +
                               without + ") SELECT 'PAY','p1'," + without + " FROM " +
                               record_table() + " WHERE operation = 'TEMPLATE'";
    std::jthread earlier;
    const auto out = transact([&] {
        earlier = std::jthread{[&] {
            database_client client;
            client.sql("BEGIN");
            client.sql("INSERT INTO " + payment_table() + " VALUES (6)");
            EXPECT_THROW(client.sql(insert), std::runtime_error);
            EXPECT_EQ(client.error(), 1062U);
            client.sql("ROLLBACK");
        }};
        while (!waits_for_lock("TEMPLATE")) {
        }
        return pay("7");
    });
    earlier.join();

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(MysqlTransaction, ARecordThatAnEarlierVersionWritesMeanwhileIsReplayed) {
    std::jthread late;
    database_client earlier;
    const record_id id{.tenant = "acme", .operation = "TEMPLATE", .key = "p1"};
    const auto by = said<answers::started>(engine_.records().call(id, begin_by(anna))).by;
    (void)said<answers::stored>(engine_.records().call(id, complete_with(by, "earlier")));
    earlier.sql("BEGIN");
    earlier.sql("UPDATE " + record_table() + " SET operation = 'PAY'");
    late = std::jthread{[&] {
        while (!waits_for_lock(record_table())) {
        }
        earlier.sql("COMMIT");
    }};

    const auto out = transact([&] { return pay("7"); });

    EXPECT_TRUE(out.replayed());
    EXPECT_EQ(out.value(), "earlier");
    EXPECT_EQ(payments(), "0");
}

TEST_F(MysqlTransaction, RollingBackPastTheExecutionIsNoticed) {
    run("BEGIN; SAVEPOINT mine");

    const auto out = join([&] {
        run("ROLLBACK TO SAVEPOINT mine");
        return pay("7");
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    run("ROLLBACK");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(MysqlTransaction, WithoutAutocommitThereIsAlwaysATransactionToJoin) {
    run("SET autocommit = 0");
    const auto out = join([&] { return pay("7"); });
    EXPECT_TRUE(out.executed());
    EXPECT_EQ(recorded(), "0");
    run("COMMIT");
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(payments(), "1");

    const auto broken = join(
        [&] {
            run("COMMIT");
            return pay("7");
        },
        payment("p2"));
    EXPECT_EQ(why(broken), errc::transaction_broken);
    run("ROLLBACK; SET autocommit = 1");
    // What the work has committed of its key is no record.
    EXPECT_EQ(sql("SELECT `key` FROM " + record_table() + " WHERE expires_at > 1"), "p1");
    EXPECT_TRUE(transact([&] { return pay("8"); }, payment("p2")).executed());
}

// 1205 has undone one statement; the whole goes back.
TEST_F(MysqlTransaction, ALockThatIsNotGivenUpEndsInTimeAndLeavesNothing) {
    here_ = database_transaction{mine_.native(),
                                 {.table_prefix = prefix(), .lock_wait = std::chrono::seconds{1}}};
    database_client stranger;
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    sql("UPDATE " + record_table() + " SET state = 2, retry_after = 0");
    stranger.sql("BEGIN");
    stranger.sql("SELECT 1 FROM " + record_table() + " FOR UPDATE");

    const auto out = transact([&] { return pay("8"); });
    stranger.sql("ROLLBACK");

    EXPECT_EQ(why(out), errc::timed_out) << describe(*out.why());
    EXPECT_EQ(payments(), "1");
    EXPECT_FALSE(in_transaction());
}

TEST_F(MysqlTransaction, TransactOutsideAndExecuteInInsideOfATransaction) {
    EXPECT_EQ(why(join([] { return std::string{"7"}; })), errc::invalid_argument);
    run("BEGIN");
    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::invalid_argument);
    EXPECT_TRUE(in_transaction());
}

TEST_F(MysqlTransaction, AResultOfTheCallersIsLeftAlone) {
    ASSERT_EQ(mysql_query(mine_.native(), "SELECT 1"), 0);
    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::invalid_argument);
    mysql_free_result(mysql_store_result(mine_.native()));
    EXPECT_TRUE(transact([&] { return pay("7"); }).executed());
}

} // namespace
} // namespace semel
