#include "edge/api/encoding.hpp"

#include <gtest/gtest.h>

namespace semel::edge::text_test {
namespace {

TEST(CenterText, Base64IsReadAsItIsWritten) {
    for (const std::string bytes : {"", "f", "fo", "foo", "foob", "fooba", "foobar"}) {
        EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
    }
    EXPECT_EQ(to_base64("foobar"), "Zm9vYmFy");
    EXPECT_EQ(to_base64("fooba"), "Zm9vYmE=");
    EXPECT_EQ(to_base64("foob"), "Zm9vYg==");
    EXPECT_EQ(to_base64(std::string{"\x00\xFF\x10", 3}), "AP8Q");
}

TEST(CenterText, OtherSpellingsOfBase64AreRefused) {
    for (const char* wrong : {"Z", "Zg", "Zg=", "Zg= =", "Z===", "====", "=Zg=", "Zh==", "Zm9=",
                              "Zm9v\n", "Zm-v", "Zg==Zg=="}) {
        EXPECT_FALSE(from_base64(wrong)) << wrong;
    }
}

TEST(CenterText, AnAttemptIsOneWord) {
    const claim by{.fence = 0x0123456789ABCDEF, .owner = {.high = ~0ULL, .low = 1}};

    const std::string token = attempt_token(by);

    EXPECT_EQ(token.size(), 32U);
    EXPECT_EQ(token.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                      "0123456789-_"),
              std::string::npos);
    EXPECT_EQ(parse_attempt_token(token), by);
    for (const std::string& wrong : {std::string{}, token + "A", token.substr(1),
                                     std::string(32, '+'), std::string(36, 'A')}) {
        EXPECT_FALSE(parse_attempt_token(wrong)) << wrong;
    }
}

TEST(CenterText, Utf8IsToldFromOtherBytes) {
    for (const char* fine :
         {"", "abc", "\xC3\xBC", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF"}) {
        EXPECT_TRUE(is_utf8(fine)) << fine;
    }
    for (const char* wrong : {"\xFF", "\xC3", "\xC0\x80", "\xE0\x80\x80", "\xED\xA0\x80",
                              "\xF4\x90\x80\x80", "\xF0\x80\x80\x80", "\x80", "\xE2\x82", "\xF5"}) {
        EXPECT_FALSE(is_utf8(wrong)) << wrong;
    }
    EXPECT_TRUE(is_utf8(std::string_view{"\0", 1}));
}

TEST(CenterText, TimesAreRfc3339) {
    const time_point when{std::chrono::microseconds{1'769'860'800'000'007}};

    EXPECT_EQ(rfc3339(when), "2026-01-31T12:00:00.000007Z");
}

TEST(CenterText, EscapesAreBytes) {
    EXPECT_EQ(percent_decoded("a%2Fb%20"), "a/b ");
    for (const char* wrong : {"%", "%2", "%zz", "a%2"}) EXPECT_FALSE(percent_decoded(wrong));
}

} // namespace
} // namespace semel::edge::text_test
