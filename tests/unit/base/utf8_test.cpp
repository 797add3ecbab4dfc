#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace semel::utf8_test {
namespace {

TEST(Utf8, KnowsCharactersOfEveryLength) {
    EXPECT_TRUE(is_utf8(""));
    EXPECT_TRUE(is_utf8("a\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"));
    EXPECT_EQ(utf8_length("a"), 1U);
    EXPECT_EQ(utf8_length("\xC3\xA4 and more"), 2U);
    EXPECT_EQ(utf8_length("\xE2\x82\xAC"), 3U);
    EXPECT_EQ(utf8_length("\xF0\x9F\x98\x80"), 4U);
}

TEST(Utf8, RefusesWhatIsNotWellFormed) {
    for (const char* bytes : {"\x80", "a\xC3", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                              "\xF0\x80\x80\x80", "\xF4\x90\x80\x80", "\xF8\x88", "\xE2\x82"}) {
        EXPECT_FALSE(is_utf8(bytes)) << bytes;
    }
}

} // namespace
} // namespace semel::utf8_test
