#include <gtest/gtest.h>

#include "unit/core/machine.hpp"

namespace semel::test {
namespace {

// A record at work, with everything a completion could forget to change.
struct at_work : machine {
    claim by = start();
    instant later = {.now = noon + seconds{2}};

    at_work() {
        expect<answers::stored>(commands::checkpoint{.by = by, .step = {"paid", "x"}});
        now = later.now;
    }
};

TEST(CompleteInPlace, MakesTheRecordThatApplyMakes) {
    at_work m;
    record in_place = *m.it;
    auto what = complete(m.by, "order 7");

    const auto said = complete_in_place(in_place, what, m.later);

    ASSERT_TRUE(said);
    EXPECT_EQ(said->expires_at, m.expect<answers::stored>(complete(m.by, "order 7")).expires_at);
    EXPECT_EQ(in_place, *m.it);
}

TEST(CompleteInPlace, LeavesEveryOtherCaseToApply) {
    at_work m;
    auto theirs = complete({.fence = m.by.fence + 1, .owner = m.by.owner}, "not mine");
    auto again = complete(m.by, "again");
    const record running = *m.it;
    record it = running;

    EXPECT_FALSE(complete_in_place(it, theirs, m.later));
    EXPECT_EQ(it, running);
    EXPECT_EQ(theirs.result.body, "not mine");

    m.expect<answers::stored>(complete(m.by, "first"));
    it = *m.it;
    EXPECT_FALSE(complete_in_place(it, again, m.later));
    EXPECT_EQ(it.result.body, "first");
}

} // namespace
} // namespace semel::test
