// What is special about a transaction on SQLite.
#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <string>

#include "stores/sql/payments.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class SqliteOnlyTransaction : public SqlTransaction {
protected:
    [[nodiscard]] sqlite3* native() const { return mine_.native(); }
};

// SQLite cannot go on behind it.
TEST_F(SqliteOnlyTransaction, AStatementThatTheWorkHasNotFinishedIsNamedAndUndone) {
    sqlite3_stmt* unfinished = nullptr;
    run("BEGIN");
    const auto out = join([&] {
        const std::string insert =
            "INSERT INTO " + payment_table() + " VALUES (5), (6) RETURNING amount";
        sqlite3_prepare_v2(native(), insert.c_str(), -1, &unfinished, nullptr);
        EXPECT_EQ(sqlite3_step(unfinished), SQLITE_ROW);
        return std::string{"7"};
    });
    sqlite3_finalize(unfinished);
    run("COMMIT");

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_THAT(out.why()->detail, HasSubstr("not finished"));
    EXPECT_EQ(payments(), recorded()) << "no effect without its record";
}

TEST_F(SqliteOnlyTransaction, ARecordThatCannotBeWrittenTakesTheWorkWithIt) {
    run("BEGIN");
    const auto out = join([&] {
        pay();
        sqlite3_limit(native(), SQLITE_LIMIT_LENGTH, 1'000);
        return std::string(2'000, 'x');
    });
    sqlite3_limit(native(), SQLITE_LIMIT_LENGTH, 1'000'000'000);
    run("COMMIT");

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqliteOnlyTransaction, WorkThatChangesItsOwnRecordIsRefused) {
    const auto out = transact([&] {
        run("INSERT INTO " + record_table() +
            " SELECT NULL, CAST('acme' AS BLOB), CAST('PAY' AS BLOB), "
            "CAST('p1' AS BLOB), 1, 5, zeroblob(16), 1, 0, 0, 0, 1, 0, 0, 0, 100, 0, 0, NULL, 0, 0,"
            " 0, x'', x'', x'', x'', x''");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqliteOnlyTransaction, AnotherWriterMakesTheAnswerInProgress) {
    database_client other;
    other.sql("BEGIN IMMEDIATE");
    here_ = sqlite_transaction{native(), {.table_prefix = prefix(), .lock_answer = duration{1}}};
    sqlite3_busy_timeout(native(), 60'000);
    auto what = payment();
    what.with.wait = wait_mode::answer;

    const auto out = transact([] { return std::string{"7"}; }, what);

    EXPECT_TRUE(out.in_progress());
    // The application's own time-out is in force again.
    EXPECT_EQ(mine_.sql("PRAGMA busy_timeout"), "60000");
}

TEST_F(SqliteOnlyTransaction, AnotherWriterWhoStaysIsATimeOutForWhoeverWaits) {
    database_client other;
    other.sql("BEGIN IMMEDIATE");
    here_ = sqlite_transaction{native(), {.table_prefix = prefix(), .lock_wait = duration{1}}};

    const auto out = transact([] { return std::string{"7"}; });

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(why(out), errc::timed_out);
    EXPECT_EQ(out.why()->possible, effect::none);
}

TEST_F(SqliteOnlyTransaction, JoiningADeferredTransactionMakesItAWriter) {
    run("BEGIN; SELECT count(*) FROM " + payment_table());

    const auto out = join([&] { return pay("7"); });

    EXPECT_TRUE(out.executed());
    EXPECT_NO_THROW(run("COMMIT"));
}

TEST_F(SqliteOnlyTransaction, ATransactionThatReadAnOlderStateMustBeRepeated) {
    run("BEGIN; SELECT count(*) FROM " + payment_table());
    sql("INSERT INTO " + payment_table() + " VALUES (1)");

    const auto out = join([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::conflict);
    EXPECT_THAT(out.why()->detail, HasSubstr("BEGIN IMMEDIATE"));
    run("ROLLBACK");
}

TEST_F(SqliteOnlyTransaction, AFileThatWasMovedIsRefused) {
    std::filesystem::rename(database_file(), database_file() + ".away");

    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::unavailable);
    run("BEGIN IMMEDIATE");
    EXPECT_EQ(why(join([] { return std::string{"7"}; })), errc::unavailable);
    run("ROLLBACK");
    std::filesystem::rename(database_file() + ".away", database_file());
    EXPECT_TRUE(transact([] { return std::string{"7"}; }).executed());
}

TEST_F(SqliteOnlyTransaction, WeakSettingsAreRefused) {
    for (const char* weak : {"PRAGMA synchronous=NORMAL", "PRAGMA synchronous=OFF"}) {
        run(weak);

        const auto out = transact([] { return std::string{"7"}; });

        EXPECT_EQ(why(out), errc::unsupported) << weak;
        EXPECT_THAT(out.why()->detail, HasSubstr("synchronous"));
    }
    run("PRAGMA synchronous=EXTRA");
    EXPECT_TRUE(transact([] { return std::string{"7"}; }).executed());
}

TEST_F(SqliteOnlyTransaction, AnAttachedFileIsRefused) {
    run("ATTACH '" + folder() + "/other.db' AS other");

    const auto out = transact([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::unsupported);
    EXPECT_THAT(out.why()->detail, HasSubstr("'other' is attached"));
}

TEST_F(SqliteOnlyTransaction, AFileWithoutTheTablesIsRefused) {
    database_client empty{folder() + "/empty.db"};
    here_ = port_on(empty);

    const auto out = transact([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::schema_missing);
    here_ = port_on(mine_);
}

} // namespace
} // namespace semel
