// Coroutines that are driven by whoever they wait for.
#include "semel/base/task.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace semel {
namespace {

// What the coroutine waits for; the test calls it, or drops it.
class gate {
public:
    class passing {
    public:
        explicit passing(gate& at) : at_(at) {}
        bool await_ready() const noexcept { return false; }
        template <class Promise> bool await_suspend(std::coroutine_handle<Promise> who) {
            at_.take(resumption{who, turn_});
            return turn_.suspends(who.promise().root);
        }
        int await_resume() const { return at_.toll_; }

    private:
        gate& at_;
        handover turn_;
    };

    passing pass() { return passing{*this}; }
    void open(int toll) {
        toll_ = toll;
        resumption go = *std::move(waiting_);
        waiting_.reset();
        go();
    }
    void collapse() { waiting_.reset(); }
    // What it does with whoever comes next.
    enum class mood { keeps, opens, drops, throws };
    void become(mood next) { mood_ = next; }
    [[nodiscard]] bool besieged() const { return waiting_.has_value(); }

private:
    void take(resumption who) {
        switch (mood_) {
        case mood::keeps: waiting_.emplace(std::move(who)); break;
        case mood::opens: who(); break;
        case mood::drops: break;
        case mood::throws: throw std::runtime_error{"closed"};
        }
    }

    std::optional<resumption> waiting_;
    mood mood_ = mood::keeps;
    int toll_ = 0;
};

task<int> one_through(gate& at) {
    const int toll = co_await at.pass();
    co_return toll;
}

task<int> two_through(gate& at) {
    const int first = co_await one_through(at);
    const int second = co_await one_through(at);
    co_return first * 10 + second;
}

task<std::string> never_waits(int depth) {
    if (depth == 0) co_return "bottom";
    auto below = co_await never_waits(depth - 1);
    co_return below + "!";
}

task<int> throws() {
    throw std::runtime_error{"no"};
    co_return 1;
}

task<int> passes_on() {
    const int got = co_await throws();
    co_return got;
}

TEST(Task, GivesAtOnceWhatNeedsNoWaiting) {
    EXPECT_EQ(never_waits(3).get(), "bottom!!!");
    EXPECT_EQ(task<int>{7}.get(), 7);
}

TEST(Task, DoesNotBeginBeforeItIsAskedFor) {
    gate at;

    { const auto unasked = one_through(at); }

    EXPECT_FALSE(at.besieged());
}

TEST(Task, GoesOnWhereItWaited) {
    gate at;
    int got = 0;

    start<int>(two_through(at), [&](int end) { got = end; });
    EXPECT_EQ(got, 0);
    at.open(4);
    EXPECT_EQ(got, 0);
    at.open(2);

    EXPECT_EQ(got, 42);
    EXPECT_FALSE(at.besieged());
}

TEST(Task, WhatIsThereWhileTheWaitBeginsIsNotWaitedFor) {
    gate at;
    at.become(gate::mood::opens);
    std::optional<int> got;

    start<int>(two_through(at), [&](int end) { got = end; });

    EXPECT_EQ(got, 0);
}

TEST(Task, AWaitThatIsDroppedWhileItBeginsEndsAllOfIt) {
    gate at;
    at.become(gate::mood::drops);
    const auto witness = std::make_shared<int>(1);

    start<int>(two_through(at), [witness](int) { FAIL(); });

    EXPECT_EQ(witness.use_count(), 1);
}

TEST(Task, AWaitThatThrowsIsAnExceptionWhereItIsAwaited) {
    gate at;
    at.become(gate::mood::throws);
    std::string caught;
    auto tries = [](gate& on, std::string& words) -> task<int> {
        try {
            const int toll = co_await one_through(on);
            co_return toll;
        } catch (const std::runtime_error& thrown) {
            words = thrown.what();
        }
        co_return 7;
    };
    int got = 0;

    start<int>(tries(at, caught), [&](int end) { got = end; });

    EXPECT_EQ(got, 7);
    EXPECT_EQ(caught, "closed");
}

TEST(Task, ExceptionsComeOutOfWhatAwaitsThem) {
    EXPECT_THROW(passes_on().get(), std::runtime_error);
}

TEST(Task, WhoeverDropsItsResumptionEndsAllOfIt) {
    gate at;
    const auto witness = std::make_shared<int>(1);
    auto waits = [](gate& on, std::shared_ptr<int> held) -> task<int> {
        const int toll = co_await one_through(on);
        co_return toll + *held;
    };

    start<int>(waits(at, witness), [witness](int) { FAIL(); });
    EXPECT_EQ(witness.use_count(), 3);
    at.collapse();

    EXPECT_EQ(witness.use_count(), 1);
}

} // namespace
} // namespace semel
