#include "net/http1/body.hpp"

#include <gtest/gtest.h>

namespace semel::http1::body_test {
namespace {

using by = http::body_framing::by;

body_reader chunked(const body_limits& limits = {}) {
    return body_reader{{.how = by::chunks}, limits};
}

struct outcome {
    std::string content;
    std::string rest;
    bool done = false, failed = false;
};

// Shows the bytes in steps of `step`, as a connection would bring them.
outcome read_all(body_reader reader, std::string_view raw, std::size_t step = 1'000) {
    outcome got;
    std::string in;
    while (!reader.done() && !reader.failed()) {
        const auto piece = reader.take(in);
        got.content.append(piece.content);
        in.erase(0, piece.used);
        if (piece.used > 0) continue;
        if (raw.empty()) break;
        in.append(raw.substr(0, step));
        raw.remove_prefix(std::min(step, raw.size()));
    }
    got.rest = in + std::string{raw};
    got.done = reader.done();
    got.failed = reader.failed();
    return got;
}

TEST(BodyReader, WithoutABodyIsDoneAtOnce) {
    EXPECT_TRUE(body_reader{}.done());
    EXPECT_TRUE((body_reader{{.how = by::length, .length = 0}}).done());
}

TEST(BodyReader, TakesExactlyItsLength) {
    const outcome got = read_all(body_reader{{.how = by::length, .length = 5}}, "hellonext");
    EXPECT_TRUE(got.done);
    EXPECT_EQ(got.content, "hello");
    EXPECT_EQ(got.rest, "next");
}

TEST(BodyReader, TakesChunkExtensions) {
    for (const std::string line :
         {"5;a", "5;a=b", "5;a=\"b c;\\\"=\"", "5; a = b ;c=\"\"", "5;a;b;c=1"}) {
        EXPECT_EQ(read_all(chunked(), line + "\r\nhello\r\n0;z\r\n\r\n").content, "hello") << line;
    }
}

TEST(BodyReader, RefusesWhatIsNoChunkExtension) {
    for (const std::string line :
         {"5;", "5;;a", "5;bad[=x", "5;a=", "5;a=\"b", "5;a=b c", "5;=b", "5;a;", "5;a ", "5; ",
          "5 ;a=b", "5a;\"q\"", "5;a=\"b\\\"", "5;a=\"b\"c"}) {
        const outcome got = read_all(chunked(), line + "\r\nhello\r\n0\r\n\r\n");
        EXPECT_TRUE(got.failed) << line;
        EXPECT_EQ(got.content, "") << line;
    }
}

TEST(BodyReader, JoinsChunksWhereverTheBytesAreCut) {
    const std::string raw =
        "5\r\nhello\r\nA;x=\"1\"\r\n, big worl\r\n1\r\nd\r\n0\r\nT: 1\r\n\r\nnext";
    for (std::size_t step = 1; step < raw.size(); ++step) {
        const outcome got = read_all(chunked(), raw, step);
        EXPECT_TRUE(got.done) << step;
        EXPECT_EQ(got.content, "hello, big world") << step;
        EXPECT_EQ(got.rest, "next") << step;
    }
}

TEST(BodyReader, TheEndIsSeenTogetherWithTheLastContent) {
    body_reader reader = chunked();
    const auto piece = reader.take("2\r\nab\r\n0\r\n\r\n");
    EXPECT_EQ(piece.content, "ab");
    EXPECT_TRUE(reader.done());
}

TEST(BodyReader, RefusesWhatIsNotAChunk) {
    for (const std::string raw :
         {"\r\n", "g\r\n", "-1\r\n", "+1\r\n", "0x1\r\n", " 1\r\n", "1 \r\n", "1\n", "1,\r\n",
          "11111111111111111\r\n", "ffffffffffffffff\r\n", "1\r\nab\r\n", "1\r\na\n", "1\r\nax",
          "0\r\nnocolon\r\n", "0\r\n : 1\r\n", "0\r\nA: \x01\r\n", "0\r\nA: 1\n"}) {
        EXPECT_TRUE(read_all(chunked(), raw).failed) << raw;
        EXPECT_TRUE(read_all(chunked(), raw, 1).failed) << raw;
    }
}

TEST(BodyReader, ExtensionsAndTrailersAreBounded) {
    const body_limits limits{
        .chunk_line_bytes_max = 32, .extension_bytes_max = 40, .trailer_bytes_max = 40};
    EXPECT_TRUE(read_all(chunked(limits), "1;" + std::string(31, 'x') + "\r\na\r\n").failed);
    EXPECT_TRUE(read_all(chunked(limits), "1;" + std::string(50, 'x')).failed); // without its end
    std::string many;
    for (int i = 0; i < 3; ++i) many += "1;" + std::string(20, 'x') + "\r\na\r\n";
    EXPECT_TRUE(read_all(chunked(limits), many).failed);
    EXPECT_TRUE(read_all(chunked(limits), "0\r\nA: 1\r\nB: 2\r\n\r\n").done);
    std::string trailers = "0\r\n";
    for (int i = 0; i < 9; ++i) trailers += "A: 1\r\n";
    EXPECT_TRUE(read_all(chunked(limits), trailers + "\r\n").failed);
}

TEST(BodyReader, UntilCloseEndsWithTheConnectionAndNothingElseDoes) {
    body_reader open = body_reader::until_close();
    EXPECT_EQ(open.take("abc").content, "abc");
    open.on_close();
    EXPECT_TRUE(open.done());

    body_reader cut{{.how = by::length, .length = 5}};
    (void)cut.take("abc");
    cut.on_close();
    EXPECT_TRUE(cut.failed());
}

} // namespace
} // namespace semel::http1::body_test
