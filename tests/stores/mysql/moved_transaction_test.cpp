// Work that leaves its connection in another database, where there are tables of semel as well.
#include "stores/sql/doubt.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

// A second database with tables of the same names.
class other_database {
public:
    explicit other_database(mysql_store_options options) : name_(options.table_prefix + "other") {
        client_.sql("CREATE DATABASE " + name_);
        options.database = name_;
        migrate_mysql(options, migrate_mode::run).value();
    }
    other_database(const other_database&) = delete;
    other_database& operator=(const other_database&) = delete;
    ~other_database() { client_.sql("DROP DATABASE " + name_); }

    [[nodiscard]] const std::string& name() const { return name_; }

private:
    database_client client_;
    const std::string name_;
};

class MysqlMoved : public SqlTransaction, public testing::WithParamInterface<mysql_dialect> {
protected:
    MysqlMoved() {
        here_ =
            database_transaction{mine_.native(), {.table_prefix = prefix(), .dialect = GetParam()}};
    }
    ~MysqlMoved() override { run("USE semel"); }

    void move() { run("USE " + other_.name()); }
    std::string recorded_there() {
        return sql("SELECT COUNT(*) FROM " + other_.name() + "." + record_table());
    }
    std::string database() { return mine_.sql("SELECT DATABASE()"); }
    bool lock_is_free() {
        database_client other;
        auto port = port_on(other);
        auto what = payment();
        what.with.wait = wait_mode::answer;
        return !engine_.transact<std::string>(port, what, [] { return std::string{"8"}; })
                    .in_progress();
    }

    const other_database other_{options()};
};

INSTANTIATE_TEST_SUITE_P(Dialects, MysqlMoved,
                         testing::Values(mysql_dialect::mariadb, mysql_dialect::mysql8));

TEST_P(MysqlMoved, ItIsRefusedAndLeavesNothing) {
    const auto out = transact([&] {
        pay();
        move();
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_THAT(out.why()->detail, HasSubstr("default database"));
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(recorded_there(), "0");
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(database(), "semel");
    EXPECT_TRUE(lock_is_free());
}

TEST_P(MysqlMoved, TheClientsOwnWayIsNoticedToo) {
    const auto out = transact([&] {
        pay();
        EXPECT_EQ(mysql_select_db(mine_.native(), other_.name().c_str()), 0);
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded_there(), "0");
    EXPECT_EQ(payments(), "0");
    EXPECT_TRUE(lock_is_free());
}

TEST_P(MysqlMoved, WhoComesBackIsWelcome) {
    const auto out = transact([&] {
        move();
        run("USE semel");
        return pay("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(payments(), "1");
}

TEST_P(MysqlMoved, AnExceptionLeavesNoLockBehind) {
    EXPECT_THROW((void)transact([&]() -> std::string {
                     move();
                     throw std::runtime_error{"no"};
                 }).value(),
                 std::runtime_error);

    EXPECT_TRUE(lock_is_free());
    EXPECT_EQ(database(), "semel");
}

// The transaction that keeps it must look where the first one did.
TEST_P(MysqlMoved, AFinalFailureIsKeptWhereItBelongs) {
    EXPECT_THROW((void)transact([&]() -> std::string {
                     move();
                     throw refused_payment{"card stolen"};
                 }).value(),
                 refused_payment);

    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(recorded_there(), "0");
}

TEST_P(MysqlMoved, JoinedWorkIsUndoneEvenIfTheCallerCommits) {
    run("BEGIN");
    const auto out = join([&] {
        pay();
        move();
        return std::string{"7"};
    });
    run("COMMIT");

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
    EXPECT_EQ(recorded_there(), "0");
    EXPECT_EQ(payments(), "0");
}

TEST_P(MysqlMoved, StepsOfALostClaimAreForgottenByNobodyElse) {
    const record_id id{.tenant = "acme", .operation = "PAY", .key = "p1"};
    const auto by = said<answers::started>(engine_.records().call(id, begin_by(anna))).by;
    (void)said<answers::stored>(engine_.records().call(
        id, commands::checkpoint{.by = by, .step = {.name = "step", .data = "done"}}));
    sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");
    const std::string steps = prefix() + "checkpoint";
    sql("INSERT INTO " + other_.name() + "." + steps + " SELECT * FROM " + steps);

    const auto out = transact([&] {
        move();
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(sql("SELECT COUNT(*) FROM " + steps), "1");
    EXPECT_EQ(sql("SELECT COUNT(*) FROM " + other_.name() + "." + steps), "1");
}

class MysqlMovedDoubt : public SqlDoubt {
protected:
    const other_database other_{options()};
};

// A connection that is made anew begins in the database it was first made for, unless the server
// has told the client of the other one.
TEST_F(MysqlMovedDoubt, IsLookedForInTheDatabaseOfTheCommit) {
    sql("CREATE TABLE " + other_.name() + "." + payment_table() + " (amount INT)");
    client_.sql("SET session_track_schema = OFF");
    client_.sql("USE " + other_.name());

    const auto out = pay_in_doubt();

    EXPECT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(client_.sql("SELECT DATABASE()"), other_.name());
}

} // namespace
} // namespace semel
