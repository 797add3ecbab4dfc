#include "base/home_process.hpp"

#include <gmock/gmock.h>

#include "support/forked.hpp"

namespace semel {
namespace {

using testing::HasSubstr;
using testing_support::said_by_child;

std::string in_words(bool left) {
    return left ? "left" : "at home";
}

TEST(HomeProcess, IsLeftByAForkedChildAlone) {
    const home_process mine;

    const auto child = said_by_child([&] {
        const home_process own;
        return in_words(mine.left()) + ", " + in_words(own.left());
    });
    const auto grandchild = said_by_child([&] {
        const home_process own;
        return said_by_child([&] { return in_words(mine.left()) + ", " + in_words(own.left()); });
    });

    EXPECT_EQ(child, "left, at home");
    EXPECT_EQ(grandchild, "left, left");
    EXPECT_FALSE(mine.left());
}

TEST(HomeProcess, WhatItOwnsIsLeftAloneInAChild) {
    struct noting {
        std::string& to;
        ~noting() { to += "gone"; }
    };
    std::string said;
    auto mine = at_home(std::make_unique<noting>(said));

    const auto child = said_by_child([&] {
        mine.reset();
        auto own = at_home(std::make_unique<noting>(said));
        const std::string before = said;
        own.reset();
        return before + "/" + said;
    });
    mine.reset();

    EXPECT_EQ(child, "/gone");
    EXPECT_EQ(said, "gone");
}

TEST(HomeProcess, TheFailureSaysWhatToDo) {
    const failure why = opened_before_fork("the store");

    EXPECT_EQ(why.code, errc::unsupported);
    EXPECT_EQ(why.possible, effect::none);
    EXPECT_THAT(why.detail, HasSubstr("the store was opened before fork()"));
    EXPECT_THAT(why.detail, HasSubstr("open another one in the child"));
}

} // namespace
} // namespace semel
