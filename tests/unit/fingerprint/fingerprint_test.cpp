#include "semel/fingerprint.hpp"

#include <unordered_set>

#include <gtest/gtest.h>

namespace semel {
namespace {

constexpr std::string_view sha256_of_abc =
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Fingerprint, RawIsPlainSha256) {
    EXPECT_EQ(fingerprint::raw("abc").hex(), sha256_of_abc);
    EXPECT_EQ(fingerprint::raw("").hex(),
              "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

TEST(Fingerprint, UsesHmacUnderASecret) {
    // RFC 4231, test case 2.
    EXPECT_EQ(fingerprint::raw("what do ya want for nothing?", {.secret = "Jefe"}).hex(),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(Fingerprint, OneSecretDoesNotLeakIntoTheNextHash) {
    const fingerprint before = fingerprint::raw("body", {.secret = "one"});
    const fingerprint other = fingerprint::raw("body", {.secret = "two"});
    const fingerprint after = fingerprint::raw("body", {.secret = "one"});

    EXPECT_EQ(before, after);
    EXPECT_NE(before, other);
}

TEST(Fingerprint, JsonIsTheHashOfTheCanonicalForm) {
    EXPECT_EQ(fingerprint::json(R"( { "b" : 1.0, "a" : 2 } )"),
              fingerprint::raw(R"({"a":2,"b":1})"));
}

TEST(Fingerprint, JsonTellsLargeAmountsApart) {
    EXPECT_NE(fingerprint::json("9007199254740992"), fingerprint::json("9007199254740993"));
}

TEST(Fingerprint, JsonHonoursSelectionAndSecret) {
    json_options options;
    options.canonical.selection = json_selection::parse({.ignore = {"/at"}}).value();
    options.secret = "s";

    EXPECT_EQ(fingerprint::json(R"({"at":1,"v":2})", options),
              fingerprint::json(R"({"v":2,"at":9})", options));
    EXPECT_EQ(fingerprint::json(R"({"at":1,"v":2})", options),
              fingerprint::raw(R"({"v":2})", {.secret = "s"}));
}

TEST(Fingerprint, BodyThatIsNotJsonCountsAsTaggedBytes) {
    const std::string tagged = std::string{"semel:not-json"} + '\0' + "{broken";

    EXPECT_EQ(fingerprint::json("{broken"), fingerprint::raw(tagged));
    EXPECT_NE(fingerprint::json("{broken"), fingerprint::json("{broken "));
    EXPECT_NE(fingerprint::json("{broken"), fingerprint::raw("{broken"));
}

TEST(Fingerprint, DuplicateNamesCountAsBytes) {
    EXPECT_NE(fingerprint::json(R"({"a":1,"a":2})"), fingerprint::json(R"({"a":2})"));
    EXPECT_NE(fingerprint::json(R"({"a":1,"a":2})"), fingerprint::json(R"({"a":2,"a":1})"));
}

TEST(Fingerprint, FormIgnoresTheOrderOfDifferentFieldsAndTheSpelling) {
    EXPECT_EQ(fingerprint::form("b=2&a=x+y"), fingerprint::form("a=x%20y&b=%32"));
    EXPECT_NE(fingerprint::form("a=1&a=2"), fingerprint::form("a=2&a=1"));
}

TEST(Fingerprint, CanonicalFormIsDecodedSortedAndEncodedAgain) {
    EXPECT_EQ(canonical_form("b=2&&a=x+y&c&a=%c3%A9&=v"), "=v&a=x+y&a=%C3%A9&b=2&c=");
    EXPECT_EQ(canonical_form("q=100%&r=%4&s=%zz"), "q=100%25&r=%254&s=%25zz");
    EXPECT_EQ(canonical_form("a=b=c"), "a=b%3Dc");
    EXPECT_EQ(canonical_form(""), "");
    EXPECT_EQ(canonical_form("&"), "");
}

// A rule of the body alone: it must not depend on how much memory there is.
TEST(Fingerprint, BodiesOfVeryManyPartsCountAsBytes) {
    const auto repeated = [](std::size_t count, std::string_view unit) {
        std::string text;
        while (count-- > 0) text += unit;
        return text;
    };
    const std::string few = repeated(99'999, "a&") + "b";
    const std::string many = repeated(100'000, "a&") + "b";

    EXPECT_EQ(fingerprint::form(few), fingerprint::form("b&" + repeated(99'998, "a&") + "a"));
    EXPECT_NE(fingerprint::form(many), fingerprint::form("b&" + repeated(99'999, "a&") + "a"));
    EXPECT_EQ(fingerprint::form(many),
              fingerprint::raw("semel:no-form" + std::string(1, '\0') + many));

    const std::string values = "[" + repeated(249'998, "1,") + "1]";
    const std::string more = "[" + repeated(249'999, "1,") + "1]";
    EXPECT_EQ(fingerprint::json(values), fingerprint::json(values + " "));
    EXPECT_NE(fingerprint::json(more), fingerprint::json(more + " "));
}

TEST(Fingerprint, FieldsCannotBeShiftedIntoEachOther) {
    EXPECT_NE(fingerprint::form("a=1%26b%3D2"), fingerprint::form("a=1&b=2"));
}

TEST(Fingerprint, HexAndBytesAreRoundTrips) {
    const fingerprint print = fingerprint::raw("abc");

    EXPECT_EQ(fingerprint::from_hex(print.hex()).value(), print);
    EXPECT_EQ(fingerprint::from_hex("BA7816BF8F01CFEA414140DE5DAE2223"
                                    "B00361A396177A9CB410FF61F20015AD")
                  .value(),
              print);
    EXPECT_EQ(fingerprint::from_bytes(print.bytes()).value(), print);
    EXPECT_EQ(fingerprint::from_bytes(print.as_string_view()).value(), print);
}

TEST(Fingerprint, RefusesWrongSizesAndDigits) {
    const std::string hex{sha256_of_abc};

    EXPECT_EQ(fingerprint::from_bytes(std::string(31, 'x')).error().code, errc::invalid_argument);
    EXPECT_EQ(fingerprint::from_bytes(std::string(33, 'x')).error().code, errc::invalid_argument);
    EXPECT_EQ(fingerprint::from_bytes("").error().code, errc::invalid_argument);
    EXPECT_EQ(fingerprint::from_hex(hex.substr(1)).error().code, errc::invalid_argument);
    EXPECT_EQ(fingerprint::from_hex("g" + hex.substr(1)).error().code, errc::invalid_argument);
    EXPECT_EQ(fingerprint::from_hex(hex.substr(1) + " ").error().code, errc::invalid_argument);
}

TEST(Fingerprint, OrdersByBytesAndHashes) {
    const auto low = fingerprint::from_hex(std::string(64, '0')).value();
    const auto high = fingerprint::from_hex(std::string(64, 'f')).value();
    const std::unordered_set<fingerprint> set{low, high, low};

    EXPECT_LT(low, high);
    EXPECT_EQ(set.size(), 2U);
}

TEST(FingerprintBuilder, TellsPartsApart) {
    const auto of = [](std::string_view name, std::string_view value) {
        return fingerprint_builder{}.add(name, value).finish();
    };

    EXPECT_EQ(of("path", "/a"), of("path", "/a"));
    EXPECT_NE(of("a", "bc"), of("ab", "c"));
    EXPECT_NE(of("a", "b"), fingerprint_builder{}.add("a", "b").add("", "").finish());
    EXPECT_NE(of("a", "1:b"), fingerprint_builder{}.add("a", "1").add("b", "").finish());
}

TEST(FingerprintBuilder, CountsTheOrderAndTheSecret) {
    const fingerprint_builder plain;

    EXPECT_NE(fingerprint_builder{}.add("a", "1").add("b", "2").finish(),
              fingerprint_builder{}.add("b", "2").add("a", "1").finish());
    EXPECT_NE(plain.finish(), fingerprint_builder{{.secret = "s"}}.finish());
}

TEST(FingerprintBuilder, TakesABodyAsItsFingerprint) {
    const fingerprint body = fingerprint::json("{}");

    EXPECT_EQ(fingerprint_builder{}.add("body", body).finish(),
              fingerprint_builder{}.add("body", body.as_string_view()).finish());
}

} // namespace
} // namespace semel
