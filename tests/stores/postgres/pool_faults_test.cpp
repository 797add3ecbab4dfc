// Transactions that travel together, and what goes wrong with one of them.
#include <gmock/gmock.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <string>

#include "shared_desks.hpp"
#include "support/failing_allocation.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing_support::direction;

class PostgresPoolFaults : public PostgresPool {
protected:
    ~PostgresPoolFaults() override {
        sql("DROP FUNCTION IF EXISTS " + prefix() + "refuse() CASCADE");
        sql("DROP FUNCTION IF EXISTS " + prefix() + "forget() CASCADE");
    }
    // A payment that is refused when it is to be committed.
    void refuse_at_commit(const std::string& how) {
        sql("CREATE FUNCTION " + prefix() +
            "refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
            "IF NEW.amount = 13 THEN " +
            how + "; END IF; RETURN NULL; END$$");
        sql("CREATE CONSTRAINT TRIGGER refuses AFTER INSERT ON " + payment_table() +
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION " + prefix() +
            "refuse()");
    }
    std::string paying_what_is_refused() {
        return "INSERT INTO " + payment_table() + " VALUES (13)";
    }
    // The session forgets such statements when a record is committed.
    void forget_at_commit(const std::string& which) {
        sql("CREATE OR REPLACE FUNCTION " + prefix() +
            "forget() RETURNS trigger LANGUAGE plpgsql AS $$DECLARE one text; BEGIN FOR one IN "
            "SELECT name FROM pg_prepared_statements WHERE name LIKE '" +
            which +
            "' LOOP EXECUTE "
            "format('DEALLOCATE %I', one); END LOOP; RETURN NULL; END$$");
        sql("DROP TRIGGER IF EXISTS forgets ON " + record_table());
        sql("CREATE CONSTRAINT TRIGGER forgets AFTER INSERT ON " + record_table() +
            " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION " + prefix() +
            "forget()");
    }
};

// ---- where one of the two fails -----------------------------------------------------------------

