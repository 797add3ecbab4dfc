// Transactions of an Asio program: one thread, many connections, and nothing that blocks.
#include <gmock/gmock.h>

#include <sys/resource.h>
#include <time.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "looped_payments.hpp"
#include "support/tcp_proxy.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

// A connection of the application, and its place on the loop.
struct desk {
    desk(const asio::any_io_executor& executor, const std::string& prefix)
        : waits(executor), port(client.native(), waits, {.table_prefix = prefix}) {}

    awaitable<std::string> run(std::string text) {
        return run_on(client.native(), waits, std::move(text));
    }
    void queue(const std::string& text) { queue_on(client.native(), text); }

    database_client client;
    asio_waiter waits;
    postgres_transaction port;
};

class AsioTransaction : public LoopedPayments {
protected:
    desk sit() { return desk{loop_.get_executor(), prefix()}; }

    template <class Work> awaitable<answer> transact_at(desk& at, request what, Work work) {
        auto op = engine_.async_transact<std::string>(at.port, std::move(what), std::move(work));
        auto out = co_await std::move(op);
        co_return out;
    }
    // One payment whose work waits for its statement.
    awaitable<answer> pay_at(desk& at, request what, std::string said) {
        auto work = [this, &at, said](execution&) -> awaitable<std::string> {
            const auto error = co_await at.run(paying());
            if (!error.empty()) throw std::runtime_error{error};
            co_return said;
        };
        return transact_at(at, std::move(what), std::move(work));
    }
    // The answers of one caller who pays under every key.
    awaitable<std::string> pay_all(desk& at, int keys, std::string said) {
        std::string answers;
        for (int key = 0; key < keys; ++key) {
            auto out = co_await pay_at(at, payment("k" + std::to_string(key)), said);
            answers += out.value() + " ";
        }
        co_return answers;
    }
};

TEST_F(AsioTransaction, WorkThatWaitsForItsStatementIsExecutedOnceAndReplayed) {
    desk here = sit();

    const auto first = run_alone(pay_at(here, payment(), "7"));
    const auto second = run_alone(pay_at(here, payment(), "8"));

    EXPECT_EQ(first.kind(), outcome_kind::executed);
    EXPECT_EQ(second.kind(), outcome_kind::replayed);
    EXPECT_EQ(second.value(), "7");
    EXPECT_EQ(payments(), "1");
    EXPECT_FALSE(is_in_transaction(here.client));
}

TEST_F(AsioTransaction, QueuedWorkTravelsWithTheRecord) {
    desk here = sit();
    const auto queueing = [&](postgres_connection& on) {
        queue_on(on.native(), paying());
        return std::string{"7"};
    };

    const auto both = run_alone([&]() -> awaitable<std::string> {
        auto queued = engine_.async_transact<std::string>(here.port, payment("queued"), queueing);
        const auto one = co_await std::move(queued);
        auto again = engine_.async_transact<std::string>(here.port, payment("queued"), queueing);
        const auto two = co_await std::move(again);
        co_return std::string{name(one.kind())} + " " + std::string{name(two.kind())};
    }());

    EXPECT_EQ(both, "executed replayed");
    EXPECT_EQ(payments(), "1");
}

// It would stop the loop.
TEST_F(AsioTransaction, AConnectionWithAWaiterIsRefusedToCallersThatBlock) {
    desk here = sit();
    engine& blocking = engine_;

    const auto out = blocking.transact<std::string>(here.port, payment(), [this] { return pay(); });

    EXPECT_EQ(why(out), errc::unsupported);
    EXPECT_EQ(payments(), "0");
}

TEST_F(AsioTransaction, AConnectionWithoutAWaiterIsRefusedToCallersThatDoNotBlock) {
    postgres_transaction here{mine_.native(), {.table_prefix = prefix()}};
    auto paid = [&]() -> awaitable<answer> {
        auto op = engine_.async_transact<std::string>(here, payment(), [this] { return pay("7"); });
        auto end = co_await std::move(op);
        co_return end;
    };

    const auto out = run_alone(paid());

    EXPECT_EQ(why(out), errc::unsupported);
    EXPECT_EQ(payments(), "0");
}

// One thread: a repeat that waited in place would keep the first from ever getting on.
TEST_F(AsioTransaction, ARepeatWaitsForTheKeyWhileTheLoopGoesOn) {
    desk first = sit();
    desk second = sit();
    auto slow = [&](execution&) -> awaitable<std::string> {
        co_await first.run(paying());
        while (sql("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted") ==
               "0") {
            co_await pause(5ms);
        }
        co_return "7";
    };
    auto repeating = [&]() -> awaitable<answer> {
        co_await pause(20ms);
        auto end = co_await pay_at(second, payment(), "8");
        co_return end;
    };
    std::optional<answer> out;
    std::optional<answer> repeat;
    spawn(transact_at(first, payment(), slow), out);
    spawn(repeating(), repeat);

    loop_.run();

    EXPECT_TRUE(out->executed());
    EXPECT_TRUE(repeat->replayed());
    EXPECT_EQ(repeat->value(), "7");
    EXPECT_EQ(payments(), "1");
}

