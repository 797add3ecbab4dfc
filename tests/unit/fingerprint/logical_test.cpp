#include "semel/core/logical.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

enum class order { created, paid, packed, shipped, cancelled };

constexpr transitions<order> flow{{order::created, order::paid},
                                  {order::paid, order::packed},
                                  {order::packed, order::shipped},
                                  {order::created, order::cancelled},
                                  {order::paid, order::cancelled}};

// The table works at compile time.
static_assert(flow.move(order::created, order::paid).outcome == move_outcome::moved);
static_assert(flow.move(order::shipped, order::created).outcome == move_outcome::already);

TEST(Transitions, MakesAnAllowedMove) {
    EXPECT_EQ(flow.move(order::created, order::paid),
              (move_result<order>{move_outcome::moved, order::paid}));
}

TEST(Transitions, RepeatsAMoveWithoutEffect) {
    EXPECT_EQ(flow.move(order::paid, order::paid),
              (move_result<order>{move_outcome::already, order::paid}));
}

TEST(Transitions, RepeatsAMoveThatTheWorldHasGoneBeyond) {
    EXPECT_EQ(flow.move(order::shipped, order::paid),
              (move_result<order>{move_outcome::already, order::shipped}));
}

TEST(Transitions, RefusesToSkipAStep) {
    EXPECT_EQ(flow.move(order::created, order::shipped),
              (move_result<order>{move_outcome::refused, order::created}));
}

TEST(Transitions, RefusesTheOtherBranch) {
    EXPECT_EQ(flow.move(order::packed, order::cancelled).outcome, move_outcome::refused);
    EXPECT_EQ(flow.move(order::cancelled, order::packed).outcome, move_outcome::refused);
}

TEST(Transitions, LetsAnAllowedMoveWinInACycle) {
    constexpr transitions<int> cycle{{1, 2}, {2, 1}};

    EXPECT_EQ(cycle.move(2, 1).outcome, move_outcome::moved);
    EXPECT_EQ(cycle.move(1, 2).outcome, move_outcome::moved);
}

TEST(Transitions, EndsOnCyclesThatDoNotReachTheState) {
    constexpr transitions<int> table{{1, 2}, {2, 3}, {3, 1}, {8, 9}};

    EXPECT_FALSE(table.reaches(1, 9));
    EXPECT_TRUE(table.reaches(1, 1));
    EXPECT_EQ(table.move(9, 1).outcome, move_outcome::refused);
}

TEST(Transitions, RefusesEverythingWithoutMoves) {
    constexpr transitions<int> none{};

    EXPECT_EQ(none.move(1, 2).outcome, move_outcome::refused);
    EXPECT_EQ(none.move(1, 1).outcome, move_outcome::already);
}

TEST(VersionGuard, AppliesToTheExpectedVersion) {
    const version_guard<> guard{7, "change-a"};

    EXPECT_EQ(guard.check({.version = 7, .last_change = "change-z"}), version_outcome::apply);
    EXPECT_EQ(guard.applied(), (version_mark<>{.version = 8, .last_change = "change-a"}));
}

TEST(VersionGuard, RecognisesItsOwnRepeat) {
    const version_guard<> guard{7, "change-a"};

    EXPECT_EQ(guard.check(guard.applied()), version_outcome::already);
}

TEST(VersionGuard, TellsAnotherWriterFromItself) {
    const version_guard<> guard{7, "change-a"};

    EXPECT_EQ(guard.check({.version = 8, .last_change = "change-b"}), version_outcome::stale);
    EXPECT_EQ(guard.check({.version = 9, .last_change = "change-a"}), version_outcome::stale);
}

TEST(VersionGuard, ReportsAVersionThatDoesNotExistYet) {
    const version_guard<> guard{7, "change-a"};

    EXPECT_EQ(guard.check({.version = 6, .last_change = "change-a"}), version_outcome::ahead);
}

TEST(VersionGuard, WorksAtCompileTimeWithNumbersForChanges) {
    constexpr version_guard<int> guard{0, 42};

    static_assert(guard.check({.version = 0, .last_change = 0}) == version_outcome::apply);
    static_assert(guard.check({.version = 1, .last_change = 42}) == version_outcome::already);
    EXPECT_EQ(guard.applied().version, 1U);
}

} // namespace
} // namespace semel
