// Many callers on a few connections: the end of one transaction travels with the beginning of the
// next, and yet they are two.
#include <gmock/gmock.h>

#include <boost/asio/bind_executor.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <future>
#include <memory>
#include <string>
#include <vector>

#include "shared_desks.hpp"
#include "support/forked.hpp"
#include "transaction/transaction_port.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

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

TEST_F(PostgresPool, IsRefusedInAForkedChild) {
    auto at = share(1);
    const record_id id = id_of("a");

    const auto child = testing_support::said_by_child([&] {
        auto call = at.pool.transaction();
        auto& port = transaction_port::of(call);
        static_cast<void>(port.begin(on_locked::wait).get());
        locked_record seen;
        const auto got = port.lock(id, seen).get();
        return got ? "locked" : describe(got.error());
    });

    EXPECT_THAT(child, testing::HasSubstr("postgres: the pool was opened before fork()"));
    EXPECT_TRUE(run_alone(pay_in(at, "a")).executed());
}

// The loop of the child is the parent's until Asio is told of the fork.
TEST_F(PostgresPool, AWaiterThatAForkedChildDestroysGoesOnInItsParent) {
    database_client one;
    auto waiter = std::make_unique<asio_waiter>(loop_);
    ASSERT_EQ(run_alone(run_on(one.native(), *waiter, "SELECT 1")), "");

    const auto child = testing_support::said_by_child([&] {
        waiter.reset();
        return std::string{"destroyed"};
    });
    std::optional<std::string> again;
    spawn(run_on(one.native(), *waiter, "SELECT pg_sleep(0.1)"), again);
    loop_.restart();
    loop_.run_for(10s);

    EXPECT_EQ(child, "destroyed");
    EXPECT_EQ(again, "");
}

TEST_F(PostgresPool, QueuedWorkTravelsWithBoth) {
    auto at = share(1);
    auto queueing = [this](execution&, postgres_connection& on) {
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
            auto op = pay_in(at, std::to_string((i + caller) % keys));
            const auto out = co_await std::move(op);
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

// Somebody else's statements may stand before the COMMIT that it travels with.
TEST_F(PostgresPool, ACallerWhoTravelsWaitsNoLongerThanOthers) {
    auto how = usual();
    how.wait_max = 200ms;
    auto at = share(1, how);
    auto slow = [](postgres_connection& on) {
        queue_on(on.native(), "SELECT pg_sleep(2)");
        return std::string{"slowly"};
    };
    std::optional<answer> one;
    std::optional<answer> two;
    spawn(transact_in(at, payment("a"), slow), one);
    spawn(pay_in(at, "b"), two);

    loop_.run_for(1s);

    ASSERT_TRUE(two);
    EXPECT_EQ(why(*two), errc::timed_out);
    loop_.run();
    EXPECT_TRUE(one->executed());
    EXPECT_EQ(at.pool.count().free, 1U);
    EXPECT_EQ(sql("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%' AND pid = " +
                  std::to_string(PQbackendPID(at.clients[0]->native()))),
              "0");
    EXPECT_TRUE(run_alone(pay_in(at, "b")).executed());
    EXPECT_EQ(payments(), "1");
}

// One is free by the time it turns out that the other will not be its own so soon.
TEST_F(PostgresPool, WhoeverTravelsInVainGetsAConnectionThatIsFree) {
    auto at = share(2);
    ASSERT_TRUE(run_alone(run_in(at, "warm", {})).executed());
    pg_conn* brief_on = nullptr;
    pg_conn* travels_on = nullptr;
    const auto sleeping = [](pg_conn*& here) {
        return [&here](postgres_connection& on) -> awaitable<std::string> {
            here = on.native();
            co_await run_on(on, "SELECT pg_sleep(0.1)");
            co_return "done";
        };
    };
    auto failing = [](postgres_connection& on) {
        queue_on(on.native(), "SELECT pg_sleep(0.5)");
        queue_on(on.native(), "SELECT 1/0");
        return std::string{"x"};
    };
    std::optional<answer> brief;
    std::optional<answer> fails;
    std::optional<answer> travels;
    spawn(transact_in(at, payment("brief"), sleeping(brief_on)), brief);
    spawn(transact_in(at, payment("fails"), failing), fails);
    spawn(transact_in(at, payment("travels"), sleeping(travels_on)), travels);

    loop_.restart();
    loop_.run();

    EXPECT_EQ(why(*fails), errc::transaction_broken);
    EXPECT_TRUE(travels->executed());
    EXPECT_EQ(travels_on, brief_on);
    EXPECT_EQ(at.pool.count().free, 2U);
}

TEST_F(PostgresPool, AFinalFailureIsKeptBeforeOthersHaveTheirTurn) {
    auto how = usual();
    how.wait_max = 200ms;
    auto at = share(1, how);
    int ran = 0;
    auto failing = [&](postgres_connection& on) -> awaitable<std::string> {
        ++ran;
        co_await run_on(on, "SELECT 1");
        throw refused_payment{"no"};
    };

    static_cast<void>(one_after_the_other(at, transact_in(at, payment("a"), failing),
                                          run_in(at, "b", {"SELECT pg_sleep(0.5)"})));
    const auto again = run_alone(transact_in(at, payment("a"), failing));

    EXPECT_EQ(again.kind(), outcome_kind::failed);
    EXPECT_EQ(ran, 1);
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

// A pool has no transaction of the caller's.
template <class Handle>
concept joins = requires(engine& with, Handle on, std::string (*work)()) {
    with.async_execute_in<std::string>(std::move(on), request{}, work);
};
static_assert(joins<postgres_transaction> && !joins<postgres_pool_transaction>);

TEST_F(PostgresPool, NeedsAConnection) {
    EXPECT_THROW(postgres_pool({}, asio_waiters{loop_.get_executor()}), std::invalid_argument);
}

TEST_F(PostgresPool, IsForCallersThatDoNotBlock) {
    auto at = share(1);
    engine& blocking = engine_;

    const auto out = blocking.transact<std::string>(at.pool.transaction(), payment(),
                                                    [] { return std::string{"7"}; });

    EXPECT_EQ(why(out), errc::unsupported);
    EXPECT_EQ(at.pool.count().free, 1U);
}

// A caller who is gone, with its loop, in the middle of its transaction.
TEST_F(PostgresPool, AConnectionThatWasLeftInATransactionIsMadeAnewForTheNext) {
    auto at = share(1);
    bool paid = false;
    auto slow = [this, &paid](postgres_connection& on) -> awaitable<std::string> {
        co_await run_on(on, paying());
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
        auto slow = [](postgres_connection& on) -> awaitable<std::string> {
            co_await run_on(on, "SELECT pg_sleep(1)");
            co_return "7";
        };
        for (const char* key : {"a", "b", "c"}) {
            auto op =
                engine_.async_transact<std::string>(at.pool.transaction(), payment(key), slow);
            std::move(op)(asio::bind_executor(short_lived,
                                              [](const answer&) { FAIL() << "it has not ended"; }));
        }
        short_lived.run_for(200ms);
        EXPECT_EQ(at.pool.count().waiting, 2U);
    }
}

} // namespace
} // namespace semel
