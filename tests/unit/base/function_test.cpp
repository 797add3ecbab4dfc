#include "semel/base/function.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <utility>

namespace semel {
namespace {

// Counts how many of it are alive.
struct counted {
    explicit counted(int& count) : alive(&count) { ++*alive; }
    counted(counted&& other) noexcept : alive(other.alive) { ++*alive; }
    ~counted() { --*alive; }
    int* alive;
};

TEST(UniqueFunction, IsEmptyByDefault) {
    unique_function<void()> nothing;

    EXPECT_FALSE(nothing);
}

TEST(UniqueFunction, CallsWithArgumentsAndReturns) {
    unique_function<int(int, int)> add = [](int a, int b) { return a + b; };

    EXPECT_TRUE(add);
    EXPECT_EQ(add(3, 4), 7);
}

TEST(UniqueFunction, HoldsMoveOnlyCaptures) {
    unique_function<int()> call = [held = std::make_unique<int>(7)] { return *held; };

    unique_function<int()> moved = std::move(call);

    EXPECT_EQ(moved(), 7);
}

TEST(UniqueFunction, PassesMoveOnlyArguments) {
    unique_function<int(std::unique_ptr<int>)> call = [](std::unique_ptr<int> it) { return *it; };

    EXPECT_EQ(call(std::make_unique<int>(7)), 7);
}

TEST(UniqueFunction, HoldsLargeCaptures) {
    std::array<int, 100> many{};
    many[99] = 7;
    unique_function<int()> call = [many] { return many[99]; };

    unique_function<int()> moved = std::move(call);

    EXPECT_EQ(moved(), 7);
}

TEST(UniqueFunction, KeepsStateBetweenCalls) {
    unique_function<int()> next = [n = 0]() mutable { return ++n; };

    next();

    EXPECT_EQ(next(), 2);
}

TEST(UniqueFunction, IsEmptyAfterMove) {
    unique_function<void()> call = [] {};

    const unique_function<void()> moved = std::move(call);

    EXPECT_FALSE(call); // NOLINT: what a move leaves behind is the point
    EXPECT_TRUE(moved);
}

TEST(UniqueFunction, DestroysSmallCapturesOnce) {
    int alive = 0;
    {
        unique_function<void()> call = [it = counted{alive}] { (void)it; };
        unique_function<void()> moved = std::move(call);
        EXPECT_EQ(alive, 1);
        moved = [] {};
        EXPECT_EQ(alive, 0);
    }
    EXPECT_EQ(alive, 0);
}

TEST(UniqueFunction, DestroysLargeCapturesOnce) {
    int alive = 0;
    {
        const std::array<int, 100> many{};
        unique_function<void()> call = [it = counted{alive}, many] { (void)it, (void)many; };
        unique_function<void()> moved = std::move(call);
        EXPECT_EQ(alive, 1);
    }
    EXPECT_EQ(alive, 0);
}

TEST(UniqueFunctionDeathTest, CallingAnEmptyOneIsABrokenInvariant) {
    unique_function<void()> nothing;

    EXPECT_DEATH(nothing(), "broken invariant");
}

} // namespace
} // namespace semel
