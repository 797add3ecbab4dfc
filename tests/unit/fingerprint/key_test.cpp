#include "semel/fingerprint.hpp"

#include <set>

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(Key, DerivedKeysAreReadable) {
    EXPECT_EQ(derive("order-17", "payment"), "order-17:payment");
    EXPECT_EQ(prefix("billing", "order-17"), "billing/order-17");
    EXPECT_EQ(derive(derive("k", "a"), "b"), "k:a:b");
}

TEST(Key, DerivationIsUnambiguous) {
    EXPECT_NE(derive("a", "b:c"), derive("a:b", "c"));
    EXPECT_NE(derive("a", "b%3Ac"), derive("a", "b:c"));
    EXPECT_NE(derive("a", ""), derive("", "a"));
    EXPECT_NE(prefix("a/b", "c"), prefix("a", "b/c"));
    EXPECT_NE(prefix("a%2Fb", "c"), prefix("a/b", "c"));
}

TEST(Key, NoTwoPairsOfShortPartsMeet) {
    constexpr std::string_view alphabet = ":/%a";
    std::vector<std::string> parts{""};
    for (std::size_t i = 0; parts.size() < 85; ++i) {
        for (const char c : alphabet) parts.push_back(parts[i] + c);
    }
    std::set<std::string> derived;
    std::set<std::string> prefixed;

    for (const std::string& left : parts) {
        for (const std::string& right : parts) {
            derived.insert(derive(left, right));
            prefixed.insert(prefix(left, right));
        }
    }

    EXPECT_EQ(derived.size(), parts.size() * parts.size());
    EXPECT_EQ(prefixed.size(), parts.size() * parts.size());
}

TEST(Key, StaysWithinTheLimit) {
    const std::string longest(253, 'k');

    EXPECT_EQ(derive(longest, "x"), longest + ":x");
    EXPECT_EQ(derive(longest, "xy").size(), 7U + 64U);
    EXPECT_TRUE(derive(longest, "xy").starts_with("sha256-"));
    EXPECT_TRUE(prefix("xy", longest).starts_with("sha256-"));
    EXPECT_TRUE(derive("k", std::string(100, ':')).starts_with("sha256-"));
}

TEST(Key, LongKeysStayDifferentAndDeterministic) {
    const std::string longest(255, 'k');

    EXPECT_EQ(derive(longest, "a"), derive(longest, "a"));
    EXPECT_NE(derive(longest, "a"), derive(longest, "b"));
    EXPECT_NE(derive(longest, "a"), derive(longest + ":a", ""));
    EXPECT_NE(derive(longest, "a"), prefix(longest, "a"));
}

TEST(Key, ComesFromTheDigestWhereTheCallerHasNone) {
    const fingerprint content = fingerprint::raw("abc");

    EXPECT_EQ(key_from(content),
              "fp-ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_NE(key_from(content), key_from(fingerprint::raw("abd")));
}

} // namespace
} // namespace semel
