#include "net/url.hpp"

#include <gmock/gmock.h>

namespace semel::net {
namespace {

using testing::HasSubstr;
using parameter = std::pair<std::string, std::string>;

TEST(StoreUrl, HasASchemeATargetAndParameters) {
    const auto url = parse_url("sqlite:data/orders.db?prefix=a_&lock_wait_ms=50").value();

    EXPECT_EQ(url.scheme, "sqlite");
    EXPECT_EQ(url.target, "data/orders.db");
    EXPECT_THAT(url.parameters,
                testing::ElementsAre(parameter{"prefix", "a_"}, parameter{"lock_wait_ms", "50"}));
}

TEST(StoreUrl, MayBeOnlyAScheme) {
    const auto url = parse_url("memory:").value();

    EXPECT_EQ(url.scheme, "memory");
    EXPECT_EQ(url.target, "");
    EXPECT_TRUE(url.parameters.empty());
}

TEST(StoreUrl, ResolvesPercentSigns) {
    const auto url = parse_url("sqlite:what%3F 100%25.db?prefix=%61b").value();

    EXPECT_EQ(url.target, "what? 100%.db");
    EXPECT_EQ(url.parameters.front().second, "ab");
}

TEST(StoreUrl, RefusesBrokenPercentSigns) {
    for (const char* text :
         {"sqlite:a%", "sqlite:a%4", "sqlite:a%zz", "sqlite:a%4z", "sqlite:%00"}) {
        const auto url = parse_url(text);

        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().code, errc::invalid_argument);
    }
}

TEST(StoreUrl, DoesNotRepeatAPasswordThatItCannotRead) {
    const auto url = parse_url("mysql://shop:top?secret@db.internal/shop?lanes=2");

    ASSERT_FALSE(url);
    EXPECT_THAT(url.error().detail, testing::Not(HasSubstr("secret")));
    EXPECT_THAT(url.error().detail, HasSubstr("%3F"));
}

TEST(StoreUrl, RefusesParametersWithoutNameOrValue) {
    for (const char* text : {"memory:?x", "memory:?=1", "memory:?a=1&&b=2"}) {
        const auto url = parse_url(text);

        ASSERT_FALSE(url) << text;
        EXPECT_EQ(url.error().code, errc::invalid_argument);
    }
}

// Also one that is not ours, which a library might take or leave.
TEST(StoreUrl, RefusesTheSameNameTwice) {
    const auto url = parse_url("postgres://host/db?sslmode=require&sslmode=disable");

    ASSERT_FALSE(url);
    EXPECT_EQ(url.error().code, errc::invalid_argument);
    EXPECT_THAT(url.error().detail, HasSubstr("'sslmode' is given twice"));
}

// What finish() says after reading the number n with suffixes in powers of 1,000.
result<std::uint64_t> number_in(std::string_view text) {
    const auto url = parse_url(text).value();
    url_parameters given{url};
    std::uint64_t number = 7;
    given.number("n", number, 1'000);
    if (auto read = given.finish(); !read) return std::move(read).error();
    return number;
}

TEST(UrlParameters, NumbersHaveSuffixes) {
    EXPECT_EQ(number_in("x:").value(), 7U);
    EXPECT_EQ(number_in("x:?n=12").value(), 12U);
    EXPECT_EQ(number_in("x:?n=12k").value(), 12'000U);
    EXPECT_EQ(number_in("x:?n=3m").value(), 3'000'000U);
    EXPECT_EQ(number_in("x:?n=3g").value(), 3'000'000'000U);
}

TEST(UrlParameters, RefusesWhatIsNoPositiveNumber) {
    for (const char* text : {"x:?n=", "x:?n=0", "x:?n=-1", "x:?n=1x", "x:?n=1kk", "x:?n=a",
                             "x:?n=99999999999999999999", "x:?n=99999999999g", "x:?n=1.5"}) {
        const auto number = number_in(text);

        ASSERT_FALSE(number) << text;
        EXPECT_EQ(number.error().code, errc::invalid_argument);
        EXPECT_THAT(number.error().detail, HasSubstr("parameter n of"));
    }
}

TEST(UrlParameters, NamesWhatNobodyKnowsAndWhatThereIs) {
    const auto number = number_in("x:?m=1");

    ASSERT_FALSE(number);
    EXPECT_EQ(number.error().code, errc::invalid_argument);
    EXPECT_THAT(number.error().detail, HasSubstr("no parameter 'm'"));
    EXPECT_THAT(number.error().detail, HasSubstr("known: n"));
}

} // namespace
} // namespace semel::net
