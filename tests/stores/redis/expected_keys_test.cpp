// After many repeats in a row the next begins only look. What if they are not repeats?
#include "redis_fixture.hpp"

namespace semel {
namespace {

class RedisKnownKeys : public redis_test {
protected:
    RedisKnownKeys() {
        const claim by = must_start(*store_, id_of("done"), begin_of(1));
        EXPECT_TRUE(store_->call(id_of("done"), complete_of(by, "x")));
        for (int i = 0; i < 256; ++i) repeat();
    }

    void repeat() {
        const auto got = store_->call(id_of("done"), begin_of(2));
        ASSERT_TRUE(got) << describe(got.error());
        EXPECT_EQ(std::get<answers::replay>(got->said).result.body, "x");
    }

    template <class Ask> std::uint64_t round_trips(Ask ask) {
        const auto before = counters_.round_trips;
        ask();
        return counters_.round_trips - before;
    }

    std::unique_ptr<store> counted() {
        options_.lanes = 1;
        options_.counters = &counters_;
        return open();
    }

    store_counters counters_;
    const std::unique_ptr<store> store_ = counted();
};

TEST_F(RedisKnownKeys, OnlyTheFirstNewOneCostsASecondRoundTrip) {
    const auto start = [&](const char* key) { must_start(*store_, id_of(key), begin_of(1)); };

    EXPECT_EQ(round_trips([&] { repeat(); }), 1U);
    EXPECT_EQ(round_trips([&] { start("k"); }), 2U);
    EXPECT_EQ(round_trips([&] { start("l"); }), 1U);
    EXPECT_EQ(round_trips([&] { repeat(); }), 1U);
}

TEST_F(RedisKnownKeys, OneThatIsGoneStartsAnew) {
    client_.ask({"DEL", key_of(id_of("done"))});

    must_start(*store_, id_of("done"), begin_of(3));
}

TEST_F(RedisKnownKeys, OneThatHasExpiredStartsAnewWithAHigherFence) {
    const claim first = must_start(*store_, id_of("k"), begin_of(1));
    ASSERT_TRUE(store_->call(id_of("k"), complete_of(first, "y", std::chrono::microseconds{1})));
    for (int i = 0; i < 256; ++i) repeat();

    EXPECT_GT(must_start(*store_, id_of("k"), begin_of(3)).fence, first.fence);
}

} // namespace
} // namespace semel
