// Work, its rows and its record in one SQLite transaction.
#include "semel/databases/sqlite/transaction.hpp"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <filesystem>
#include <functional>

#include "semel/engine.hpp"
#include "sqlite_fixture.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

struct refused_payment : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class SqliteTransaction : public sqlite_test {
protected:
    SqliteTransaction() { run("CREATE TABLE payment (id INTEGER PRIMARY KEY, amount INTEGER)"); }

    int run(const char* text) { return sqlite3_exec(db_, text, nullptr, nullptr, nullptr); }
    std::string pay(std::string answer = {}) {
        EXPECT_EQ(run("INSERT INTO payment (amount) VALUES (5)"), SQLITE_OK);
        return answer;
    }
    [[nodiscard]] std::string payments() { return sql("SELECT count(*) FROM payment"); }
    [[nodiscard]] std::string recorded() { return sql("SELECT count(*) FROM semel_record"); }
    [[nodiscard]] bool in_transaction() { return sqlite3_get_autocommit(db_) == 0; }

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

    static sqlite3* connect(const std::string& file) {
        sqlite3* made = nullptr;
        EXPECT_EQ(sqlite3_open(file.c_str(), &made), SQLITE_OK);
        return made;
    }
    struct closer {
        void operator()(sqlite3* it) const { EXPECT_EQ(sqlite3_close(it), SQLITE_OK); }
    };

    const std::unique_ptr<sqlite3, closer> handle_{connect(path())};
    sqlite3* const db_ = handle_.get();
    engine engine_{
        open(), {.failures = {when<refused_payment>(exception_class::final)}}, {.sweep = {}}};
    sqlite_transaction here_{db_};
};

// ---- transact -----------------------------------------------------------------------------------

TEST_F(SqliteTransaction, RowAndRecordAreCommittedTogetherAndRepeatsAreReplayed) {
    const auto work = [&] {
        pay();
        return std::string{"7"};
    };

    const auto first = transact(work);
    const auto second = transact(work);

    EXPECT_EQ(first.kind(), outcome_kind::executed);
    EXPECT_EQ(second.kind(), outcome_kind::replayed);
    EXPECT_EQ(second.value(), "7");
    EXPECT_EQ(payments(), "1");
    EXPECT_FALSE(in_transaction());
}

TEST_F(SqliteTransaction, ARepeatOutsideOfATransactionIsReplayedToo) {
    const auto first = transact([&] { return pay("7"); });
    ASSERT_TRUE(first.executed());

    const auto second = engine_.execute<std::string>(payment(), [] { return std::string{"8"}; });

    EXPECT_EQ(second.value(), "7");
}

