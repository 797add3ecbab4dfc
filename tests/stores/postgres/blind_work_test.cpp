// Work that is sent with its record before anything is known of its key.
#include "other_tables.hpp"
#include "queue.hpp"
#include "stores/sql/cuts.hpp"
#include "stores/sql/payments.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class PostgresBlindWork : public SqlTransaction {
protected:
    outcome<std::string> transact_blind(const std::function<std::string()>& work,
                                        request what = payment()) {
        return engine_.transact_blind<std::string>(here_, std::move(what), work);
    }
    std::string queue_payment(std::string answer = {}) {
        ++runs_;
        queue(mine_, "INSERT INTO " + payment_table() + " VALUES (5)");
        return answer;
    }
    outcome<std::string> pay_blind(const std::string& answer, request what = payment()) {
        return transact_blind([&] { return queue_payment(answer); }, std::move(what));
    }
    void expect_nothing_kept() {
        EXPECT_EQ(payments(), "0");
        EXPECT_EQ(recorded(), "0");
        EXPECT_FALSE(in_transaction());
        EXPECT_TRUE(pay_blind("8", payment("next")).executed());
        EXPECT_EQ(payments(), "1");
    }

    int runs_ = 0;
};

TEST_F(PostgresBlindWork, IsCommittedOnceWithItsRecord) {
    const auto first = pay_blind("7");
    const auto again = pay_blind("8");
    const auto looked = transact([&] { return pay("9"); });

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(first.value(), "7");
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.value(), "7");
    EXPECT_EQ(looked.value(), "7");
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(PQpipelineStatus(mine_.native()), PQ_PIPELINE_OFF);
}

TEST_F(PostgresBlindWork, ARepeatOfWhatCannotBeDoneTwiceIsReplayedAllTheSame) {
    sql("ALTER TABLE " + payment_table() + " ADD UNIQUE (amount)");
    ASSERT_TRUE(pay_blind("7").executed());

    const auto again = pay_blind("8");

    EXPECT_TRUE(again.replayed()) << describe(*again.why());
    EXPECT_EQ(again.value(), "7");
    EXPECT_FALSE(in_transaction());
}

TEST_F(PostgresBlindWork, LeavesTheRecordThatATransactionWithALookLeaves) {
    const auto blind = pay_blind("7", payment("blind"));
    ASSERT_TRUE(transact([&] { return pay("7"); }, payment("looked")).executed());

    // What differs by when and by whom it was made is shown by what it has in common.
    const std::string alike = sql(
        "SELECT count(DISTINCT (to_jsonb(r) - '{key,owner,fence,lease_until,begun_at,expires_at,"
        "created_at,updated_at}'::text[]) || jsonb_build_array(lease_until - created_at, "
        "expires_at "
        "- created_at, updated_at - created_at, begun_at - created_at, fence - created_at)) FROM " +
        record_table() + " r");
    EXPECT_EQ(alike, "1");
    EXPECT_EQ(recorded(), "2");
    EXPECT_EQ(sql("SELECT fence FROM " + record_table() + " WHERE key = 'blind'"),
              std::to_string(blind.fence()));
    EXPECT_EQ(sql("SELECT expires_at FROM " + record_table() + " WHERE key = 'blind'"),
              std::to_string(blind.raw().expires_at->time_since_epoch().count()));
}

TEST_F(PostgresBlindWork, IsFencedAboveEverythingThatWasRemoved) {
    sql("UPDATE " + prefix() + "meta SET value = 9000000000000000000 WHERE name = 'fence_floor'");

    EXPECT_TRUE(pay_blind("7").executed());

    EXPECT_EQ(sql("SELECT fence FROM " + record_table()), "9000000000000000001");
}

TEST_F(PostgresBlindWork, OfOtherContentIsAMismatch) {
    auto first = payment();
    first.content = fingerprint::raw("a");
    auto other = payment();
    other.content = fingerprint::raw("b");

    EXPECT_TRUE(pay_blind("7", first).executed());
    EXPECT_EQ(pay_blind("8", other).kind(), outcome_kind::mismatch);
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresBlindWork, TakesTheKeyOfARecordThatHasExpired) {
    EXPECT_TRUE(pay_blind("7").executed());
    put_in_the_past("expires_at");

    const auto again = pay_blind("8");

    EXPECT_TRUE(again.executed());
    EXPECT_EQ(again.value(), "8");
    EXPECT_EQ(payments(), "2");
}

