// Others who write the same rows while a transaction is open: not on SQLite, which locks its file.
#include <utility>

#include "stores/sql/deadlocks.hpp"

namespace semel {
namespace {

// It comes before the record of the transaction, or it waits for the row and ends in time.
TEST_F(SqlTransaction, AClaimWithoutATransactionIsNotOverwritten) {
    int runs = 0;
    const auto out = transact([&] {
        if (++runs > 1) return pay("7");
        const auto claimed = engine_.records().call(
            {.tenant = "acme", .operation = "PAY", .key = "p1"}, begin_by(anna));
        EXPECT_EQ(claimed.has_value(), !transaction_locks_row);
        EXPECT_TRUE(claimed || claimed.error().possible == effect::none);
        return pay("7");
    });

    EXPECT_EQ(out.executed(), transaction_locks_row);
    EXPECT_EQ(out.in_progress(), !transaction_locks_row);
    EXPECT_EQ(payments(), transaction_locks_row ? "1" : "0");
    EXPECT_EQ(sql("SELECT state FROM " + record_table()), transaction_locks_row ? "1" : "0");
}

// A lease that has lapsed is still its owner's, until another caller has taken it over.
class SqlLateOwner : public SqlTransaction {
protected:
    SqlLateOwner() : late_(said<answers::started>(records().call(id_, begin_by(anna))).by) {
        sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");
    }

    // The first time the work runs, its owner comes back in the midst of it; where the transaction
    // has locked the row, behind it.
    template <class Answer> outcome<std::string> transact_beside(const command& late) {
        auto out = transact([&, first = true]() mutable {
            if (!std::exchange(first, false)) return pay("B");
            const auto came = records().call(id_, late);
            EXPECT_EQ(came.has_value(), !transaction_locks_row);
            if (came) (void)said<Answer>(came);
            return pay("B");
        });
        if (!transaction_locks_row) return out;
        EXPECT_TRUE(out.executed());
        (void)said<answers::fenced_off>(records().call(id_, late));
        return transact([&] { return pay("C"); });
    }
    store& records() { return engine_.records(); }

    const record_id id_{.tenant = "acme", .operation = "PAY", .key = "p1"};
    const claim late_;
};

TEST_F(SqlLateOwner, WhatItCompletesIsNotOverwritten) {
    const auto out = transact_beside<answers::stored>(complete_with(late_, "A"));

    EXPECT_EQ(out.kind(), outcome_kind::replayed);
    EXPECT_EQ(out.value(), transaction_locks_row ? "B" : "A");
    EXPECT_EQ(payments(), transaction_locks_row ? "1" : "0");
}

TEST_F(SqlLateOwner, WhatItRenewsIsNotTakenOver) {
    const auto out = transact_beside<answers::renewed>(
        commands::renew{.by = late_, .lease = std::chrono::minutes{1}});

    if (transaction_locks_row) {
        EXPECT_EQ(out.value(), "B");
    } else {
        EXPECT_TRUE(out.in_progress()) << describe(*out.why());
    }
    EXPECT_EQ(payments(), transaction_locks_row ? "1" : "0");
}

TEST_F(SqlDeadlock, TheWorkOfItsVictimRunsAgain) {
    int runs = 0;
    auto survivor = start_survivor();

    const auto out = transact([&] {
        if (++runs == 1) run_into_deadlock();
        run(add_to(1));
        return pay("7");
    });
    survivor.join(); // which the second run may have overtaken

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(money(), "3");
}

TEST_F(SqlDeadlock, TheWorkMayHideIt) {
    int runs = 0;
    const auto survivor = start_survivor();

    const auto out = transact([&] {
        if (++runs > 1) return pay("7");
        EXPECT_THROW(run_into_deadlock(), std::runtime_error);
        return std::string{"6"};
    });

    EXPECT_EQ(out.value(), "7");
    EXPECT_EQ(payments(), "1");
}

TEST_F(SqlDeadlock, AJoinedTransactionIsTheCallersToRepeat) {
    int runs = 0;
    const auto survivor = start_survivor();
    run("BEGIN");

    const auto work = [&] {
        ++runs;
        run_into_deadlock();
        return pay("7");
    };
    EXPECT_THROW(static_cast<void>(join(work).value()), std::runtime_error);
    run("ROLLBACK");

    EXPECT_EQ(runs, 1);
    EXPECT_EQ(recorded(), "0");
}

} // namespace
} // namespace semel
