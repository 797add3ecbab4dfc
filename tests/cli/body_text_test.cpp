#include "body_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace semel::test {
namespace {

using app::harmless;
using app::laid_out;

TEST(BodyText, JsonIsLaidOutWithoutTouchingADigit) {
    EXPECT_EQ(laid_out(R"({"a":12345678901234567890,"b":[1.0,{}],"a":[],"c":"x,{\"y\\"})"),
              R"({
  "a": 12345678901234567890,
  "b": [
    1.0,
    {}
  ],
  "a": [],
  "c": "x,{\"y\\"
})");
    EXPECT_EQ(laid_out(" [ ] "), "[]");
}

TEST(BodyText, WhatIsNoJsonStaysAsItIs) {
    for (const std::string_view text : {"", "plain", "{\"id\": 9", "12", " \"x\" ", "[1,]"}) {
        EXPECT_EQ(laid_out(text), text);
    }
}

TEST(BodyText, NothingSteersTheTerminal) {
    EXPECT_EQ(harmless("a\x1b[2Jb"), "a\\x1b[2Jb");
    EXPECT_EQ(harmless("\x7f\r\b"), "\\x7f\\x0d\\x08");
    EXPECT_EQ(harmless("\xc2\x9b\x32J"), "\\xc2\\x9b2J") << "a control character of two bytes";
    EXPECT_EQ(harmless("a\xe2\x80\xaetxt"), "a\\xe2\\x80\\xaetxt") << "turns the direction";
    EXPECT_EQ(harmless("\xff\xc3"), "\\xff\\xc3");
    EXPECT_EQ(harmless("\xed\xa0\x80"), "\\xed\\xa0\\x80") << "half a surrogate pair";
}

TEST(BodyText, OtherTextStays) {
    const std::string text = "{\"c:\\\\dir\": \"caf\xc3\xa9 \xe7\x8e\x8b\xe5\xba\x9c\xe4\xba\x95 "
                             "\xf0\x9f\x98\x80\"}\n\tx";
    EXPECT_EQ(harmless(text), text);
}

} // namespace
} // namespace semel::test