// Without a word about pipelines: it finds the connection in one, also when it is called again.
TEST_F(PostgresBlindWork, FindsTheConnectionInAPipelineEveryTime) {
    int calls = 0;
    const std::string pays = "INSERT INTO " + payment_table() + " VALUES (5)";
    const auto sends = [&] {
        ++calls;
        EXPECT_EQ(PQpipelineStatus(mine_.native()), PQ_PIPELINE_ON);
        PQsendQueryParams(mine_.native(), pays.c_str(), 0, nullptr, nullptr, nullptr, nullptr, 0);
        return std::string{"7"};
    };
    ASSERT_TRUE(transact_blind(sends).executed());
    put_in_the_past("expires_at");

    const auto again = transact_blind(sends);

    EXPECT_TRUE(again.executed()) << describe(*again.why());
    EXPECT_EQ(calls, 3);
    EXPECT_EQ(payments(), "2");
    EXPECT_EQ(PQpipelineStatus(mine_.native()), PQ_PIPELINE_OFF);
}

TEST_F(PostgresBlindWork, ThatFailsIsNotToldToMigrate) {
    const auto out = transact_blind([&] {
        queue(mine_, "INSERT INTO nowhere VALUES (1)");
        return std::string{"7"};
    });

    EXPECT_THAT(out.why()->detail, HasSubstr("nowhere"));
    EXPECT_THAT(out.why()->detail, testing::Not(HasSubstr("semel migrate")));
}

