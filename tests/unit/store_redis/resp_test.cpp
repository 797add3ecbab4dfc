#include "databases/redis/client/resp.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace semel::redis {
namespace {

using type = value::type;

value whole(std::string_view input) {
    value made;
    const parsed got = parse(input, made);
    EXPECT_EQ(got.status, parse_status::complete) << got.why;
    EXPECT_EQ(got.bytes, input.size());
    return made;
}

std::string_view why_broken(std::string_view input, const parse_limits& limits = {}) {
    value made;
    const parsed got = parse(input, made, limits);
    EXPECT_EQ(got.status, parse_status::broken) << input;
    return got.why;
}

bool same(const value& a, const value& b) {
    if (a.kind != b.kind || a.text != b.text || a.items.size() != b.items.size()) return false;
    if (a.is(type::integer) && a.integer != b.integer) return false;
    for (std::size_t i = 0; i < a.items.size(); ++i) {
        if (!same(a.items[i], b.items[i])) return false;
    }
    return true;
}

TEST(Resp, ReadsEveryTypeOfReply) {
    EXPECT_EQ(whole("+OK\r\n").text, "OK");
    EXPECT_EQ(whole("-NOSCRIPT No matching script\r\n").text, "NOSCRIPT No matching script");
    EXPECT_TRUE(whole("-ERR\r\n").is(type::error));
    EXPECT_EQ(whole(":-9223372036854775808\r\n").integer, INT64_MIN);
    EXPECT_EQ(whole(":9223372036854775807\r\n").integer, INT64_MAX);
    EXPECT_TRUE(whole("$-1\r\n").is(type::nil));
    EXPECT_TRUE(whole("*-1\r\n").is(type::nil));
    EXPECT_TRUE(whole("*0\r\n").is(type::array));
}

TEST(Resp, StringsMayHoldAnyBytes) {
    using namespace std::string_literals;

    const value empty = whole("$0\r\n\r\n");
    const std::string bytes = "$7\r\na\r\nb\0\xFF$\r\n"s;
    const value binary = whole(bytes);

    EXPECT_TRUE(empty.is(type::bulk));
    EXPECT_EQ(empty.text, "");
    EXPECT_EQ(binary.text, "a\r\nb\0\xFF$"s);
}

TEST(Resp, ArraysHoldArrays) {
    const value got = whole("*3\r\n:1\r\n*2\r\n$1\r\nx\r\n$-1\r\n+y\r\n");

    ASSERT_EQ(got.items.size(), 3U);
    ASSERT_EQ(got.items[1].items.size(), 2U);
    EXPECT_EQ(got.items[1].items[0].text, "x");
    EXPECT_TRUE(got.items[1].items[1].is(type::nil));
    EXPECT_EQ(got.items[2].text, "y");
}

TEST(Resp, TakesOnlyTheFirstReply) {
    value made;

    const parsed got = parse(":1\r\n:2\r\n", made);

    EXPECT_EQ(got.bytes, 4U);
    EXPECT_EQ(made.integer, 1);
}

TEST(Resp, EveryBeginningOfAReplyIsIncompleteAndAsksForMore) {
    const std::string input = "*3\r\n$11\r\nhello\r\nworl\r\n*1\r\n:42\r\n-ERR no\r\n";
    for (std::size_t size = 0; size < input.size(); ++size) {
        value made;

        const parsed got = parse(std::string_view{input}.substr(0, size), made);

        ASSERT_EQ(got.status, parse_status::incomplete) << size;
        ASSERT_GT(got.bytes, size);
        ASSERT_LE(got.bytes, input.size()) << "asks for more than there is";
    }
    EXPECT_EQ(whole(input).items.size(), 3U);
}

TEST(Resp, AnAnnouncedStringIsAskedForAtOnce) {
    value made;

    const parsed got = parse("$1000000\r\nx", made);

    EXPECT_EQ(got.bytes, std::string_view{"$1000000\r\n"}.size() + 1'000'002);
}

TEST(Resp, WhatIsNoReplyIsBroken) {
    EXPECT_EQ(why_broken("HTTP/1.1 400 Bad Request\r\n"), "a reply of unknown type");
    EXPECT_EQ(why_broken("\r\n"), "an empty line");
    EXPECT_EQ(why_broken(":12x\r\n"), "an integer that is none");
    EXPECT_EQ(why_broken(":\r\n"), "an integer that is none");
    EXPECT_EQ(why_broken(":9223372036854775808\r\n"), "an integer that is none");
    EXPECT_EQ(why_broken("$-2\r\n"), "a length that is none");
    EXPECT_EQ(why_broken("$99999999999999999999\r\n"), "a length that is none");
    EXPECT_EQ(why_broken("*1e3\r\n"), "a length that is none");
    EXPECT_EQ(why_broken("$3\r\nabcde"), "a string without its end");
}

TEST(Resp, EverythingHasALimit) {
    const parse_limits limits{
        .depth_max = 3, .items_max = 10, .line_bytes_max = 20, .bulk_bytes_max = 100};

    EXPECT_EQ(why_broken("*1\r\n*1\r\n*1\r\n:1\r\n", limits), "arrays too deep in one another");
    EXPECT_EQ(why_broken("*11\r\n", limits), "an array over the limit");
    EXPECT_EQ(why_broken("$101\r\n", limits), "a string over the limit");
    EXPECT_EQ(why_broken("+" + std::string(30, 'x'), limits), "a line over the limit");
    EXPECT_EQ(why_broken("$9223372036854775807\r\n"), "a string over the limit");
    value made;
    EXPECT_EQ(parse("*2\r\n*1\r\n:1\r\n$100\r\n", made, limits).status, parse_status::incomplete);
}

// ---- fuzz: random replies, cut anywhere, and random damage

class replies {
public:
    explicit replies(unsigned seed) : random_(seed) {}