TEST_F(AsioTransaction, ARepeatThatDoesNotWaitIsToldThatItIsInProgress) {
    desk first = sit();
    desk second = sit();
    std::optional<outcome_kind> repeat;
    auto work = [&](execution&) -> awaitable<std::string> {
        request what = payment();
        what.with.wait = wait_mode::answer;
        const auto out = co_await pay_at(second, std::move(what), "8");
        repeat = out.kind();
        co_return "7";
    };

    const auto out = run_alone(transact_at(first, payment(), work));

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(repeat, outcome_kind::in_progress);
}

TEST_F(AsioTransaction, ManyConnectionsOnTwoThreadsPayOncePerKey) {
    constexpr int connections = 16;
    constexpr int keys = 60;
    asio::thread_pool pool{2};
    std::vector<std::unique_ptr<desk>> desks;
    std::vector<std::future<std::string>> all;
    for (int i = 0; i < connections; ++i) {
        desks.push_back(std::make_unique<desk>(pool.get_executor(), prefix()));
        auto customer = pay_all(*desks.back(), keys, std::to_string(i));
        all.push_back(asio::co_spawn(pool, std::move(customer), asio::use_future));
    }

    const std::string first = all.front().get();
    for (std::size_t i = 1; i < all.size(); ++i) EXPECT_EQ(all[i].get(), first);

    pool.join();
    EXPECT_EQ(payments(), std::to_string(keys));
    EXPECT_EQ(recorded(), std::to_string(keys));
}

TEST_F(AsioTransaction, AnExceptionOfTheWorkLeavesNothingAndComesOut) {
    desk here = sit();
    auto work = [&](execution&) -> awaitable<std::string> {
        co_await here.run(paying());
        // Left under way: it must be cancelled before the rollback.
        PQsendQuery(here.client.native(), "SELECT pg_sleep(60)");
        throw std::runtime_error{"no network"};
    };
    const auto before = std::chrono::steady_clock::now();

    const auto out = run_alone(transact_at(here, payment(), work));

    EXPECT_LT(std::chrono::steady_clock::now() - before, 30s);
    EXPECT_THROW(static_cast<void>(out.value()), std::runtime_error);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
    EXPECT_TRUE(run_alone(pay_at(here, payment(), "7")).executed());
}

// The sanitizers look at memory through a pipe, and there would be none.
#ifndef __SANITIZE_ADDRESS__

// The process can open nothing any more.
class no_descriptors {
public:
    no_descriptors() {
        ::getrlimit(RLIMIT_NOFILE, &before_);
        const rlimit none{.rlim_cur = 3, .rlim_max = before_.rlim_max};
        ::setrlimit(RLIMIT_NOFILE, &none);
    }
    no_descriptors(const no_descriptors&) = delete;
    no_descriptors& operator=(const no_descriptors&) = delete;
    ~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

private:
    rlimit before_{};
};

std::chrono::nanoseconds processor_time() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds{now.tv_sec} + std::chrono::nanoseconds{now.tv_nsec};
}

TEST_F(AsioTransaction, WithoutADescriptorLeftItLooksNowAndThen) {
    auto at = sit();
    auto work = [&](execution&) -> awaitable<std::string> {
        (void)co_await at.run("SELECT pg_sleep(1)");
        co_return "7";
    };
    const no_descriptors left;
    const auto before = processor_time();

    const auto out = run_alone(transact_at(at, payment(), work));

    EXPECT_EQ(out.value(), "7");
    EXPECT_LT(processor_time() - before, 500ms);
}

#endif

TEST_F(AsioTransaction, NestingTheSameKeyIsRefusedAndAnotherKeyIsNot) {
    desk here = sit();
    std::optional<errc> same;
    bool other = false;
    const auto child = [] { return std::string{"1"}; };
    auto work = [&](execution&) -> awaitable<std::string> {
        auto inner = engine_.async_execute_in<std::string>(here.port, payment(), child);
        const auto refused = co_await std::move(inner);
        same = why(refused);
        auto next = engine_.async_execute_in<std::string>(here.port, payment("child"), child);
        const auto joined = co_await std::move(next);
        other = joined.executed();
        co_return "7";
    };

    const auto out = run_alone(transact_at(here, payment(), work));

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(same, errc::transaction_broken);
    EXPECT_TRUE(other);
    EXPECT_EQ(recorded(), "2");
}

