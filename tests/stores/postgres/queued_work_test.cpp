// Work that leaves statements in libpq's pipeline: they travel with its record and COMMIT.
#include "queue.hpp"
#include "stores/sql/cuts.hpp"
#include "stores/sql/deadlocks.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class PostgresQueuedWork : public SqlDeadlock {
protected:
    std::string queue_payment(std::string answer = {}) {
        queue(mine_, "INSERT INTO " + payment_table() + " VALUES (5)");
        return answer;
    }
    // Nothing is left of it, and the connection serves the next.
    void expect_nothing_kept() {
        EXPECT_EQ(payments(), "0");
        EXPECT_EQ(recorded(), "0");
        EXPECT_FALSE(in_transaction());
        EXPECT_TRUE(transact([&] { return queue_payment("8"); }, payment("next")).executed());
        EXPECT_EQ(payments(), "1");
    }
};

TEST_F(PostgresQueuedWork, IsCommittedWithItsRecord) {
    const auto first = transact([&] {
        queue_payment();
        return queue_payment("7");
    });
    const auto again = transact([&] { return queue_payment("8"); });

    EXPECT_TRUE(first.executed());
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.value(), "7");
    EXPECT_EQ(payments(), "2");
    EXPECT_EQ(PQpipelineStatus(mine_.native()), PQ_PIPELINE_OFF);
}

