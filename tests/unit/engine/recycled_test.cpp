#include "engine/recycled.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace semel {
namespace {

struct large {
    int value;
    char rest[4096];
};

TEST(Recycled, TheNextObjectIsAFreshOne) {
    auto first = std::allocate_shared<large>(recycled<large>{}, large{.value = 7, .rest = {}});
    first.reset();

    const auto second = std::allocate_shared<large>(recycled<large>{});

    EXPECT_EQ(second->value, 0);
}

TEST(Recycled, ObjectsThatLiveTogetherDoNotShareABlock) {
    recycled<large> from;
    large* const first = from.allocate(1);
    from.deallocate(first, 1);

    large* const second = from.allocate(1);
    large* const third = from.allocate(1);

    EXPECT_NE(second, third);
    from.deallocate(second, 1);
    from.deallocate(third, 1);
}

TEST(Recycled, ArraysAreNotKept) {
    recycled<large> from;
    large* const kept = from.allocate(1);
    from.deallocate(kept, 1);

    large* const three = from.allocate(3);

    EXPECT_NE(three, kept) << "the block of one object has no room for three";
    from.deallocate(three, 3);
}

} // namespace
} // namespace semel
