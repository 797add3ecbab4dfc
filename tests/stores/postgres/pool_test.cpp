// Many callers on a few connections: the end of one transaction travels with the beginning of the
// next, and yet they are two.
#include "semel/transaction/postgres_pool_asio.hpp"

#include <gmock/gmock.h>

#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "looped_payments.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;
using testing_support::direction;

// Connections and the pool over them.
class shared_desks {
public:
    shared_desks(const asio::any_io_executor& executor, int connections,
                 postgres_pool_options options, const std::string& url)
        : clients(connect(connections, url)),
          pool(make_postgres_pool(executor, handles(), std::move(options))) {}

    std::vector<std::unique_ptr<database_client>> clients;
    postgres_pool pool;

private:
    static std::vector<std::unique_ptr<database_client>> connect(int many, const std::string& url) {
        std::vector<std::unique_ptr<database_client>> made;
        for (int i = 0; i < many; ++i) made.push_back(std::make_unique<database_client>(url));
        return made;
    }
    std::vector<pg_conn*> handles() const {
        std::vector<pg_conn*> made;
        for (const auto& one : clients) made.push_back(one->native());
        return made;
    }
};

class PostgresPool : public LoopedPayments {
protected:
    using steps = std::vector<std::string>;

    postgres_pool_options usual() { return {.transaction = {.table_prefix = prefix()}}; }
    shared_desks share(int connections) { return share(connections, usual()); }
    shared_desks share(int connections, postgres_pool_options how) {
        return {loop_.get_executor(), connections, std::move(how), database_url(database_port())};
    }