TEST_F(AsioTransaction, AConnectionThatWasMadeAnewIsWaitedForOnItsNewSocket) {
    desk here = sit();
    ASSERT_TRUE(run_alone(pay_at(here, payment("before"), "7")).executed());
    sql("SELECT pg_terminate_backend(" + std::to_string(PQbackendPID(here.client.native())) + ")");
    while (sql("SELECT count(*) FROM pg_stat_activity WHERE pid = " +
               std::to_string(PQbackendPID(here.client.native()))) != "0") {
    }

    const auto lost = run_alone(pay_at(here, payment("lost"), "7"));
    PQreset(here.client.native());
    const auto after = run_alone(pay_at(here, payment("after"), "7"));
    // One that was healthy, behind our back.
    PQreset(here.client.native());
    const auto last = run_alone(pay_at(here, payment("last"), "7"));

    EXPECT_EQ(why(lost), errc::unavailable);
    EXPECT_EQ(lost.why()->possible, effect::none);
    EXPECT_TRUE(after.executed()) << describe(*after.why());
    EXPECT_TRUE(last.executed()) << describe(*last.why());
    EXPECT_EQ(payments(), "3");
}

TEST_F(AsioTransaction, AConnectionLostInTheWorkIsAnOutcome) {
    desk here = sit();
    auto work = [&](execution&) -> awaitable<std::string> {
        co_await here.run(paying());
        co_await here.run("SELECT pg_terminate_backend(pg_backend_pid())");
        co_return "7";
    };

    const auto out = run_alone(transact_at(here, payment(), work));

    EXPECT_EQ(why(out), errc::unavailable);
    EXPECT_EQ(payments(), "0");
    EXPECT_EQ(recorded(), "0");
}

// The answer to COMMIT is lost; the connection is made anew, without blocking either.
class AsioDoubt : public AsioTransaction {
protected:
    // `after_the_cut` runs beside what is tried then.
    answer pay_in_doubt(awaitable<bool> after_the_cut) {
        postgres_transaction port{
            client_.native(), waits_, {.table_prefix = prefix(), .doubt_wait = 500ms}};
        std::optional<bool> beside;
        auto work = [&] {
            PQenterPipelineMode(client_.native());
            PQsendQueryParams(client_.native(), paying().c_str(), 0, nullptr, nullptr, nullptr,
                              nullptr, 0);
            proxy_->cut_after(testing_support::direction::to_client, 0);
            spawn(std::move(after_the_cut), beside);
            return std::string{"7"};
        };
        auto paid = [&]() -> awaitable<answer> {
            auto op = engine_.async_transact<std::string>(port, payment(), work);
            auto end = co_await std::move(op);
            co_return end;
        };
        return run_alone(paid());
    }
    awaitable<bool> leave_alone() { co_return true; }
    awaitable<bool> go_silent_then_away() {
        proxy_->fall_silent();
        co_await pause(100ms);
        proxy_.reset();
        co_return true;
    }

    std::unique_ptr<testing_support::tcp_proxy> proxy_ =
        std::make_unique<testing_support::tcp_proxy>(database_port());
    database_client client_{database_url(proxy_->port())};
    asio_waiter waits_{loop_.get_executor()};
};

