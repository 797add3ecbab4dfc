// Hostile heads, as bytes. Each is refused with the named fault; what a careful client sends is
// not.
#include "semel/http/message.hpp"

#include <gtest/gtest.h>

namespace semel::http::framing_test {
namespace {

using namespace std::string_literals;

using verdict = std::variant<body_framing, head_incomplete, refused_head>;

// As a gateway does it: parse, then check.
verdict judged(std::string_view raw, const head_options& options = {}) {
    const auto parsed = parse_head(raw, options.limits);
    if (const auto* no = std::get_if<refused_head>(&parsed)) return *no;
    if (std::holds_alternative<head_incomplete>(parsed)) return head_incomplete{};
    const auto checked = check_head(std::get<parsed_head>(parsed).head, options);
    if (const auto* no = std::get_if<refused_head>(&checked)) return *no;
    return std::get<body_framing>(checked);
}

std::string fault_of(const std::string& raw, const head_options& options = {}) {
    const verdict got = judged(raw, options);
    if (const auto* no = std::get_if<refused_head>(&got)) return std::string{name(no->fault)};
    return std::holds_alternative<head_incomplete>(got) ? "incomplete" : "accepted";
}

int status_of_refusal(const std::string& raw, const head_options& options = {}) {
    const verdict got = judged(raw, options);
    const auto* no = std::get_if<refused_head>(&got);
    return no != nullptr ? no->status : 0;
}

// A POST with these header lines after Host.
std::string post(const std::string& lines) {
    return "POST /orders HTTP/1.1\r\nHost: a\r\n" + lines + "\r\n";
}

struct hostile {
    std::string raw;
    std::string_view fault;
};

void expect_refused(const std::vector<hostile>& heads) {
    for (const hostile& one : heads) EXPECT_EQ(fault_of(one.raw), one.fault) << one.raw;
}

TEST(Framing, RequestLines) {
    expect_refused({
        {"POST  /x HTTP/1.1\r\nHost: a\r\n\r\n", "request_line"},
        {"POST\t/x\tHTTP/1.1\r\nHost: a\r\n\r\n", "request_line"},
        {"POST /x  HTTP/1.1\r\nHost: a\r\n\r\n", "request_line"},
        {"POST /x HTTP/1.1 \r\nHost: a\r\n\r\n", "request_line"},
        {" POST /x HTTP/1.1\r\nHost: a\r\n\r\n", "request_line"},
        {"\r\nPOST /x HTTP/1.1\r\nHost: a\r\n\r\n", "request_line"},
        {"POST /x\r\nHost: a\r\n\r\n", "request_line"},
        {"POST /x http/1.1\r\nHost: a\r\n\r\n", "request_line"},
        {"POST /x HTTP/1\r\nHost: a\r\n\r\n", "request_line"},
        {"POST /x HTTPS/1.1\r\nHost: a\r\n\r\n", "request_line"},
        {"POST /x HTTP/1.1x\r\nHost: a\r\n\r\n", "request_line"},
        {"\r\n\r\n", "request_line"},
        {"POST /x HTTP/1.2\r\nHost: a\r\n\r\n", "version"},
        {"POST /x HTTP/2.0\r\nHost: a\r\n\r\n", "version"},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "version"},
        {"POST /x HTTP/0.9\r\nHost: a\r\n\r\n", "version"},
        {"PO(ST /x HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
        {"P\0ST /x HTTP/1.1\r\nHost: a\r\n\r\n"s, "method"},
        {std::string(33, 'P') + " /x HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
        {"TRACE /x HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
        {"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", "method"},
    });
    EXPECT_EQ(status_of_refusal("POST /x HTTP/2.0\r\nHost: a\r\n\r\n"), 505);
}

TEST(Framing, Targets) {
    const auto to = [](const std::string& target) {
        return "POST " + target + " HTTP/1.1\r\nHost: a\r\n\r\n";
    };
    for (const std::string& target : {"http://169.254.169.254/x"s,
                                      "https://a/x"s,
                                      "//evil/x"s,
                                      "@evil/x"s,
                                      "*"s,
                                      "orders"s,
                                      "/x\xFF"s,
                                      "/x\x7F"s,
                                      "/x\x01"s,
                                      "/a\0b"s,
                                      "/x#frag"s,
                                      "/a\\b"s,
                                      "/a/../b"s,
                                      "/a/..;/b"s,
                                      "/a/.;x=1/b"s,
                                      "/.."s,
                                      "/a/./b"s,
                                      "/%2e%2e/b"s,
                                      "/a/%2E%2e"s,
                                      "/a%2f..%2fb"s,
                                      "/a%"s,
                                      "/a%2"s,
                                      "/a%zz"s,
                                      "/a%00b"s,
                                      "?x=1"s,
                                      "a:443"s}) {
        EXPECT_EQ(fault_of(to(target)), "target") << target;
    }
    for (const std::string& target :
         {"/"s, "/orders"s, "/orders/"s, "/a//b"s, "/a?x=../y"s, "/a?q=100%"s, "/%C3%BC"s,
          "/a/...b"s, "/a/.well-known"s, "/a?u=http://b/c"s, "/a@b:c;d=e,f"s}) {
        EXPECT_EQ(fault_of(to(target)), "accepted") << target;
    }
}

TEST(Framing, LineEndsAndFolding) {
    expect_refused({
        {"POST /x HTTP/1.1\nHost: a\n\n", "line_ending"},
        {"POST /x HTTP/1.1\r\nHost: a\nX: b\r\n\r\n", "line_ending"},
        {"POST /x HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", "line_ending"},
        {"POST /x HTTP/1.1\r\nHost: a\r\n\n", "line_ending"},
        {"POST /x HTTP/1.1\r\nHost: a\r\r\n\r\n", "line_ending"},
        {post("Idempotency-Key: a\r\n b\r\n"), "folded"},
        {post("Idempotency-Key: a\r\n\tb\r\n"), "folded"},
        {post("Transfer-Encoding:\r\n chunked\r\n"), "folded"},
        {"POST /x HTTP/1.1\r\n Host: a\r\n\r\n", "folded"},
        {post(" \r\n"), "folded"},
    });
}

TEST(Framing, HeaderNamesAndValues) {
    expect_refused({
        {post("X : b\r\n"), "header_name"},
        {post("X\t: b\r\n"), "header_name"},
        {post("X Y: b\r\n"), "header_name"},
        {post("no colon\r\n"), "header_name"},
        {post(": b\r\n"), "header_name"},
        {post("X\xC3\xBC: b\r\n"), "header_name"},
        {post("X(Y): b\r\n"), "header_name"},
        {post("X\0: b\r\n"s), "header_name"},
        {post("Content-Length : 3\r\n"), "header_name"},
        {post("X: a\0b\r\n"s), "header_value"},
        {post("X: a\x0B\r\n"), "header_value"},
        {post("X: a\x0C\r\n"), "header_value"},
        {post("X: \x1B[31m\r\n"), "header_value"},
        {post("X: a\x7F\r\n"), "header_value"},
    });
    EXPECT_EQ(fault_of(post("X: a\tb\r\nY:\r\nZ: \xC3\xBC\r\n")), "accepted");
}

TEST(Framing, Hosts) {
    const auto with = [](const std::string& lines) {
        return "POST /x HTTP/1.1\r\n" + lines + "\r\n";
    };
    for (const char* lines :
         {"", "Host:\r\n", "Host: a\r\nHost: a\r\n", "Host: a\r\nhost: b\r\n", "Host: a, b\r\n",
          "Host: a b\r\n", "Host: user@a\r\n", "Host: a/b\r\n", "Host: http://a\r\n",
          "Host: a:b\r\n", "Host: a:123456\r\n", "Host: [::1\r\n", "Host: [x]\r\n", "Host: []\r\n",
          "Host: [::1]x\r\n", "Host: a%20b\r\n", "Host: \xC3\xBC\r\n", "Host: :80\r\n"}) {
        EXPECT_EQ(fault_of(with(lines)), "host") << lines;
    }
    for (const char* lines : {"Host: a\r\n", "host: a.example:8080\r\n", "Host: 127.0.0.1\r\n",
                              "Host: [::1]:80\r\n", "Host: [2001:db8::1]\r\n", "Host: a_b-c\r\n"}) {
        EXPECT_EQ(fault_of(with(lines)), "accepted") << lines;
    }
}

TEST(Framing, OnlyHostsOfTheListAreServed) {
    const head_options ours{.hosts = {"api.example", "api.example:8080"}};

    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nHost: API.example\r\n\r\n", ours), "accepted");
    EXPECT_EQ(fault_of("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", ours), "host");
    EXPECT_EQ(status_of_refusal("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", ours), 421);
}

// A page on the Internet may let its own name point at this machine, and then read what it answers.
TEST(Framing, NamesOfOthersAreRefusedWhereOnesOwnAreGiven) {
    const head_options ours{.names = {{"semel.example", "0.0.0.0"}}};
    const auto status = [&](const std::string& host) {
        return status_of_refusal("GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", ours);
    };

    for (const std::string host :
         {"127.0.0.1", "10.1.2.3:7071", "[::1]", "[fd00::1]:7071", "localhost", "localhost:7071",
          "semel", "semel:80", "semel.example", "Semel.Example:7071"}) {
        EXPECT_EQ(status(host), 0) << host;
    }
    for (const std::string host : {"evil.example", "evil.example:7071", "127.0.0.1.evil.example",
                                   "semel.example.evil", "1.2.3.4x", "localhost."}) {
        EXPECT_EQ(status(host), 421) << host;
    }
}

TEST(Framing, ContentLengths) {
    for (const char* lines :
         {"Content-Length:\r\n", "Content-Length: +3\r\n", "Content-Length: -1\r\n",
          "Content-Length: 0x3\r\n", "Content-Length: 3, 4\r\n", "Content-Length: 3, 3\r\n",
          "Content-Length: 3\r\nContent-Length: 3\r\n",
          "Content-Length: 3\r\nContent-Length: 4\r\n", "Content-Length: 03\r\n",
          "Content-Length: 00\r\n", "Content-Length: 3 4\r\n", "Content-Length: 3.0\r\n",
          "Content-Length: 1e3\r\n", "Content-Length: three\r\n",
          "Content-Length: 99999999999999999999999\r\n", "Content-Length: 18446744073709551616\r\n",
          "Content-Length: \xEF\xBC\x93\r\n", "Content-Length: 3;x\r\n"}) {
        EXPECT_EQ(fault_of(post(lines)), "content_length") << lines;
    }
    const verdict zero = judged(post("Content-Length: 0\r\n"));
    const verdict some = judged(post("content-length:  12 \r\n"));
    EXPECT_EQ(std::get<body_framing>(zero), (body_framing{.how = body_framing::by::length}));
    EXPECT_EQ(std::get<body_framing>(some),
              (body_framing{.how = body_framing::by::length, .length = 12}));
    EXPECT_EQ(std::get<body_framing>(judged(post(""))), body_framing{});
}

TEST(Framing, TransferEncodings) {
    for (const char* lines :
         {"Transfer-Encoding: gzip\r\n", "Transfer-Encoding: identity\r\n",
          "Transfer-Encoding: xchunked\r\n", "Transfer-Encoding: chunked, identity\r\n",
          "Transfer-Encoding: gzip, chunked\r\n", "Transfer-Encoding: chunked, chunked\r\n",
          "Transfer-Encoding: \"chunked\"\r\n", "Transfer-Encoding: chunked;q=1\r\n",
          "Transfer-Encoding:\r\n",
          "Transfer-Encoding: \x0B"
          "chunked\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
          "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
          "Transfer-Encoding: gzip\r\nContent-Length: 3\r\n",
          "Transfer-Encoding: identity\r\nContent-Length: 3\r\n",
          "Transfer-Encoding: xchunked\r\nContent-Length: 3\r\n"}) {
        const std::string fault = fault_of(post(lines));
        EXPECT_TRUE(fault == "transfer_encoding" || fault == "header_value") << lines;
    }
    expect_refused({
        {post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), "content_length"},
        {post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), "content_length"},
        {"POST /x HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "transfer_encoding"},
    });
    EXPECT_EQ(std::get<body_framing>(judged(post("Transfer-Encoding: Chunked\r\n"))),
              (body_framing{.how = body_framing::by::chunks}));
    EXPECT_EQ(fault_of("POST /x HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\n\r\n"), "accepted");
}

TEST(Framing, HeadersThatComeOnceOrMustReachTheOtherEnd) {
    expect_refused({
        {post("Content-Type: a/b\r\nContent-Type: c/d\r\n"), "repeated"},
        {post("Authorization: Bearer a\r\nauthorization: Bearer b\r\n"), "repeated"},
        {post("Expect: 100-continue\r\nExpect: 100-continue\r\n"), "repeated"},
        {post("Connection: close, Idempotency-Key\r\n"), "connection"},
        {post("Connection: Host\r\n"), "connection"},
        {post("Connection: close\r\nConnection: content-length\r\n"), "connection"},
        {post("Connection: Authorization\r\n"), "connection"},
        {post("Connection: Upgrade\r\nUpgrade: websocket\r\n"), "upgrade"},
        {post("Upgrade: h2c\r\n"), "upgrade"},
        {post("Expect: 200-ok\r\n"), "expectation"},
        {post("Expect:\r\n"), "expectation"},
    });
    EXPECT_EQ(status_of_refusal(post("Expect: 200-ok\r\n")), 417);
    EXPECT_EQ(fault_of(post("Connection: keep-alive, X-Private\r\nX-Private: 1\r\n"
                            "Expect: 100-Continue\r\nUpgrade-Insecure-Requests: 1\r\n")),
              "accepted");
    EXPECT_EQ(fault_of(post("Connection: X-Tenant\r\n"), {.vital = {"X-Tenant"}}), "connection");
}

TEST(Framing, Limits) {
    const head_limits limits;
    const std::string long_target = "GET /" + std::string(limits.target_bytes_max, 'x');
    std::string many;
    for (std::size_t i = 0; i < limits.headers_max; ++i) many += "X: y\r\n";

    EXPECT_EQ(status_of_refusal(long_target + " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    EXPECT_EQ(status_of_refusal(post(many)), 431); // and Host is one more
    EXPECT_EQ(status_of_refusal(post("X: " + std::string(limits.head_bytes_max, 'x') + "\r\n")),
              431);
    EXPECT_EQ(status_of_refusal(std::string(limits.head_bytes_max + 1, 'G')), 431); // never ends
    EXPECT_EQ(fault_of(std::string(100, 'G')), "incomplete");
}

TEST(Framing, AFrameworksHeadIsHeldToTheSameLimits) {
    request_head head{.method = "GET", .target = "/", .headers = {{"Host", "a"}}};
    head.headers.add("X", std::string(head_limits{}.head_bytes_max, 'x'));

    EXPECT_EQ(std::get<refused_head>(check_head(head)).status, 431);
}

// Whatever the framework made of them: names and values are looked at again.
TEST(Framing, AFrameworksHeadIsHeldToTheSameNamesAndValues) {
    const auto fault = [](std::string name, std::string value) {
        const request_head head{.method = "POST",
                                .target = "/",
                                .headers = {{"Host", "a"}, {std::move(name), std::move(value)}}};
        const auto got = check_head(head);
        return std::holds_alternative<refused_head>(got) ? std::get<refused_head>(got).fault
                                                         : head_fault::version;
    };

    EXPECT_EQ(fault("X", "a\r\nSet-Cookie: b"), head_fault::header_value);
    EXPECT_EQ(fault("X\r\nY", "a"), head_fault::header_name);
    EXPECT_EQ(fault("", "a"), head_fault::header_name);
}

TEST(Framing, EveryPrefixIsIncompleteAndTrailersNeverBecomeHeaders) {
    const std::string head = post("Transfer-Encoding: chunked\r\n");
    const std::string raw = head + "0\r\nIdempotency-Key: stolen\r\nAuthorization: x\r\n\r\n";
    for (std::size_t size = 0; size < head.size(); ++size) {
        EXPECT_EQ(fault_of(raw.substr(0, size)), "incomplete") << size;
    }

    const auto parsed = std::get<parsed_head>(parse_head(raw));

    EXPECT_EQ(parsed.size, head.size());
    EXPECT_EQ(parsed.head.headers.size(), 2U);
    EXPECT_FALSE(parsed.head.headers.contains("Idempotency-Key"));
    EXPECT_FALSE(parsed.head.headers.contains("Authorization"));
}

TEST(Framing, WhatFollowsTheHeadIsNotLookedAt) {
    EXPECT_EQ(fault_of(post("Content-Length: 4\r\n") + "a\nb\0"s), "accepted");
}

TEST(Framing, RawBytesShowWhatAParserHides) {
    const auto fault = [](const std::string& raw) {
        const auto got = find_raw_fault(raw);
        return std::holds_alternative<refused_head>(got)
                   ? std::string{name(std::get<refused_head>(got).fault)}
                   : "none"s;
    };

    EXPECT_EQ(fault(post("X: a\r\n b\r\n")), "folded");
    EXPECT_EQ(fault(post("X : a\r\n")), "header_name");
    EXPECT_EQ(fault(post("X: a\nY: b\r\n")), "line_ending");
    EXPECT_EQ(fault(post("X: a\0\r\n"s)), "header_value");
    EXPECT_EQ(fault(post("X: a\r\n") + "body\nwith\0anything"s), "none");
}

} // namespace
} // namespace semel::http::framing_test