    template <class Work> awaitable<answer> transact_in(shared_desks& at, request what, Work work) {
        auto op = async_transact<std::string>(engine_, at.pool, std::move(what), std::move(work));
        auto out = co_await std::move(op);
        co_return out;
    }
    // Work that waits for one statement after the other, whatever comes of them.
    awaitable<answer> run_in(shared_desks& at, std::string key, steps texts) {
        auto work = [texts](pooled_connection& on) -> awaitable<std::string> {
            for (const auto& text : texts) co_await run_on(on.native(), on.waits(), text);
            co_return "done";
        };
        return transact_in(at, payment(std::move(key)), std::move(work));
    }
    awaitable<answer> pay_in(shared_desks& at, std::string key) {
        return run_in(at, std::move(key), {paying()});
    }
    // Two callers who come at the same time to one connection.
    std::pair<answer, answer> one_after_the_other(shared_desks& at, awaitable<answer> first,
                                                  awaitable<answer> second) {
        std::optional<answer> one;
        std::optional<answer> two;
        spawn(std::move(first), one);
        spawn(std::move(second), two);
        loop_.restart();
        loop_.run();
        EXPECT_EQ(at.pool.count().free, at.clients.size());
        EXPECT_EQ(at.pool.count().waiting, 0U);
        return {std::move(*one), std::move(*two)};
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
    ~PostgresPool() override { sql("DROP FUNCTION IF EXISTS " + prefix() + "refuse() CASCADE"); }
    std::string paying_what_is_refused() {
        return "INSERT INTO " + payment_table() + " VALUES (13)";
    }
};

TEST_F(PostgresPool, TheEndOfOneTransactionTravelsWithTheBeginningOfTheNext) {
    auto at = share(1);

    const auto [one, two] = one_after_the_other(at, pay_in(at, "a"), pay_in(at, "b"));
    const auto again = run_alone(pay_in(at, "b"));

    EXPECT_TRUE(one.executed());
    EXPECT_TRUE(two.executed());
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(at.pool.count().handed_over, 1U);
    EXPECT_EQ(payments(), "2");
    EXPECT_EQ(recorded(), "2");
}

TEST_F(PostgresPool, QueuedWorkTravelsWithBoth) {
    auto at = share(1);
    auto queueing = [this](execution&, pooled_connection& on) {
        queue_on(on.native(), paying());
        return std::string{"done"};
    };

    const auto [one, two] = one_after_the_other(at, transact_in(at, payment("a"), queueing),
                                                transact_in(at, payment("b"), queueing));

    EXPECT_TRUE(one.executed());
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(at.pool.count().handed_over, 1U);
    EXPECT_EQ(payments(), "2");
}

// The second finds what the first has committed, though both were sent at once.
TEST_F(PostgresPool, ARepeatBehindTheFirstIsReplayed) {
    auto at = share(1);

    const auto [one, two] = one_after_the_other(at, pay_in(at, "a"), pay_in(at, "a"));

    EXPECT_TRUE(one.executed());
    EXPECT_TRUE(two.replayed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresPool, TheEndOfAReplayTravelsWithTheBeginningOfTheNext) {
    auto at = share(1);
    ASSERT_TRUE(run_alone(pay_in(at, "a")).executed());

    const auto [one, two] = one_after_the_other(at, pay_in(at, "a"), pay_in(at, "b"));

    EXPECT_TRUE(one.replayed());
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(at.pool.count().handed_over, 1U);
    EXPECT_EQ(payments(), "2");
}

TEST_F(PostgresPool, ManyCallersPayOncePerKey) {
    constexpr int callers = 24;
    constexpr int keys = 40;
    asio::thread_pool threads{2};
    shared_desks at{threads.get_executor(), 4, usual(), database_url(database_port())};
    const auto pay_all = [&](int caller) -> awaitable<int> {
        int executed = 0;
        for (int i = 0; i < keys; ++i) {
            const auto out = co_await pay_in(at, std::to_string((i + caller) % keys));
            EXPECT_TRUE(out.executed() || out.replayed());
            executed += out.executed() ? 1 : 0;
        }
        co_return executed;
    };
    std::vector<std::future<int>> all;
    for (int i = 0; i < callers; ++i) {
        all.push_back(asio::co_spawn(threads, pay_all(i), asio::use_future));
    }

    int executed = 0;
    for (auto& one : all) executed += one.get();

    threads.join();
    EXPECT_EQ(executed, keys);
    EXPECT_GT(at.pool.count().handed_over, 0U);
    EXPECT_EQ(at.pool.count().free, 4U);
    EXPECT_EQ(payments(), std::to_string(keys));
    EXPECT_EQ(recorded(), std::to_string(keys));
}

// ---- where one of the two fails -----------------------------------------------------------------

TEST_F(PostgresPool, ACommitThatIsRefusedIsTheFirstOnesOwn) {
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

TEST_F(PostgresPool, AStatementThatFailedQuietlyIsTheFirstOnesOwn) {
    auto at = share(1);

    const auto [one, two] =
        one_after_the_other(at, run_in(at, "a", {paying(), "SELECT 1/0"}), pay_in(at, "b"));

    EXPECT_EQ(why(one), errc::transaction_broken);
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "1");
    EXPECT_EQ(recorded(), "1");
}

TEST_F(PostgresPool, WorkThatEndsItsTransactionIsTheFirstOnesOwn) {
    auto at = share(1);

    const auto [one, two] = one_after_the_other(at, run_in(at, "a", {"ROLLBACK"}), pay_in(at, "b"));

    EXPECT_EQ(why(one), errc::transaction_broken);
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(recorded(), "1");
}

TEST_F(PostgresPool, WorkThatThrowsLeavesTheConnectionToTheNext) {
    auto at = share(1);
    auto throwing = [this](pooled_connection& on) -> awaitable<std::string> {
        co_await run_on(on.native(), on.waits(), paying());
        throw std::runtime_error{"no network"};
    };

    const auto [one, two] =
        one_after_the_other(at, transact_in(at, payment("a"), throwing), pay_in(at, "b"));

    EXPECT_THROW(static_cast<void>(one.value()), std::runtime_error);
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(PostgresPool, TheNextOneFindsTheSessionsStatementsGoneAndPreparesThem) {
    auto at = share(1);
    // With the record, and before the next one's way in.
    auto forgetful = [this](pooled_connection& on) {
        queue_on(on.native(), paying());
        return std::string{"done"};
    };
    sql("CREATE FUNCTION " + prefix() +
        "refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN "
        "DEALLOCATE ALL; RETURN NULL; END$$");
    sql("CREATE CONSTRAINT TRIGGER forgets AFTER INSERT ON " + record_table() +
        " DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION " + prefix() + "refuse()");

    const auto [one, two] = one_after_the_other(at, transact_in(at, payment("a"), forgetful),
                                                transact_in(at, payment("b"), forgetful));

    EXPECT_TRUE(one.executed());
    EXPECT_TRUE(two.executed());
    EXPECT_EQ(payments(), "2");
    EXPECT_EQ(recorded(), "2");
}

TEST_F(PostgresPool, AKeyThatAnotherTransactionHoldsIsWaitedForByTheNextAlone) {
    auto at = share(1);
    auto elsewhere = share(1);
    auto slow = [this](pooled_connection& on) -> awaitable<std::string> {
        co_await run_on(on.native(), on.waits(), paying());
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

// ---- connections that are lost ------------------------------------------------------------------

TEST_F(PostgresPool, AConnectionLostWhileNobodyUsedItIsMadeAnew) {
    int told = 0;
    auto how = usual();
    how.made_anew = [&](pg_conn* on) {
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

TEST_F(PostgresPool, AConnectionLostDuringCommitIsInDoubtForTheFirstAndNotForTheNext) {
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

// Cut after every few bytes of two transactions that travel together: as many effects as records,
// and no answer that is not true.
TEST_F(PostgresPool, RecordAndEffectStayTogetherWhereverTheTwoAreCut) {
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

// ---- waiting ------------------------------------------------------------------------------------

TEST_F(PostgresPool, ACallerWaitsForAConnectionOnlyForAWhile) {
    auto how = usual();
    how.wait_max = 100ms;
    auto at = share(1, how);

    const auto [one, two] =
        one_after_the_other(at, run_in(at, "a", {"SELECT pg_sleep(0.5)"}), pay_in(at, "b"));

    EXPECT_TRUE(one.executed());
    EXPECT_EQ(why(two), errc::timed_out);
    EXPECT_EQ(at.pool.count().timed_out, 1U);
    EXPECT_EQ(payments(), "0");
}

TEST_F(PostgresPool, TooManyWhoWaitAreRefusedAtOnce) {
    auto how = usual();
    how.waiting_max = 0;
    auto at = share(1, how);

    const auto [one, two] = one_after_the_other(at, pay_in(at, "a"), pay_in(at, "b"));

    EXPECT_TRUE(one.executed());
    EXPECT_EQ(why(two), errc::overloaded);
    EXPECT_EQ(at.pool.count().refused, 1U);
}

TEST_F(PostgresPool, ALoopWithNobodyLeftEndsAtOnce) {
    auto at = share(1);
    const auto before = local_clock::now();

    static_cast<void>(one_after_the_other(at, pay_in(at, "a"), pay_in(at, "b")));

    EXPECT_LT(local_clock::now() - before, 5s); // and not after wait_max
}

TEST_F(PostgresPool, BlindWorkAndTransactionsOfTheCallersAreNotForIt) {
    auto at = share(1);
    const auto place = at.pool.enter();

    const auto joined = run_alone([&]() -> awaitable<answer> {
        auto op = engine_.async_execute_in<std::string>(place->port(), payment(),
                                                        [] { return std::string{"7"}; });
        auto out = co_await std::move(op);
        co_return out;
    }());

    EXPECT_EQ(why(joined), errc::unsupported);
    EXPECT_THROW(make_postgres_pool(loop_.get_executor(), {}), std::invalid_argument);
}

// A caller who is gone, with its loop, in the middle of its transaction.
TEST_F(PostgresPool, AConnectionThatWasLeftInATransactionIsMadeAnewForTheNext) {
    auto at = share(1);
    bool paid = false;
    auto slow = [this, &paid](pooled_connection& on) -> awaitable<std::string> {
        co_await run_on(on.native(), on.waits(), paying());
        paid = true;
        co_await pause(60s);
        co_return "7";
    };
    std::optional<answer> next;
    {
        asio::io_context short_lived{1};
        std::optional<answer> none;
        asio::co_spawn(short_lived, keep(transact_in(at, payment("a"), slow), none),
                       asio::detached);
        while (!paid) {
            short_lived.run_for(10ms);
            loop_.restart();
            loop_.run_for(10ms);
        }
        spawn(pay_in(at, "a"), next);
        loop_.restart();
        loop_.run_for(50ms);
        EXPECT_EQ(at.pool.count().waiting, 1U);
    }

    loop_.restart();
    loop_.run();

    ASSERT_TRUE(next);
    EXPECT_TRUE(next->executed()) << describe(*next->why());
    EXPECT_EQ(at.pool.count().free, 1U);
    EXPECT_EQ(payments(), "1");
}

// The address sanitizer would see what is left.
TEST_F(PostgresPool, ALoopThatEndsTakesItsTransactionsAndThoseWhoWaitAlong) {
    asio::io_context short_lived{1};
    {
        shared_desks at{short_lived.get_executor(), 1, usual(), database_url(database_port())};
        auto slow = [](pooled_connection& on) -> awaitable<std::string> {
            co_await run_on(on.native(), on.waits(), "SELECT pg_sleep(1)");
            co_return "7";
        };
        for (const char* key : {"a", "b", "c"}) {
            auto op = async_transact<std::string>(engine_, at.pool, payment(key), slow);
            std::move(op)([](const answer&) { FAIL() << "it has not ended"; });
        }
        short_lived.run_for(200ms);
        EXPECT_EQ(at.pool.count().waiting, 2U);
    }
}

} // namespace
} // namespace semel
