// The Asio form of the engine, on a real thread pool and the memory store.
#include <gtest/gtest.h>

#include "semel/asio.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <vector>

#include "semel/store/memory.hpp"

namespace {

using namespace std::chrono_literals;
namespace asio = boost::asio;

semel::request order(std::string key) {
    return {.tenant = "acme", .operation = "ORDER_CREATE", .key = std::move(key)};
}

asio::awaitable<void> pause(std::chrono::milliseconds how_long) {
    const auto executor = co_await asio::this_coro::executor;
    asio::steady_timer timer{executor, how_long};
    co_await timer.async_wait(asio::use_awaitable);
}

class AsioEngine : public testing::Test {
protected:
    asio::thread_pool pool_{2};
    semel::engine engine_{semel::open_memory_store()};

    template <class T> T run(asio::awaitable<T> what) {
        return asio::co_spawn(pool_, std::move(what), asio::use_future).get();
    }
};

asio::awaitable<std::string> create(semel::engine& engine, std::string key, int& runs) {
    auto work = [&runs](semel::execution&) -> asio::awaitable<std::string> {
        ++runs;
        co_await pause(5ms);
        co_return "order-1";
    };
    auto op = engine.async_execute<std::string>(order(std::move(key)), std::move(work));
    auto out = co_await std::move(op);
    co_return std::string{semel::name(out.kind())} + " " + out.value();
}

TEST_F(AsioEngine, RunsACoroutineOnceAndReplaysIt) {
    int runs = 0;

    EXPECT_EQ(run(create(engine_, "k", runs)), "executed order-1");
    EXPECT_EQ(run(create(engine_, "k", runs)), "replayed order-1");

    EXPECT_EQ(runs, 1);
}

asio::awaitable<semel::outcome_kind> plain(semel::engine& engine) {
    auto work = [](semel::execution&) { return semel::reject(std::string{"no stock"}); };
    auto op = engine.async_execute<std::string>(order("plain"), std::move(work));
    auto out = co_await std::move(op);
    EXPECT_TRUE(out.rejected());
    co_return out.kind();
}

TEST_F(AsioEngine, RunsAPlainFunctionOnTheExecutor) {
    EXPECT_EQ(run(plain(engine_)), semel::outcome_kind::executed);
}

asio::awaitable<void> throwing(semel::engine& engine) {
    auto work = [](semel::execution&) -> asio::awaitable<void> {
        co_await pause(1ms);
        throw std::domain_error{"card refused"};
    };
    auto op = engine.async_execute<void>(order("throws"), std::move(work));
    auto out = co_await std::move(op);
    EXPECT_EQ(out.kind(), semel::outcome_kind::failed);
    out.value();
}

TEST_F(AsioEngine, GivesTheWorksOwnExceptionToItsCaller) {
    EXPECT_THROW(run(throwing(engine_)), std::domain_error);
}

TEST_F(AsioEngine, LetsManyConcurrentRepeatsShareOneExecution) {
    std::atomic<int> runs = 0;
    auto one = [&]() -> asio::awaitable<std::string> {
        auto work = [&runs](semel::execution&) -> asio::awaitable<std::string> {
            ++runs;
            co_await pause(20ms);
            co_return "once";
        };
        auto op = engine_.async_execute<std::string>(order("shared"), std::move(work));
        auto out = co_await std::move(op);
        co_return out.value();
    };
    std::vector<std::future<std::string>> answers;

    for (int i = 0; i < 200; ++i) answers.push_back(asio::co_spawn(pool_, one(), asio::use_future));

    for (auto& answer : answers) EXPECT_EQ(answer.get(), "once");
    EXPECT_EQ(runs, 1);
}

asio::awaitable<std::string> stepped(semel::engine& engine, int& charges) {
    auto work = [&charges](semel::execution& run) -> asio::awaitable<std::string> {
        auto charge = [&charges]() -> asio::awaitable<std::string> {
            ++charges;
            co_return "charge-7";
        };
        auto step = semel::async_step<std::string>(run, "charge", std::move(charge));
        std::string charged = co_await std::move(step);
        if (run.attempt() == 1) throw std::runtime_error{"after the charge"};
        co_return charged;
    };
    auto op = engine.async_execute<std::string>(order("steps"), std::move(work));
    auto out = co_await std::move(op);
    co_return out.value();
}

TEST_F(AsioEngine, KeepsAStepAcrossAFailedAttempt) {
    int charges = 0;

    EXPECT_THROW(run(stepped(engine_, charges)), std::runtime_error);
    EXPECT_EQ(run(stepped(engine_, charges)), "charge-7");

    EXPECT_EQ(charges, 1);
}

TEST_F(AsioEngine, CancellingAWaitingRepeatAnswersInProgressAndTheWorkGoesOn) {
    std::promise<void> started;
    std::promise<void> go_on;
    std::thread owner{[&] {
        const auto done = engine_.execute<std::string>(order("slow"), [&] {
            started.set_value();
            go_on.get_future().wait();
            return std::string{"done"};
        });
        EXPECT_TRUE(done.executed());
    }};
    started.get_future().wait();
    asio::cancellation_signal signal;
    std::promise<semel::outcome_kind> answered;
    auto op = engine_.async_execute<std::string>(
        order("slow"), [](semel::execution&) { return std::string{"never"}; });
    std::move(op)(asio::bind_cancellation_slot(
        signal.slot(), [&](semel::outcome<std::string> out) { answered.set_value(out.kind()); }));

    signal.emit(asio::cancellation_type::terminal);

    EXPECT_EQ(answered.get_future().get(), semel::outcome_kind::in_progress);
    go_on.set_value();
    owner.join();
    EXPECT_TRUE(
        engine_.execute<std::string>(order("slow"), [] { return std::string{}; }).replayed());
}

} // namespace
