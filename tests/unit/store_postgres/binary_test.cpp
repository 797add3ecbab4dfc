#include "databases/postgres/client/binary.hpp"

#include <gmock/gmock.h>

namespace semel::postgres {
namespace {

using namespace std::string_view_literals;

TEST(PostgresBinary, AnArrayOfIntegersHasAHeaderAndItsElements) {
    column made{type::int8};
    made.add(std::int64_t{-2});
    made.add_null();

    EXPECT_EQ(made.bytes(), "\0\0\0\1"         // one dimension
                            "\0\0\0\1"         // with nulls
                            "\0\0\0\x14"       // of int8
                            "\0\0\0\2\0\0\0\1" // two of them, counted from 1
                            "\0\0\0\x8\xff\xff\xff\xff\xff\xff\xff\xfe"
                            "\xff\xff\xff\xff"sv);
}

TEST(PostgresBinary, AnEmptyArrayHasNoDimension) {
    EXPECT_EQ(column{type::bytea}.bytes(), "\0\0\0\0\0\0\0\0\0\0\0\x11"sv);
}

TEST(PostgresBinary, AnArrayOfNullsAloneIsNull) {
    column made{type::bytea};
    made.add_null();
    made.add_null();
    EXPECT_EQ(made.bytes().data(), nullptr);

    made.add("a"sv);
    EXPECT_EQ(made.bytes(), "\0\0\0\1\0\0\0\1\0\0\0\x11\0\0\0\3\0\0\0\1"
                            "\xff\xff\xff\xff\xff\xff\xff\xff\0\0\0\1a"sv);
}

TEST(PostgresBinary, WhatIsMostlyEmptyIsNullWhereItIs) {
    column_group made{{type::bytea, type::bytea}};
    made.add("a"sv).add_unless_empty("").add("b"sv).add_unless_empty("");
    EXPECT_EQ(made.columns()[1].bytes().data(), nullptr);

    made.clear();
    made.add("a"sv).add_unless_empty("x");
    EXPECT_EQ(read_array(made.columns()[1].bytes()), std::vector{"x"sv});
}

TEST(PostgresBinary, ABinaryStringMayHoldAnyByte) {
    column made{type::bytea};
    made.add("a\0b"sv);
    made.add(""sv);

    const auto read = read_array(made.bytes());

    ASSERT_EQ(read.size(), 2U);
    EXPECT_EQ(read[0], "a\0b"sv);
    EXPECT_EQ(read[1], "");
}

TEST(PostgresBinary, AnArrayThatIsCutShortIsNoArray) {
    column made{type::bytea};
    made.add("abc"sv);

    EXPECT_TRUE(read_array(made.bytes().substr(0, 10)).empty());
    EXPECT_TRUE(read_array(made.bytes().substr(0, made.bytes().size() - 1)).empty());
}

TEST(PostgresBinary, ValuesOfARowStandByThemselves) {
    value_row made;
    made.add(std::int64_t{1}).add(""sv).add_null().add("ab"sv);

    std::vector<std::string_view> values;
    made.append_to(values);

    EXPECT_THAT(values, testing::ElementsAre("\0\0\0\0\0\0\0\1"sv, ""sv, ""sv, "ab"sv));
    EXPECT_NE(values[1].data(), nullptr);
    EXPECT_EQ(values[2].data(), nullptr);
}

// As the server sends '2026-11-17 05:00:00.000001+00'::timestamptz.
TEST(PostgresBinary, ATimestampCountsFromTheYear2000) {
    using namespace std::chrono;
    const time_point when = sys_days{2026y / November / 17} + 5h + 1us;

    EXPECT_EQ(read_timestamp("\0\x3\x3\x70\x89\x2\x94\1"sv), when);
}

// As the server sends ROW(7::smallint, NULL::bytea, 'ab'::bytea).
constexpr auto a_row = "\0\0\0\3"
                       "\0\0\0\x15\0\0\0\2\0\7"
                       "\0\0\0\x11\xff\xff\xff\xff"
                       "\0\0\0\x11\0\0\0\2ab"sv;

TEST(PostgresBinary, TheFieldsOfARowComeBack) {
    const auto read = read_row(a_row);

    ASSERT_EQ(read.size(), 3U);
    EXPECT_EQ(read_integer(read[0]), 7);
    EXPECT_EQ(read[1].data(), nullptr);
    EXPECT_EQ(read[2], "ab");
}

TEST(PostgresBinary, ARowThatIsCutShortIsNoRow) {
    for (std::size_t size = 0; size < a_row.size(); ++size) {
        EXPECT_TRUE(read_row(a_row.substr(0, size)).empty()) << size;
    }
}

TEST(PostgresBinary, AnOwnerComesBack) {
    const owner_id owner{.high = 0x0102030405060708, .low = 0xfffefdfcfbfaf9f8};
    column made{type::uuid};
    made.add(owner);

    EXPECT_EQ(read_owner(made.bytes().substr(24)), owner);
}

TEST(PostgresBinary, IntegersOfEverySizeKeepTheirSign) {
    EXPECT_EQ(read_integer("\xff\xfe"sv), -2);
    EXPECT_EQ(read_integer("\0\0\x1\0"sv), 256);
    EXPECT_EQ(read_integer("\x80\0\0\0\0\0\0\0"sv), std::numeric_limits<std::int64_t>::min());
}

TEST(PostgresBinary, AGroupIsFilledRowByRowAndCanBeUsedAgain) {
    column_group made{{type::bytea, type::xid}};
    made.add("old"sv).add_version(1);
    made.clear();
    made.add("a"sv).add_version(7).add("b"sv).add_version(8);

    const auto names = read_array(made.columns()[0].bytes());
    const auto versions = read_array(made.columns()[1].bytes());

    EXPECT_EQ(names, (std::vector{"a"sv, "b"sv}));
    EXPECT_EQ(versions, (std::vector{"\0\0\0\7"sv, "\0\0\0\x8"sv}));
}

} // namespace
} // namespace semel::postgres
