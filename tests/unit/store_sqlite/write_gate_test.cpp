#include "databases/sqlite/client/write_gate.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace semel::sqlite {
namespace {

TEST(WriteGate, LetsOneInAtATime) {
    write_gate gate;
    auto first = gate.enter(duration::zero());
    ASSERT_TRUE(first);

    const auto second = gate.enter(duration::zero());

    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, errc::timed_out);
    EXPECT_EQ(second.error().possible, effect::none);
}

TEST(WriteGate, OpensAgainWhenThePassIsGone) {
    write_gate gate;
    std::optional<result<write_gate::pass>> first{gate.enter(duration::zero())};

    first.reset();

    EXPECT_TRUE(gate.enter(duration::zero()));
}

TEST(WriteGate, ForgetsWhoeverGaveUp) {
    write_gate gate;
    {
        const auto first = gate.enter(duration::zero());
        ASSERT_FALSE(gate.enter(duration::zero()));
        ASSERT_FALSE(gate.enter(duration{1}));
    }

    EXPECT_TRUE(gate.enter(duration::zero()));
}

} // namespace
} // namespace semel::sqlite
