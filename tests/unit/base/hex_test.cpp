#include "base/hex.hpp"

#include <gtest/gtest.h>

namespace semel::hex_test {
namespace {

TEST(Hex, IsReadAsItIsWritten) {
    for (const std::string& bytes : {std::string{}, std::string{"a"}, std::string{"\0\xFF z", 4}}) {
        EXPECT_EQ(from_hex(to_hex(bytes)), bytes);
    }
    EXPECT_EQ(to_hex("\x0A\xFE"), "0afe");
}

TEST(Hex, OneTextStandsForTheSameBytes) {
    for (const char* text : {"0", "0A", "0g", " 0", "0x", "0a0"}) {
        EXPECT_EQ(from_hex(text), std::nullopt) << text;
    }
}

TEST(Hex, EscapesAllButUnreservedBytes) {
    EXPECT_EQ(percent_escaped("aZ09-._"), "aZ09-._");
    EXPECT_EQ(percent_escaped("a b/%~\xC3\xA4"), "a%20b%2F%25%7E%C3%A4");
}

} // namespace
} // namespace semel::hex_test