TEST_F(PostgresPoolFaults, ACommitThatIsRefusedIsTheFirstOnesOwn) {
    refuse_at_commit("RAISE EXCEPTION 'too little'");
    auto at = share(1);

    const auto [one, two] =
        one_after_the_other(at, run_in(at, "a", {paying_what_is_refused()}), pay_in(at, "b"));

    EXPECT_EQ(one.kind(), outcome_kind::unavailable);
    EXPECT_EQ(one.why()->possible, effect::none);
    EXPECT_THAT(one.why()->detail, testing::HasSubstr("too little"));
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

TEST_F(PostgresPoolFaults, AStatementThatFailedQuietlyIsTheFirstOnesOwn) {
    auto at = share(1);

    const auto [one, two] =
        one_after_the_other(at, run_in(at, "a", {paying(), "SELECT 1/0"}), pay_in(at, "b"));

    EXPECT_EQ(why(one), errc::transaction_broken);
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

TEST_F(PostgresPoolFaults, WorkThatEndsItsTransactionIsTheFirstOnesOwn) {
    auto at = share(1);

    const auto [one, two] = one_after_the_other(at, run_in(at, "a", {"ROLLBACK"}), pay_in(at, "b"));

    EXPECT_EQ(why(one), errc::transaction_broken);
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(recorded(), "1");
}

TEST_F(PostgresPoolFaults, WorkThatThrowsLeavesTheConnectionToTheNext) {
    auto at = share(1);
    auto throwing = [this](postgres_connection& on) -> awaitable<std::string> {
        co_await run_on(on, paying());
        throw std::runtime_error{"no network"};
    };

    const auto [one, two] =
        one_after_the_other(at, transact_in(at, payment("a"), throwing), pay_in(at, "b"));

    EXPECT_THROW(static_cast<void>(one.value()), std::runtime_error);
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresPoolFaults, TheNextOneFindsTheSessionsStatementsGoneAndPreparesThem) {
    auto at = share(1);
    // With the record, and before the next one's way in.
    auto forgetful = [this](postgres_connection& on) {
        queue_on(on.native(), paying());
        return std::string{"done"};
    };
    forget_at_commit("%");

    const auto [one, two] = one_after_the_other(at, transact_in(at, payment("a"), forgetful),
                                                transact_in(at, payment("b"), forgetful));

    EXPECT_TRUE(one.executed());
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "2");
    EXPECT_EQ(recorded(), "2");
}

TEST_F(PostgresPoolFaults, AKeyThatAnotherTransactionHoldsIsWaitedForByTheNextAlone) {
    auto at = share(1);
    auto elsewhere = share(1);
    auto slow = [this](postgres_connection& on) -> awaitable<std::string> {
        co_await run_on(on, paying());
        while (sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") ==
               "0") {
            co_await pause(5ms);
        }
        co_return "slowly";
    };
    std::optional<answer> held;
    spawn(transact_in(elsewhere, payment("b"), slow), held);
    loop_.run_for(50ms);

    const auto [one, two] = one_after_the_other(at, pay_in(at, "a"), pay_in(at, "b"));

    EXPECT_TRUE(held->executed());
    EXPECT_TRUE(one.executed());
    EXPECT_TRUE(two.replayed());
    EXPECT_EQ(two.value(), "slowly");
}

// The work may go on behind a statement that failed, and then the next one's way in fails, too.
TEST_F(PostgresPoolFaults, TheNextOnesErrorIsNotTakenForTheFirstOnes) {
    auto saved = [this](postgres_connection& on) {
        queue_on(on.native(), "SAVEPOINT s");
        queue_on(on.native(), "SELECT 1/0");
        PQpipelineSync(on.native());
        queue_on(on.native(), "ROLLBACK TO s");
        queue_on(on.native(), paying());
        return std::string{"done"};
    };
    for (const char* which : {"%", "%enter%"}) { // BEGIN fails already, or the look behind it
        SCOPED_TRACE(which);
        sql("DELETE FROM " + record_table());
        auto at = share(1);
        forget_at_commit(which);

        const auto [one, two] =
            one_after_the_other(at, transact_in(at, payment("a"), saved), pay_in(at, "b"));

        EXPECT_TRUE(one.executed());
        EXPECT_TRUE(two.executed()) << describe(*two.why());
    }
    EXPECT_EQ(payments(), "4");
}

// Wherever memory runs out, whoever comes next is told of its own key.
TEST_F(PostgresPoolFaults, WhatMemoryRanOutForIsNobodyElses) {
    using testing_support::failing_allocation;
    const std::string known = "a-key-that-is-long-enough-to-need-memory-of-its-own";
    auto how = usual();
    how.transaction.doubt_wait = 500ms;
    for (int nth = 1; nth <= 70; ++nth) {
        SCOPED_TRACE(nth);
        sql("DELETE FROM " + payment_table() + "; DELETE FROM " + record_table());
        auto at = share(1, how);
        ASSERT_TRUE(run_alone(pay_in(at, known)).executed());
        auto first = [&](postgres_connection& on) {
            queue_on(on.native(), paying());
            failing_allocation = nth;
            return std::string{"first"};
        };
        std::optional<answer> one;
        std::optional<answer> two;
        spawn(transact_in(at, payment("a"), first), one);
        spawn(pay_in(at, known), two);
        loop_.restart();
        try {
            loop_.run_for(5s);
        } catch (const std::bad_alloc&) { // the loop's own
            loop_.run_for(5s);
        }
        failing_allocation = 0;

        const auto other = run_alone(pay_in(at, "other"));

        EXPECT_TRUE(other.executed()) << name(other.kind());
        EXPECT_EQ(payments(), recorded());
        EXPECT_EQ(at.pool.count().free, 1U);
    }
}

// ---- connections that are lost ------------------------------------------------------------------

TEST_F(PostgresPoolFaults, AConnectionLostWhileNobodyUsedItIsMadeAnew) {
    int told = 0;
    auto how = usual();
    how.on_reconnect = [&](pg_conn* on) {
        ++told;
        PQclear(PQexec(on, "SET application_name = 'anew'"));
    };
    auto at = share(1, how);
    ASSERT_TRUE(run_alone(pay_in(at, "a")).executed());
    const std::string pid = std::to_string(PQbackendPID(at.clients[0]->native()));
    sql("SELECT pg_terminate_backend(" + pid + ", 5000)");

    const auto out =
        run_alone(run_in(at, "b",
                         {"INSERT INTO " + payment_table() +
                          " SELECT 7 WHERE current_setting('application_name') = 'anew'"}));

    EXPECT_TRUE(out.executed()) << describe(*out.why());
    EXPECT_EQ(told, 1);
    EXPECT_EQ(payments(), "2");
}

TEST_F(PostgresPoolFaults, AConnectionLostDuringCommitIsInDoubtForTheFirstAndNotForTheNext) {
    refuse_at_commit("PERFORM pg_terminate_backend(pg_backend_pid())");
    auto at = share(1);

    const auto [one, two] =
        one_after_the_other(at, run_in(at, "a", {paying_what_is_refused()}), pay_in(at, "b"));

    EXPECT_EQ(one.kind(), outcome_kind::unavailable);
    EXPECT_EQ(one.why()->possible, effect::none); // it was looked up
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

// What became of a COMMIT is not to be looked for where it cannot be.
TEST_F(PostgresPoolFaults, ADoubtStaysWhereAConnectionMadeAnewSeesOtherTables) {
    testing_support::tcp_proxy proxy{database_port()};
    const std::string other = prefix() + "other";
    sql("CREATE SCHEMA " + other);
    for (const std::string table : {"record", "meta", "checkpoint"}) {
        sql("CREATE TABLE " + other + "." + prefix() + table + " (LIKE " + prefix() + table +
            " INCLUDING ALL)");
    }
    sql("INSERT INTO " + other + "." + prefix() + "meta SELECT * FROM " + prefix() + "meta");
    auto how = usual();
    how.on_reconnect = [&](pg_conn* on) {
        PQclear(PQexec(on, ("SET search_path = " + other + ", public").c_str()));
    };
    shared_desks at{loop_.get_executor(), 1, how, database_url(proxy.port())};
    ASSERT_TRUE(run_alone(run_in(at, "warm", {})).executed());
    auto first = [&](postgres_connection& on) -> awaitable<std::string> {
        co_await run_on(on, paying());
        proxy.cut_after(direction::to_client, 0);
        co_return "done";
    };

    const auto [one, two] =
        one_after_the_other(at, transact_in(at, payment("a"), first), pay_in(at, "b"));

    EXPECT_EQ(one.kind(), outcome_kind::unconfirmed);
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(recorded(), "2"); // a's, and the one to warm up; b's is elsewhere
    sql("DROP SCHEMA " + other + " CASCADE");
}

// Cut after every few bytes of two transactions that travel together: as many effects as records,
// and no answer that is not true.
TEST_F(PostgresPoolFaults, RecordAndEffectStayTogetherWhereverTheTwoAreCut) {
    testing_support::tcp_proxy proxy{database_port()};
    auto how = usual();
    how.transaction.doubt_wait = 500ms;
    const auto both = [&](const std::function<void()>& cut) {
        proxy.wait_until_idle();
        proxy.never_cut();
        shared_desks at{loop_.get_executor(), 1, how, database_url(proxy.port())};
        EXPECT_TRUE(run_alone(run_in(at, "warm", {})).executed());
        sql("DELETE FROM " + payment_table() + "; DELETE FROM " + record_table());
        proxy.never_cut();
        cut();
        return one_after_the_other(at, pay_in(at, "a"), pay_in(at, "b"));
    };
    static_cast<void>(both([] {}));
    int executed = 0;
    int lost = 0;
    for (const auto which : {direction::to_server, direction::to_client}) {
        const std::size_t whole = which == direction::to_server ? 2'000 : 1'200;
        for (std::size_t bytes = 1; bytes < whole; bytes += 31) {
            SCOPED_TRACE(std::to_string(bytes) + " bytes");
            const auto [one, two] = both([&] { proxy.cut_after(which, bytes); });
            int definite = 0;
            for (const auto* out : {&one, &two}) {
                if (out->executed()) ++definite;
                out->executed() ? ++executed : ++lost;
            }
            EXPECT_EQ(payments(), recorded());
            EXPECT_GE(std::stoi(payments()), definite);
        }
    }
    EXPECT_GT(executed, 0);
    EXPECT_GT(lost, 0);
}

} // namespace
} // namespace semel