TEST_F(SqliteTransaction, AnExceptionLeavesNeitherRowNorRecord) {
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

TEST_F(SqliteTransaction, AFinalFailureIsKeptWithoutItsRows) {
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

TEST_F(SqliteTransaction, WorkThatRollsBackIsRefused) {
    const auto out = transact([&] {
        pay();
        run("ROLLBACK");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqliteTransaction, WorkThatCommitsIsRefusedAndLeavesNoRecord) {
    const auto out = transact([&] {
        run("COMMIT");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqliteTransaction, WorkThatEndsTheTransactionAndBeginsAnotherIsNoticed) {
    for (const char* trick : {"ROLLBACK; BEGIN IMMEDIATE", "COMMIT; BEGIN IMMEDIATE",
                              "ROLLBACK; BEGIN; SAVEPOINT semel_1; SAVEPOINT semel_2"}) {
        const auto out = transact([&] {
            run(trick);
            return std::string{"7"};
        });

        EXPECT_EQ(why(out), errc::transaction_broken) << trick;
        EXPECT_EQ(recorded(), "0") << trick;
        EXPECT_FALSE(in_transaction()) << trick;
    }
}

TEST_F(SqliteTransaction, SavepointsInsideTheWorkAreFine) {
    const auto out = transact([&] {
        run("SAVEPOINT mine");
        pay();
        run("ROLLBACK TO mine");
        pay();
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqliteTransaction, NestingTheSameKeyIsRefusedAndAnotherKeyIsNot) {
    errc inner_same{};
    bool inner_other = false;

    const auto out = transact([&] {
        inner_same = why(join([] { return std::string{"1"}; }));
        inner_other = join([&] { return pay("1"); }, payment("child")).executed();
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(inner_same, errc::transaction_broken);
    EXPECT_TRUE(inner_other);
    EXPECT_EQ(recorded(), "2");
}

TEST_F(SqliteTransaction, AnyNumberOfRepeatsInsideTheWorkLeaveItsOwnKeyAlone) {
    ASSERT_TRUE(transact([&] { return pay("1"); }, payment("child")).executed());
    int replayed = 0;
    const auto out = transact([&] {
        for (int i = 0; i < 1'000; ++i) {
            replayed += join([&] { return pay("2"); }, payment("child")).replayed() ? 1 : 0;
        }
        return pay("3");
    });

    EXPECT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(replayed, 1'000);
    EXPECT_EQ(payments(), "2");
}

// SQLite cannot go on behind it.
TEST_F(SqliteTransaction, AStatementThatTheWorkHasNotFinishedIsNamedAndUndone) {
    sqlite3_stmt* unfinished = nullptr;
    run("BEGIN");
    const auto out = join([&] {
        sqlite3_prepare_v2(db_, "INSERT INTO payment (amount) VALUES (5), (6) RETURNING id", -1,
                           &unfinished, nullptr);
        EXPECT_EQ(sqlite3_step(unfinished), SQLITE_ROW);
        return std::string{"7"};
    });
    sqlite3_finalize(unfinished);
    run("COMMIT");

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_THAT(out.why()->detail, HasSubstr("not finished"));
    EXPECT_EQ(payments(), recorded()) << "no effect without its record";
}

TEST_F(SqliteTransaction, ARecordThatCannotBeWrittenTakesTheWorkWithIt) {
    run("BEGIN");
    const auto out = join([&] {
        pay();
        sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, 1'000);
        return std::string(2'000, 'x');
    });
    sqlite3_limit(db_, SQLITE_LIMIT_LENGTH, 1'000'000'000);
    run("COMMIT");

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqliteTransaction, WorkThatChangesItsOwnRecordIsRefused) {
    const auto out = transact([&] {
        run("INSERT INTO semel_record SELECT NULL, CAST('acme' AS BLOB), CAST('PAY' AS BLOB), "
            "CAST('p1' AS BLOB), 1, 5, zeroblob(16), 1, 0, 0, 0, 1, 0, 0, 0, 100, 0, 0, NULL, 0, 0,"
            " 0, x'', x'', x'', x'', x''");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(recorded(), "0");
}

TEST_F(SqliteTransaction, AnotherWriterMakesTheAnswerInProgress) {
    sqlite3* const other = connect(path());
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    here_ = sqlite_transaction{db_, {.lock_answer = duration{1}}};
    sqlite3_busy_timeout(db_, 60'000);
    auto what = payment();
    what.with.wait = wait_mode::answer;

    const auto out = transact([] { return std::string{"7"}; }, what);
    sqlite3_close(other);

    EXPECT_TRUE(out.in_progress());
    // The application's own time-out is in force again.
    sqlite3_stmt* ask = nullptr;
    ASSERT_EQ(sqlite3_prepare_v2(db_, "PRAGMA busy_timeout", -1, &ask, nullptr), SQLITE_OK);
    EXPECT_EQ(sqlite3_step(ask), SQLITE_ROW);
    EXPECT_EQ(sqlite3_column_int(ask, 0), 60'000);
    sqlite3_finalize(ask);
}

TEST_F(SqliteTransaction, AnotherWriterWhoStaysIsATimeOutForWhoeverWaits) {
    sqlite3* const other = connect(path());
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    here_ = sqlite_transaction{db_, {.lock_wait = duration{1}}};

    const auto out = transact([] { return std::string{"7"}; });
    sqlite3_close(other);

    EXPECT_EQ(out.kind(), outcome_kind::unavailable);
    EXPECT_EQ(why(out), errc::timed_out);
    EXPECT_EQ(out.why()->possible, effect::none);
}

// ---- execute_in ---------------------------------------------------------------------------------

TEST_F(SqliteTransaction, AJoinedExecutionIsTheCallersToCommit) {
    run("BEGIN IMMEDIATE");
    const auto out = join([&] { return pay("7"); });

    EXPECT_TRUE(out.executed());
    EXPECT_TRUE(in_transaction());
    EXPECT_EQ(recorded(), "0");
    run("COMMIT");
    EXPECT_EQ(recorded(), "1");
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqliteTransaction, ARolledBackJoinedExecutionNeverWas) {
    run("BEGIN IMMEDIATE");
    ASSERT_TRUE(join([&] { return pay("7"); }).executed());
    run("ROLLBACK");

    run("BEGIN IMMEDIATE");
    const auto again = join([&] { return pay("8"); });
    run("COMMIT");

    EXPECT_TRUE(again.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqliteTransaction, ManyJoinedExecutionsOnOneObjectEachSeeTheirOwnTransaction) {
    for (int i = 0; i < 200; ++i) {
        run("BEGIN IMMEDIATE");
        const auto out = join([&] { return pay("7"); });
        EXPECT_EQ(out.kind(), i == 0 ? outcome_kind::executed : outcome_kind::replayed);
        run("COMMIT");
    }

    EXPECT_EQ(payments(), "1");
}

TEST_F(SqliteTransaction, JoiningADeferredTransactionMakesItAWriter) {
    run("BEGIN; SELECT count(*) FROM payment");

    const auto out = join([&] { return pay("7"); });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(run("COMMIT"), SQLITE_OK);
}

TEST_F(SqliteTransaction, ATransactionThatReadAnOlderStateMustBeRepeated) {
    run("BEGIN; SELECT count(*) FROM payment");
    sql("INSERT INTO payment (amount) VALUES (1)");

    const auto out = join([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::conflict);
    EXPECT_THAT(out.why()->detail, HasSubstr("BEGIN IMMEDIATE"));
    run("ROLLBACK");
}

TEST_F(SqliteTransaction, RollingBackPastTheExecutionIsNoticed) {
    run("BEGIN IMMEDIATE; SAVEPOINT mine");

    const auto out = join([&] {
        run("ROLLBACK TO mine");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    run("ROLLBACK");
}

// ---- connections that cannot keep the promise ---------------------------------------------------

TEST_F(SqliteTransaction, TransactOutsideAndExecuteInInsideOfATransaction) {
    EXPECT_EQ(why(join([] { return std::string{"7"}; })), errc::invalid_argument);
    run("BEGIN");
    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::invalid_argument);
    EXPECT_TRUE(in_transaction());
}

TEST_F(SqliteTransaction, AFileThatWasMovedIsRefused) {
    std::filesystem::rename(path(), path() + ".away");

    EXPECT_EQ(why(transact([] { return std::string{"7"}; })), errc::unavailable);
    run("BEGIN IMMEDIATE");
    EXPECT_EQ(why(join([] { return std::string{"7"}; })), errc::unavailable);
    run("ROLLBACK");
    std::filesystem::rename(path() + ".away", path());
    EXPECT_TRUE(transact([] { return std::string{"7"}; }).executed());
}

TEST_F(SqliteTransaction, WeakSettingsAreRefused) {
    for (const char* weak : {"PRAGMA synchronous=NORMAL", "PRAGMA synchronous=OFF"}) {
        run(weak);

        const auto out = transact([] { return std::string{"7"}; });

        EXPECT_EQ(why(out), errc::unsupported) << weak;
        EXPECT_THAT(out.why()->detail, HasSubstr("synchronous"));
    }
    run("PRAGMA synchronous=EXTRA");
    EXPECT_TRUE(transact([] { return std::string{"7"}; }).executed());
}

TEST_F(SqliteTransaction, AnAttachedFileIsRefused) {
    run(("ATTACH '" + folder() + "/other.db' AS other").c_str());

    const auto out = transact([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::unsupported);
    EXPECT_THAT(out.why()->detail, HasSubstr("'other' is attached"));
}

TEST_F(SqliteTransaction, AFileWithoutTheTablesIsRefused) {
    sqlite3* const empty = connect(folder() + "/empty.db");
    here_ = sqlite_transaction{empty};

    const auto out = transact([] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::schema_missing);
    here_ = sqlite_transaction{db_};
    sqlite3_close(empty);
}

} // namespace
} // namespace semel
