// A connection that has made several transactions keeps their statements prepared, where the server
// is MariaDB. What is promised stays the same.
#include "stores/sql/doubt.hpp"

namespace semel {
namespace {

class MysqlKept : public SqlTransaction {
protected:
    // From here on statements are kept.
    MysqlKept() {
        for (const char* key : {"warm1", "warm2", "warm3"}) {
            EXPECT_TRUE(transact([] { return std::string{"7"}; }, payment(key)).executed());
        }
        sql("DELETE FROM " + record_table());
    }
};

// The row is complete, whichever way it was written.
TEST_F(MysqlKept, RecordsAreAsWithoutThem) {
    auto what = payment("kept");
    what.content = fingerprint::raw("content");
    auto plain = what;
    plain.key = "plain";
    database_client client;
    auto port = port_on(client);

    ASSERT_TRUE(transact([] { return std::string{"7"}; }, what).executed());
    ASSERT_TRUE(
        engine_.transact<std::string>(port, plain, [] { return std::string{"7"}; }).executed());

    const std::string same =
        "state, attempts, retry_after, expires_at - due_at, expires_at - updated_at, lease_until - "
        "begun_at, created_at - begun_at, updated_at - begun_at, fence >= begun_at, "
        "on_lease_expiry, attempts_max, grace, processing_max, HEX(fingerprint), checkpoints, "
        "result_kind, result_checksum, result_type, result_ref, COALESCE(error, ''), "
        "COALESCE(attributes, ''), result";
    EXPECT_EQ(sql("SELECT COUNT(DISTINCT " + same + ") FROM " + record_table()), "1");
    EXPECT_EQ(sql("SELECT COUNT(DISTINCT owner) FROM " + record_table()), "2");
    EXPECT_EQ(sql("SELECT expires_at - due_at FROM " + record_table() + " LIMIT 1"), "0");
}

// The row was inserted with what the last record had.
TEST_F(MysqlKept, ARecordMayBeUnlikeTheLastOne) {
    auto what = payment("other");
    what.with.retention = std::chrono::hours{1};
    what.with.attributes = R"({"shop": 1})";
    const auto first = engine_.transact<std::string>(here_, what, [&](execution& run) {
        run.set_result_ref("pay_1");
        return reject(pay("no"));
    });

    EXPECT_TRUE(first.rejected());
    EXPECT_EQ(sql("SELECT (expires_at - updated_at) DIV 1000000 FROM " + record_table()), "3600");
    EXPECT_EQ(sql("SELECT due_at - expires_at FROM " + record_table()), "0");
    EXPECT_EQ(sql("SELECT result_ref FROM " + record_table()), "pay_1");
    EXPECT_EQ(sql("SELECT attributes FROM " + record_table()), R"({"shop": 1})");
    EXPECT_TRUE(transact([&] { return pay("7"); }, what).rejected());
}

TEST_F(MysqlKept, RepeatsAndExceptionsLeaveNothing) {
    ASSERT_TRUE(transact([&] { return pay("7"); }).executed());
    EXPECT_EQ(transact([&] { return pay("8"); }).value(), "7");
    for (int i = 0; i < 3; ++i) {
        EXPECT_THROW((void)transact(
                         [&]() -> std::string {
                             pay();
                             throw std::runtime_error{"no"};
                         },
                         payment("p2"))
                         .value(),
                     std::runtime_error);
    }

    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(payments(), "1");
    EXPECT_FALSE(in_transaction());
    EXPECT_EQ(mine_.sql("SELECT @@autocommit"), "1");
}

TEST_F(MysqlKept, WorkThatEndsItsTransactionIsRefusedAndLeavesNoRecord) {
    for (const char* trick : {"ROLLBACK", "COMMIT", "ROLLBACK; BEGIN", "COMMIT; BEGIN"}) {
        const auto out = transact([&] {
            run(trick);
            return std::string{"7"};
        });

        EXPECT_EQ(why(out), errc::transaction_broken) << trick;
        EXPECT_EQ(recorded(), "0") << trick;
        EXPECT_FALSE(in_transaction()) << trick;
    }
}

TEST_F(MysqlKept, ASessionThatHasForgottenThemGoesOn) {
    ASSERT_EQ(mysql_reset_connection(mine_.native()), 0);
    EXPECT_TRUE(transact([&] { return pay("7"); }, payment("p1")).executed());
    ASSERT_EQ(mysql_change_user(mine_.native(), "semel", "semel", "semel"), 0);
    EXPECT_TRUE(transact([&] { return pay("7"); }, payment("p2")).executed());
    run("SET autocommit = 0");
    EXPECT_TRUE(transact([&] { return pay("7"); }, payment("p3")).executed());
    EXPECT_EQ(mine_.sql("SELECT @@autocommit"), "0");
    run("SET autocommit = 1");
    EXPECT_TRUE(transact([&] { return pay("7"); }, payment("p4")).executed());

    EXPECT_EQ(recorded(), "4");
    EXPECT_EQ(payments(), "4");
}

TEST_F(MysqlKept, WaitsAndAnswersAreTheSame) {
    database_client other;
    auto port = port_on(other);
    auto what = payment();
    what.with.wait = wait_mode::answer;
    std::jthread waits;

    const auto first = engine_.transact<std::string>(port, payment(), [&] {
        EXPECT_TRUE(transact([&] { return pay("2"); }, what).in_progress());
        waits = std::jthread{[&] {
            const auto out = transact([&] { return pay("2"); });
            EXPECT_EQ(out.value(), "1");
        }};
        while (!waits_for_lock(record_table())) {
        }
        return std::string{"1"};
    });
    waits.join();

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(payments(), "0");
}

// They mean the tables of the database in which they were prepared.
TEST_F(MysqlKept, AnotherDefaultDatabaseIsNoticed) {
    const std::string name = prefix() + "other";
    sql("CREATE DATABASE " + name);
    auto there = options();
    there.database = name;
    migrate_mysql(there, migrate_mode::run).value();
    const auto recorded_there = [&] {
        return sql("SELECT COUNT(*) FROM " + name + "." + record_table());
    };

    const auto moved = transact([&] {
        run("USE " + name);
        return std::string{"7"};
    });
    EXPECT_EQ(why(moved), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(mine_.sql("SELECT DATABASE()"), "semel");

    run("USE " + name);
    EXPECT_TRUE(transact([] { return std::string{"8"}; }).executed());
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(recorded_there(), "1");
    run("USE semel");
    EXPECT_TRUE(transact([] { return std::string{"9"}; }).executed());
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(recorded_there(), "1");
    sql("DROP DATABASE " + name);
}

class MysqlKeptDoubt : public SqlDoubt {};

TEST_F(MysqlKeptDoubt, IsResolvedByWhatIsThere) {
    database_transaction port{
        client_.native(), {.table_prefix = prefix(), .doubt_wait = std::chrono::milliseconds{500}}};
    const auto pay_as = [&](const char* key, const std::string& answer,
                            const std::function<void()>& last) {
        return engine_.transact<std::string>(port, payment(key), [&] {
            client_.sql("INSERT INTO " + payment_table() + " VALUES (5)");
            last();
            return answer;
        });
    };
    for (const char* key : {"a", "b", "c"}) ASSERT_TRUE(pay_as(key, "7", [] {}).executed());

    // The text of the answer is in what commits it, by whichever statement.
    const std::string answer = "committed_with_this";
    const auto cut = [&] {
        proxy_.cut_answer_to(testing_support::tested_mysql == testing_support::mysql_kind::mariadb
                                 ? answer
                                 : "COMMIT");
    };
    const auto out = pay_as("d", answer, cut);

    EXPECT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(payments(), "4");
    EXPECT_EQ(recorded(), "4");
    EXPECT_TRUE(pay_as("e", "8", [] {}).executed());
}

} // namespace
} // namespace semel