    std::size_t below(std::size_t bound) { return random_() % bound; }

    std::string one(int depth = 0) {
        switch (below(depth < 4 ? 6 : 5)) {
        case 0: return "+status" + std::to_string(below(100)) + "\r\n";
        case 1: return "-ERR some words\r\n";
        case 2: return ":" + std::to_string(static_cast<std::int64_t>(random_())) + "\r\n";
        case 3: return "$-1\r\n";
        case 4: {
            std::string bytes;
            for (std::size_t i = below(40); i > 0; --i) bytes += static_cast<char>(below(256));
            return "$" + std::to_string(bytes.size()) + "\r\n" + bytes + "\r\n";
        }
        default: {
            const std::size_t count = below(5);
            std::string made = "*" + std::to_string(count) + "\r\n";
            for (std::size_t i = 0; i < count; ++i) made += one(depth + 1);
            return made;
        }
        }
    }

private:
    std::mt19937_64 random_;
};

TEST(RespFuzz, RepliesInPiecesAreTheRepliesInOne) {
    for (unsigned seed = 1; seed <= 2'000; ++seed) {
        replies source{seed};
        const std::string input = source.one();
        const value expected = whole(input);
        value made; // reused, as a connection does
        std::size_t size = 0;
        while (true) {
            size = std::min(input.size(), size + 1 + source.below(8));
            const parsed got = parse(std::string_view{input}.substr(0, size), made);
            if (got.status == parse_status::complete) break;
            ASSERT_EQ(got.status, parse_status::incomplete) << seed;
            ASSERT_LT(size, input.size()) << seed;
        }
        ASSERT_TRUE(same(made, expected)) << seed;
    }
}

TEST(RespFuzz, DamagedRepliesNeverReachPastTheirEnd) {
    std::size_t broken = 0;
    for (unsigned seed = 1; seed <= 20'000; ++seed) {
        replies source{seed};
        std::string input = source.one();
        for (std::size_t i = 1 + source.below(3); i > 0; --i) {
            input[source.below(input.size())] = "\r\n*$:+-0123456789"[source.below(16)];
        }
        value made;

        const parsed got = parse(input, made);

        if (got.status == parse_status::complete) {
            ASSERT_LE(got.bytes, input.size()) << seed;
        }
        if (got.status == parse_status::incomplete) {
            ASSERT_GT(got.bytes, input.size()) << seed;
        }
        if (got.status == parse_status::broken) ++broken;
    }
    EXPECT_GT(broken, 1'000U);
}

TEST(Resp, RequestsAreArraysOfStrings) {
    using namespace std::string_literals;
    std::string made;

    append_request(made, 3);
    append_part(made, "SET");
    append_part(made, "k\r\n\0"s);
    append_part(made, std::int64_t{-12});

    EXPECT_EQ(made, "*3\r\n$3\r\nSET\r\n$4\r\nk\r\n\0\r\n$3\r\n-12\r\n"s);
}

} // namespace
} // namespace semel::redis