TEST_F(PostgresBlindWork, ThatFailsLeavesNothingAndSaysWhy) {
    const auto out = transact_blind([&] {
        queue_payment();
        queue(mine_, "SELECT 1/0");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_THAT(out.why()->detail, HasSubstr("division by zero"));
    expect_nothing_kept();
}

TEST_F(PostgresBlindWork, ThatThrowsLeavesNothing) {
    EXPECT_THROW(static_cast<void>(transact_blind([&]() -> std::string {
                                       queue_payment();
                                       throw std::runtime_error{"after all, no"};
                                   }).value()),
                 std::runtime_error);

    expect_nothing_kept();
}

TEST_F(PostgresBlindWork, ThatFailsForGoodIsRemembered) {
    const auto refuse = [&]() -> std::string {
        queue_payment();
        throw refused_payment{"card stolen"};
    };
    EXPECT_THROW(static_cast<void>(transact_blind(refuse).value()), refused_payment);

    const auto again = pay_blind("8");

    EXPECT_EQ(again.kind(), outcome_kind::failed);
    EXPECT_EQ(again.error(), "card stolen");
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresBlindWork, ThatRollsBackItsOwnStatementsIsRefused) {
    const auto out = transact_blind([&] {
        queue_payment();
        queue(mine_, "ROLLBACK");
        queue(mine_, "BEGIN");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    expect_nothing_kept();
}

TEST_F(PostgresBlindWork, OfAKeyThatIsBeingExecutedWaitsAndReplays) {
    database_client other;
    auto there = port_on(other);
    std::jthread repeat;
    const auto first = engine_.transact<std::string>(there, payment(), [&] {
        other.sql("INSERT INTO " + payment_table() + " VALUES (5)");
        repeat = std::jthread{[this] { EXPECT_EQ(pay_blind("8").value(), "7"); }};
        while (!waits_for_lock("advisory")) {
            std::this_thread::sleep_for(std::chrono::milliseconds{150});
        }
        return std::string{"7"};
    });
    repeat.join();

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresBlindWork, OfAKeyThatIsBeingExecutedSaysSoToThoseWhoDoNotWait) {
    database_client other;
    auto there = port_on(other);
    auto what = payment();
    what.with.wait = wait_mode::answer;
    const auto first = engine_.transact<std::string>(there, payment(), [&] {
        EXPECT_EQ(pay_blind("8", what).kind(), outcome_kind::in_progress);
        return std::string{"7"};
    });

    EXPECT_TRUE(first.executed());
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresBlindWork, GoesOnInASessionThatForgotItsStatements) {
    EXPECT_TRUE(pay_blind("7").executed());
    run("DISCARD ALL");

    EXPECT_TRUE(pay_blind("8", payment("p2")).executed());
    EXPECT_TRUE(pay_blind("9", payment("p3")).executed());
    EXPECT_EQ(payments(), "3");
}

// What stands behind a sync of the work's own would be committed if nothing had begun before.
TEST_F(PostgresBlindWork, WithSyncsOfItsOwnIsSafeInASessionThatForgotItsStatements) {
    ASSERT_TRUE(pay_blind("7", payment("before")).executed());
    const auto work = [&] {
        queue(mine_, "SELECT 1");
        EXPECT_EQ(PQpipelineSync(mine_.native()), 1);
        queue_payment();
        EXPECT_EQ(PQpipelineSync(mine_.native()), 1);
        queue(mine_, "SELECT 2");
        return std::string{"8"};
    };
    run("DISCARD ALL");
    EXPECT_TRUE(transact_blind(work).executed());
    EXPECT_EQ(payments(), "2");

    run("DISCARD ALL");
    EXPECT_THROW(static_cast<void>(transact_blind(
                                       [&]() -> std::string {
                                           work();
                                           throw std::runtime_error{"after all, no"};
                                       },
                                       payment("thrown"))
                                       .value()),
                 std::runtime_error);
    EXPECT_EQ(payments(), "2");
    EXPECT_FALSE(in_transaction());
}

// The insert waits for whoever removes the record, and has the floor of before.
TEST_F(PostgresBlindWork, IsFencedAboveWhatIsRemovedMeanwhile) {
    ASSERT_TRUE(pay_blind("7").executed());
    database_client remover;
    remover.sql("BEGIN");
    remover.sql("UPDATE " + prefix() +
                "meta SET value = 9000000000000000000 WHERE name = 'fence_floor'");
    remover.sql("DELETE FROM " + record_table());
    const std::jthread committer{[&] {
        EXPECT_NO_THROW({
            while (!waits_for_lock(record_table())) {
                std::this_thread::sleep_for(std::chrono::milliseconds{20});
            }
            remover.sql("COMMIT");
        });
    }};

    EXPECT_TRUE(pay_blind("8").executed());

    EXPECT_EQ(sql("SELECT fence FROM " + record_table()), "9000000000000000001");
}

TEST_F(PostgresBlindWork, ThatMakesTheTransactionSeeOtherTablesIsRefused) {
    const other_tables others{prefix()};
    const auto out = transact_blind([&] {
        queue_payment();
        queue(mine_, "SET LOCAL search_path = " + others.schema + ", public");
        return std::string{"7"};
    });

    EXPECT_EQ(why(out), errc::transaction_broken);
    EXPECT_EQ(others.recorded(), "0");
    expect_nothing_kept();
}

TEST_F(PostgresBlindWork, IsSafeInSessionsOfAnyIsolation) {
    run("SET default_transaction_isolation = 'serializable'");

    EXPECT_TRUE(pay_blind("7").executed());
    EXPECT_TRUE(pay_blind("8").replayed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresBlindWork, LeavesATransactionOrPipelineOfTheCallersAlone) {
    run("BEGIN");
    pay();
    EXPECT_EQ(why(pay_blind("7")), errc::invalid_argument);
    run("COMMIT");
    EXPECT_EQ(payments(), "1");

    ASSERT_EQ(PQenterPipelineMode(mine_.native()), 1);
    EXPECT_EQ(why(pay_blind("7")), errc::invalid_argument);
    ASSERT_EQ(PQexitPipelineMode(mine_.native()), 1);
    EXPECT_EQ(runs_, 0);
}

TEST_F(PostgresBlindWork, OfManyAtOnceIsExecutedOncePerKey) {
    constexpr int threads = 8;
    constexpr int keys = 50;
    std::vector<std::jthread> all;
    std::atomic<int> executed = 0;
    for (int i = 0; i < threads; ++i) {
        all.emplace_back([&] {
            database_client client;
            auto port = port_on(client);
            for (int key = 0; key < keys; ++key) {
                const auto out = engine_.transact_blind<std::string>(
                    port, payment("many-" + std::to_string(key)), [&] {
                        queue(client, "INSERT INTO " + payment_table() + " VALUES (1)");
                        return std::to_string(key);
                    });
                ASSERT_TRUE(out.executed() || out.replayed());
                EXPECT_EQ(out.value(), std::to_string(key));
                executed += out.executed() ? 1 : 0;
            }
        });
    }
    all.clear();

    EXPECT_EQ(executed, keys);
    EXPECT_EQ(payments(), std::to_string(keys));
}

class PostgresBlindWorkCuts : public SqlTransactCuts {};

TEST_F(PostgresBlindWorkCuts, RecordAndEffectStayTogetherWhereverItBreaks) {
    cut_everywhere([&](auto& client, auto& port) {
        return engine_.transact_blind<std::string>(port, request_of("PAY"), [&] {
            queue(client, "INSERT INTO " + prefix() + "payment VALUES (1)");
            return std::string{"paid"};
        });
    });
}

} // namespace
} // namespace semel
