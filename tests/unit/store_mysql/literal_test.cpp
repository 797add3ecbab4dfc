#include "databases/mysql/client/literal.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace semel::mysql {
namespace {

using namespace std::string_view_literals;

std::string quoted(std::string_view bytes) {
    std::string made;
    add_quoted(made, bytes);
    return made;
}

TEST(MysqlLiteral, WhatEndsAStringIsEscapedAndNothingElse) {
    EXPECT_EQ(quoted("plain"), "'plain'");
    EXPECT_EQ(quoted(""), "''");
    EXPECT_EQ(quoted("it's"), "'it\\'s'");
    EXPECT_EQ(quoted("a\\"), "'a\\\\'");
    EXPECT_EQ(quoted("\0x"sv), "'\\0x'");
    EXPECT_EQ(quoted("\xff\n\x1a\"`"), "'\xff\n\x1a\"`'");
}

TEST(MysqlLiteral, HexMeansTheSameEverywhere) {
    std::string made;
    add_hex(made, "\0'\xff"sv);
    EXPECT_EQ(made, "x'0027ff'");
}

TEST(MysqlLiteral, NumbersOfEverySize) {
    EXPECT_EQ(number_text(0), "0");
    EXPECT_EQ(number_text(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
    EXPECT_EQ(number_text(std::numeric_limits<std::int64_t>::max()), "9223372036854775807");
}

TEST(MysqlLiteral, AnOwnerComesBack) {
    const owner_id owner{.high = 0x8000000000000001, .low = 0xff00ff00ff00ff00};
    EXPECT_EQ(read_owner(owner_bytes(owner)), owner);
}

TEST(MysqlLiteral, RowsKnowTheirCells) {
    row_buffer rows;
    rows.add_row().add(std::string_view{"a,b"}).add(std::int64_t{-7});
    rows.add_row().add_sql("@n").add(std::optional<fingerprint>{});

    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows.row(0), "'a,b',-7");
    EXPECT_EQ(rows.row(1), "@n,NULL");
    EXPECT_EQ(rows.cell(0, 0), "'a,b'");
    EXPECT_EQ(rows.cell(0, 1), "-7");
    EXPECT_EQ(rows.cell(1, 0), "@n");
    EXPECT_EQ(rows.cell(1, 1), "NULL");
}

TEST(MysqlLiteral, AClearedBufferBeginsAnew) {
    row_buffer rows;
    rows.add_row().add(std::int64_t{1});
    rows.clear();
    rows.add_row().add(std::int64_t{2});

    EXPECT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows.row(0), "2");
}

} // namespace
} // namespace semel::mysql
