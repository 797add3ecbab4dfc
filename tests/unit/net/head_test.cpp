// Responses as bytes, in and out.
#include <gtest/gtest.h>

#include "net/http1/response.hpp"
#include "net/http1/writer.hpp"

namespace semel::http1::head_test {
namespace {

using by = http::body_framing::by;

std::string why_refused(std::string_view raw) {
    const auto parsed = parse_response(raw, asked_with::other);
    if (const auto* no = std::get_if<refused_response>(&parsed)) return no->why;
    return std::holds_alternative<http::head_incomplete>(parsed) ? "incomplete" : "accepted";
}

response_head head_of(std::string_view raw, asked_with method = asked_with::other) {
    return std::get<parsed_response>(parse_response(raw, method)).head;
}

TEST(ResponseParser, ReadsStatusHeadersAndFraming) {
    const response_head head =
        head_of("HTTP/1.1 201 Made it\r\nContent-Length: 5\r\nX: \t a b \r\n\r\nhello");
    EXPECT_EQ(head.status, 201);
    EXPECT_EQ(*head.headers.find("x"), "a b");
    EXPECT_EQ(head.framing, (http::body_framing{.how = by::length, .length = 5}));
    EXPECT_TRUE(head.keeps_alive());
}

TEST(ResponseParser, KnowsWhenThereIsNoBody) {
    const std::string text = "Content-Length: 5\r\n\r\n";
    EXPECT_TRUE(head_of("HTTP/1.1 200 OK\r\n" + text, asked_with::head).body().done());
    EXPECT_TRUE(head_of("HTTP/1.1 204 OK\r\n" + text).body().done());
    EXPECT_TRUE(head_of("HTTP/1.1 304 OK\r\n" + text).body().done());
    EXPECT_FALSE(head_of("HTTP/1.1 200 OK\r\n" + text).body().done());
    EXPECT_TRUE(head_of("HTTP/1.1 200 OK\r\n\r\n").until_close);
}

TEST(ResponseParser, KnowsWhetherTheConnectionLives) {
    EXPECT_FALSE(head_of("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").keeps_alive());
    EXPECT_FALSE(head_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: x, Close\r\n\r\n")
                     .keeps_alive());
    EXPECT_FALSE(head_of("HTTP/1.1 200 OK\r\n\r\n").keeps_alive());
    const auto kept =
        head_of("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nKeep-Alive: max=9, timeout=5\r\n\r\n");
    EXPECT_EQ(kept.idle_limit(), std::chrono::seconds{5});
}

TEST(ResponseParser, RefusesWhatTwoReadersCouldReadDifferently) {
    EXPECT_EQ(why_refused("HTTP/1.1 200 OK\r\n"), "incomplete");
    for (const std::string text :
         {"HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1  200 OK\r\n\r\n", "HTTP/1.1 200OK\r\n\r\n",
          "HTTP/1.1 999 OK\r\n\r\n", "HTTP/3.1 200 OK\r\n\r\n", "http/1.1 200 OK\r\n\r\n",
          "HTTP/1.1 200 O\x01K\r\n\r\n", "HTTP/1.1 200 OK\nX: 1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nX : 1\r\n\r\n", "HTTP/1.1 200 OK\r\n X: 1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nX: 1\r\n 2\r\n\r\n", "HTTP/1.1 200 OK\r\nX\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
          "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
        const std::string why = why_refused(text);
        EXPECT_TRUE(why != "accepted" && why != "incomplete") << text << why;
    }
}

TEST(HeadWriter, MakesFramingAnew) {
    std::string text;
    write_response_head(text,
                        {.status = 200,
                         .framing = http::body_framing{.how = by::length, .length = 7},
                         .date = "today"},
                        {{"X", "1"},
                         {"Content-Length", "99"},
                         {"Transfer-Encoding", "chunked"},
                         {"Connection", "x"},
                         {"Keep-Alive", "timeout=9"}});
    EXPECT_EQ(text, "HTTP/1.1 200 OK\r\nX: 1\r\nDate: today\r\nContent-Length: 7\r\n\r\n");
}

TEST(HeadWriter, LeavesOutLinesThatCouldBeginAnother) {
    std::string text;
    write_response_head(text, {.status = 204, .then = after::close},
                        {{"A", "1\r\nB: 2"}, {"C\n", "3"}, {"D", "a\x01"}, {"E", "ok"}});
    EXPECT_EQ(text.find("B: 2"), std::string::npos);
    EXPECT_EQ(text.find("C\n"), std::string::npos);
    EXPECT_NE(text.find("E: ok\r\nConnection: close\r\n\r\n"), std::string::npos) << text;
}

TEST(HeadWriter, RequestsKeepTheirHeadersAndGetTheirFraming) {
    std::string text;
    write_request_head(text, "POST", "/x?y", {{"Host", "a"}, {"X", "1"}}, {.how = by::chunks});
    EXPECT_EQ(text, "POST /x?y HTTP/1.1\r\nHost: a\r\nX: 1\r\nTransfer-Encoding: chunked\r\n\r\n");
}

} // namespace
} // namespace semel::http1::head_test