TEST_F(AsioDoubt, IsResolvedByWhatIsThere) {
    const auto out = pay_in_doubt(leave_alone());

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

TEST_F(AsioDoubt, IsGivenUpInTimeWhereNobodyIs) {
    const auto before = local_clock::now();

    const auto out = pay_in_doubt(go_silent_then_away());

    EXPECT_EQ(out.kind(), outcome_kind::unconfirmed);
    EXPECT_GE(local_clock::now() - before, 500ms);
    EXPECT_LT(local_clock::now() - before, 10s);
    EXPECT_EQ(payments(), "1");
}

// Sees whether the loop stands still.
class heartbeat {
public:
    explicit heartbeat(asio::io_context& of) : timer_(of) { beat(); }
    [[nodiscard]] std::chrono::milliseconds longest() const { return longest_; }
    void stop() { timer_.cancel(); }

private:
    void beat() {
        timer_.expires_after(20ms);
        timer_.async_wait([this, before = std::chrono::steady_clock::now()](auto stopped) {
            const auto since = std::chrono::steady_clock::now() - before;
            longest_ = std::max(longest_, std::chrono::ceil<std::chrono::milliseconds>(since));
            if (!stopped) beat();
        });
    }

    asio::steady_timer timer_;
    std::chrono::milliseconds longest_{};
};

class AsioLeftovers : public AsioTransaction {
protected:
    // Work that begins something and throws.
    void fail_after(std::function<awaitable<void>(desk&)> begins) {
        desk here = sit();
        heartbeat heart{loop_};
        auto work = [&](execution&) -> awaitable<std::string> {
            co_await begins(here);
            throw std::runtime_error{"no network"};
        };
        auto all = [&]() -> awaitable<answer> {
            auto out = co_await transact_at(here, payment(), work);
            heart.stop();
            co_return out;
        };

        const auto out = run_alone(all());

        EXPECT_THROW(static_cast<void>(out.value()), std::runtime_error);
        EXPECT_LT(heart.longest(), 1s);
        EXPECT_FALSE(is_in_transaction(here.client));
        EXPECT_TRUE(run_alone(pay_at(here, payment(), "7")).executed());
    }

    const std::string large_ = std::string(32U << 20U, 'x');
};

TEST_F(AsioLeftovers, AStatementOfWhichNotAllIsSentIsEnded) {
    fail_after([&](desk& here) -> awaitable<void> {
        const char* values[] = {large_.c_str()};
        PQsendQueryParams(here.client.native(), "SELECT length($1::text)", 1, nullptr, values,
                          nullptr, nullptr, 0);
        co_return;
    });
}

TEST_F(AsioLeftovers, ACopyOfWhichNotAllIsSentIsEnded) {
    fail_after([&](desk& here) -> awaitable<void> {
        co_await here.run("CREATE TEMP TABLE lines (line text)");
        const auto copying = co_await here.run("COPY lines FROM STDIN");
        EXPECT_EQ(copying, "");
        PQputCopyData(here.client.native(), large_.data(), static_cast<int>(large_.size()));
    });
}

TEST_F(AsioLeftovers, ACopyThatIsSlowToComeIsEnded) {
    fail_after([](desk& here) -> awaitable<void> {
        const auto copying = co_await here.run(
            "COPY (SELECT repeat('x', 20000), CASE WHEN g > 3 THEN pg_sleep(5) END FROM "
            "generate_series(1, 4) g) TO STDOUT");
        EXPECT_EQ(copying, "");
    });
}

// What does not fit into the socket waits in libpq, not in place, also the first time.
TEST_F(AsioLeftovers, ALargeStatementThatIsQueuedDoesNotHoldUpTheLoop) {
    sql("INSERT INTO " + payment_table() + " VALUES (1)");
    desk first = sit();
    desk second = sit();
    heartbeat heart{loop_};
    auto holds = [&](execution&) -> awaitable<std::string> {
        co_await first.run("UPDATE " + payment_table() + " SET amount = 2");
        while (!waits_for_lock(payment_table())) co_await pause(20ms);
        co_await pause(1'500ms);
        co_return "7";
    };
    auto queueing = [&] {
        second.queue("UPDATE " + payment_table() + " SET amount = 3");
        const char* values[] = {large_.c_str()};
        PQsendQueryParams(second.client.native(), "SELECT length($1::text)", 1, nullptr, values,
                          nullptr, nullptr, 0);
        return std::string{"8"};
    };
    auto queued = [&]() -> awaitable<answer> {
        co_await pause(200ms);
        auto op = engine_.async_transact<std::string>(second.port, payment("queued"), queueing);
        auto out = co_await std::move(op);
        heart.stop();
        co_return out;
    };
    std::optional<answer> one;
    std::optional<answer> two;
    spawn(transact_at(first, payment(), holds), one);
    spawn(queued(), two);

    loop_.run();

    EXPECT_TRUE(one->executed());
    EXPECT_TRUE(two->executed());
    EXPECT_LT(heart.longest(), 1s);
}

TEST_F(AsioTransaction, BadInputIsAnOutcomeBeforeAnythingIsSent) {
    desk here = sit();

    const auto out = run_alone(pay_at(here, payment(""), "7"));

    EXPECT_EQ(why(out), errc::invalid_argument);
    EXPECT_EQ(payments(), "0");
}

// The address sanitizer would see what is left.
TEST_F(AsioTransaction, ALoopThatEndsTakesItsTransactionsAlong) {
    {
        asio::io_context short_lived{1};
        desk here{short_lived.get_executor(), prefix()};
        auto work = [&](execution&) -> awaitable<std::string> {
            co_await here.run("SELECT pg_sleep(1)");
            co_return "7";
        };
        auto op = engine_.async_transact<std::string>(here.port, payment(), work);
        std::move(op)([](const outcome<std::string>&) { FAIL() << "it has not ended"; });
        short_lived.run_for(200ms);
    }
    desk here = sit();

    const auto out = run_alone(pay_at(here, payment("other"), "7"));

    EXPECT_TRUE(out.executed());
    EXPECT_EQ(payments(), "1");
}

} // namespace
} // namespace semel
