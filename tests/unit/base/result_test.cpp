#include "semel/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

namespace semel {
namespace {

constexpr errc all_codes[]{errc::invalid_argument, errc::limit_exceeded, errc::unknown_store,
                           errc::not_a_store,      errc::schema_missing, errc::schema_newer,
                           errc::read_only,        errc::no_space,       errc::overloaded,
                           errc::unavailable,      errc::timed_out,      errc::conflict,
                           errc::corrupt,          errc::unsupported,    errc::transaction_broken,
                           errc::stopped,          errc::address_in_use, errc::internal};

failure lost() {
    return {.code = errc::unavailable, .possible = effect::unknown, .detail = "connection reset"};
}

TEST(Result, HoldsAValue) {
    const result<int> got = 7;

    EXPECT_TRUE(got);
    EXPECT_EQ(*got, 7);
    EXPECT_EQ(got.value(), 7);
}

TEST(Result, HoldsAFailure) {
    const result<int> got = lost();

    EXPECT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code, errc::unavailable);
    EXPECT_EQ(got.error().possible, effect::unknown);
}

TEST(Result, ValueOfAFailureThrowsIt) {
    const result<int> got = lost();

    try {
        (void)got.value();
        FAIL() << "did not throw";
    } catch (const failure_error& thrown) {
        EXPECT_EQ(thrown.why().code, errc::unavailable);
        EXPECT_STREQ(thrown.what(), "unavailable (may have been applied): connection reset");
    }
}

TEST(Result, TakesMoveOnlyValues) {
    result<std::unique_ptr<int>> got = std::make_unique<int>(7);

    const std::unique_ptr<int> taken = *std::move(got);

    EXPECT_EQ(*taken, 7);
}

TEST(Result, ArrowReachesTheValue) {
    result<std::string> got = std::string{"seven"};

    EXPECT_EQ(got->size(), 5U);
}

TEST(Result, ValueOrTakesTheOtherValueOnlyForAFailure) {
    EXPECT_EQ(result<int>{7}.value_or(8), 7);
    EXPECT_EQ(result<int>{lost()}.value_or(8), 8);
}

TEST(Result, ValueOrMovesOutOfATemporary) {
    auto got = result<std::unique_ptr<int>>{std::make_unique<int>(7)}.value_or(nullptr);

    ASSERT_TRUE(got);
    EXPECT_EQ(*got, 7);
}

TEST(Result, AndThenGoesOnWithTheValue) {
    const result<int> got = 7;

    const result<std::string> then =
        got.and_then([](int value) { return result<std::string>{std::to_string(value)}; });

    EXPECT_EQ(then.value(), "7");
}

TEST(Result, AndThenPassesAFailureOn) {
    const auto then = result<int>{lost()}.and_then([](int) -> result<std::string> {
        ADD_FAILURE() << "was called";
        return std::string{};
    });

    EXPECT_EQ(then.error().detail, "connection reset");
    EXPECT_EQ(then.error().possible, effect::unknown);
}

TEST(Result, AndThenGivesTheFailureOfItsFunction) {
    const auto then = result<int>{7}.and_then([](int) { return result<void>{lost()}; });

    EXPECT_EQ(then.error().code, errc::unavailable);
}

TEST(Result, TransformWrapsWhatTheFunctionReturns) {
    const result<std::size_t> size =
        result<std::string>{"seven"}.transform([](const std::string& text) { return text.size(); });
    const result<int> sum = result<void>{}.transform([] { return 7; });

    EXPECT_EQ(size.value(), 5U);
    EXPECT_EQ(sum.value(), 7);
}

TEST(Result, TransformOfAFailureKeepsIt) {
    int calls = 0;

    const result<void> got = result<int>{lost()}.transform([&](int) { ++calls; });

    EXPECT_EQ(got.error().code, errc::unavailable);
    EXPECT_EQ(calls, 0);
}

TEST(Result, TransformMovesOutOfATemporary) {
    const auto got = result<std::unique_ptr<int>>{std::make_unique<int>(7)}.transform(
        [](std::unique_ptr<int>&& value) { return *value; });

    EXPECT_EQ(got.value(), 7);
}

TEST(Result, TheValueOfAFailureEndsTheProcess) {
    const result<int> failed = lost();
    const result<std::string> no_text = lost();

    EXPECT_DEATH((void)*failed, "has_value");
    EXPECT_DEATH((void)no_text->size(), "has_value");
}

TEST(Result, TheErrorOfAValueEndsTheProcess) {
    EXPECT_DEATH((void)result<int>{7}.error(), "has_value");
    EXPECT_DEATH((void)result<void>{}.error(), "has_value");
}

TEST(Result, OfVoidSucceedsByDefault) {
    const result<void> got;

    EXPECT_TRUE(got);
    EXPECT_NO_THROW(got.value());
}

TEST(Result, OfVoidThrowsItsFailure) {
    const result<void> got = lost();

    EXPECT_FALSE(got);
    EXPECT_THROW(got.value(), failure_error);
}

TEST(Failure, HasNoEffectUnlessItSaysSo) {
    const failure why{.code = errc::conflict};

    EXPECT_EQ(why.possible, effect::none);
    EXPECT_EQ(describe(why), "conflict");
}

TEST(Failure, EveryCodeHasANameOfItsOwn) {
    std::set<std::string_view> names;
    for (const errc code : all_codes) names.insert(name(code));

    EXPECT_EQ(names.size(), std::size(all_codes));
}

} // namespace
} // namespace semel