TEST_F(PostgresQueuedWork, MayHaveWaitedForOtherStatementsBefore) {
    const auto out = transact([&] {
        pay();
        return queue_payment("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "2");
}

TEST_F(PostgresQueuedWork, MayBeMoreThanABufferHolds) {
    const std::string long_text(200'000, 'x');
    const auto out = transact([&] {
        for (int i = 0; i < 20; ++i) {
            queue(mine_, "SELECT '" + long_text + "'");
            queue_payment();
        }
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "20");
}

TEST_F(PostgresQueuedWork, MayHaveSyncsOfItsOwn) {
    const auto out = transact([&] {
        queue_payment();
        EXPECT_EQ(PQpipelineSync(mine_.native()), 1);
        return queue_payment("7");
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "2");
}

TEST_F(PostgresQueuedWork, ThatFailsLeavesNothingAndSaysWhy) {
    const auto out = transact([&] {
        queue_payment();
        queue(mine_, "SELECT 1/0");
        return queue_payment("7");
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_THAT(out.why()->detail, HasSubstr("division by zero"));
    expect_nothing_kept();
}

TEST_F(PostgresQueuedWork, ThatFailsBeforeASyncOfItsOwnLeavesNothing) {
    const auto out = transact([&] {
        queue(mine_, "SELECT 1/0");
        EXPECT_EQ(PQpipelineSync(mine_.native()), 1);
        return queue_payment("7");
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_THAT(out.why()->detail, HasSubstr("division by zero"));
    expect_nothing_kept();
}

// The words of its failure are its own, also where they are those of semel's statements.
TEST_F(PostgresQueuedWork, ThatFailsWithWordsOfSemelIsNotRepeated) {
    for (const std::string words : {"semel:busy", "semel:broken", "(26000)", "(25P02)"}) {
        int runs = 0;
        const auto out = transact([&] {
            ++runs;
            queue(mine_, "DO $$ BEGIN RAISE EXCEPTION '" + words + "'; END $$");
            return queue_payment("7");
        });

        EXPECT_EQ(why(out), errc::transaction_broken) << words;
        EXPECT_THAT(out.why()->detail, HasSubstr(words));
        EXPECT_EQ(runs, 1) << words;
    }
    expect_nothing_kept();
}

TEST_F(PostgresQueuedWork, ThatHasReadItsFailureAndGoesOnLeavesNothing) {
    const auto out = transact([&] {
        queue(mine_, "SELECT 1/0");
        EXPECT_EQ(PQsendFlushRequest(mine_.native()), 1);
        EXPECT_EQ(PQflush(mine_.native()), 0);
        while (PGresult* const one = PQgetResult(mine_.native())) PQclear(one);
        return queue_payment("7");
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    expect_nothing_kept();
}

TEST_F(PostgresQueuedWork, ThatFailsAndRollsBackToASavepointOfItsOwnIsCommitted) {
    const auto out = transact([&] {
        queue_payment();
        queue(mine_, "SAVEPOINT mine");
        queue(mine_, "SELECT 1/0");
        EXPECT_EQ(PQpipelineSync(mine_.native()), 1);
        queue(mine_, "ROLLBACK TO SAVEPOINT mine");
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

TEST_F(PostgresQueuedWork, ThatLeavesUnreadWhatItHasRolledBackIsCommitted) {
    const auto out = transact([&] {
        queue_payment();
        queue(mine_, "SAVEPOINT mine");
        queue(mine_, "SELECT 1/0");
        queue(mine_, "SELECT 1");
        EXPECT_EQ(PQpipelineSync(mine_.native()), 1);
        for (auto last = PGRES_COMMAND_OK; last != PGRES_FATAL_ERROR;) {
            PGresult* const one = PQgetResult(mine_.native());
            if (one != nullptr) last = PQresultStatus(one);
            PQclear(one);
        }
        queue(mine_, "ROLLBACK TO SAVEPOINT mine");
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

// libpq cannot go on behind it.
TEST_F(PostgresQueuedWork, ThatIsACopyEndsTheConnectionAndLeavesNothing) {
    const std::string copy = "COPY " + payment_table() + " FROM STDIN";
    const auto out = transact([&] {
        queue_payment();
        queue(mine_, copy);
        return std::string{"7"};
    });
    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_THAT(out.why()->detail, HasSubstr("COPY"));
    EXPECT_EQ(why(transact([&] { return queue_payment("7"); })), errc::unavailable);

    PQreset(mine_.native());
    EXPECT_THROW(static_cast<void>(transact([&]() -> std::string {
                                       queue(mine_, copy);
                                       throw std::runtime_error{"after all, no"};
                                   }).value()),
                 std::runtime_error);
    PQreset(mine_.native());
    expect_nothing_kept();
}

// Its data come, and the server goes on to COMMIT behind them.
TEST_F(PostgresQueuedWork, ThatIsACopyToUsEndsTheConnectionAndIsLookedUp) {
    const auto out = transact([&] {
        queue_payment();
        queue(mine_, "COPY " + payment_table() + " TO STDOUT");
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

TEST_F(PostgresQueuedWork, ThatThrowsLeavesNothing) {
    EXPECT_THROW(static_cast<void>(transact([&]() -> std::string {
                                       queue_payment();
                                       throw std::runtime_error{"after all, no"};
                                   }).value()),
                 std::runtime_error);

    expect_nothing_kept();
}

TEST_F(PostgresQueuedWork, ThatEndsTheTransactionIsRefused) {
    const auto out = transact([&] {
        queue_payment();
        queue(mine_, "ROLLBACK");
        queue(mine_, "BEGIN");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    expect_nothing_kept();
}

TEST_F(PostgresQueuedWork, ThatMeetsADeadlockBeginsAgain) {
    auto survivor = start_survivor();
    int runs = 0;
    const auto out = transact([&] {
        if (++runs == 1) run_first_half();
        queue(mine_, add_to(2));
        return std::string{"7"};
    });

    EXPECT_TRUE(out.executed());
    survivor.join();
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(money(), "3") << "the survivor's two, and one of the second run";
}

// Nobody else executes the key: that is not what it was refused for.
TEST_F(PostgresQueuedWork, ThatMeetsADeadlockBeginsAgainAlsoForThoseWhoDoNotWait) {
    auto what = payment();
    what.with.wait = wait_mode::answer;
    int runs = 0;
    const auto out = transact(
        [&] {
            if (++runs == 1) {
                queue(mine_, "DO $$ BEGIN RAISE EXCEPTION 'x' USING ERRCODE = '40P01'; END $$");
            }
            return queue_payment("7");
        },
        what);

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(runs, 2);
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresQueuedWork, GoesWithTheRecordIntoATransactionOfTheCallers) {
    run("BEGIN");
    const auto out = join([&] { return queue_payment("7"); });
    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "0");
    run("COMMIT");

    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

class PostgresQueuedWorkCuts : public SqlTransactCuts {};

TEST_F(PostgresQueuedWorkCuts, RecordAndEffectStayTogetherWhereverItBreaks) {
    cut_everywhere([&](auto& client, auto& port) {
        return engine_.transact<std::string>(port, request_of("PAY"), [&] {
            queue(client, "INSERT INTO " + prefix() + "payment VALUES (1)");
            return std::string{"paid"};
        });
    });
}

} // namespace
} // namespace semel
