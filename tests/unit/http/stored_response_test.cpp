#include "semel/http/response.hpp"

#include <random>

#include <gtest/gtest.h>

namespace semel::http::stored_response_test {
namespace {

constexpr std::size_t plenty = std::size_t{1} << 20U;

response sample() {
    return {.status = 201,
            .headers = {{"Content-Type", "application/json"}, {"Location", "/orders/17"}},
            .body = R"({"id":17})"};
}

response round_trip(const response& what, const replay_options& options = {}) {
    return decode(encode(what, options, plenty), options).value();
}

TEST(StoredResponse, ComesBackAsItWas) {
    EXPECT_EQ(round_trip(sample()), sample());
    EXPECT_EQ(encode(sample(), {}, plenty).kind, result_kind::value);
    EXPECT_EQ(encode({.status = 404}, {}, plenty).kind, result_kind::rejection);
}

TEST(R10_StoredResponse, EmptyAndFalsyBodiesComeBack) {
    EXPECT_EQ(round_trip({.status = 204}), (response{.status = 204}));
    for (const char* body : {"", "0", "false", "null", "\"\""}) {
        EXPECT_EQ(round_trip({.status = 200, .body = body}).body, body);
    }
}

TEST(R11_StoredResponse, EveryByteComesBack) {
    std::string body;
    for (int byte = 0; byte < 256; ++byte) body += static_cast<char>(byte);

    EXPECT_EQ(round_trip({.status = 200, .body = body}).body, body);
}

TEST(R12_StoredResponse, OverTheLimitLeavesATombstoneWithItsHead) {
    response large = sample();
    large.body.assign(1000, 'x');

    const stored_result kept = encode(large, {}, 500);
    const response known = decode(kept, {}).value();

    EXPECT_EQ(kept.kind, result_kind::tombstone);
    EXPECT_LE(kept.body.size(), 500U);
    EXPECT_EQ(known.status, 201);
    EXPECT_EQ(*known.headers.find("Location"), "/orders/17");
    EXPECT_EQ(known.body, "");
}

TEST(R12_StoredResponse, TheStatusIsKnownEvenWhereNothingWasKept) {
    const stored_result kept = encode(sample(), {}, 4);

    EXPECT_EQ(kept.kind, result_kind::tombstone);
    EXPECT_EQ(kept.body, "");
    EXPECT_EQ(decode(kept, {}).value().status, 201);
    EXPECT_EQ(status_of_type(type_of(503)), 503);
    for (const char* odd : {"", "text/plain", "application/vnd.semel.response",
                            "application/vnd.semel.response;status=", "text/plain;status=200",
                            "application/vnd.semel.response;status=99"}) {
        EXPECT_EQ(status_of_type(odd), 0) << odd;
    }
}

TEST(StoredResponse, ExactlyAtTheLimitIsKept) {
    const std::size_t size = encode(sample(), {}, plenty).body.size();

    EXPECT_EQ(encode(sample(), {}, size).kind, result_kind::value);
    EXPECT_EQ(encode(sample(), {}, size - 1).kind, result_kind::tombstone);
}

TEST(R13_StoredResponse, KeepsWhatDescribesTheResultAndNothingOfTheMoment) {
    const header_list wanted = {{"Content-Type", "text/plain"},
                                {"ETag", "\"1\""},
                                {"location", "/x"},
                                {"Content-Encoding", "gzip"},
                                {"Last-Modified", "x"},
                                {"Link", "<a>; rel=next"},
                                {"Link", "<b>; rel=prev"},
                                {"Cache-Control", "no-store, private"},
                                {"Vary", "Origin"},
                                {"Content-Security-Policy", "default-src 'none'"},
                                {"X-Content-Type-Options", "nosniff"},
                                {"X-Frame-Options", "DENY"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Strict-Transport-Security", "max-age=1"},
                                {"Cross-Origin-Resource-Policy", "same-site"},
                                {"access-control-allow-origin", "https://shop.example"},
                                {"Access-Control-Expose-Headers", "Location"}};
    header_list all = wanted;
    for (const char* gone : {"Set-Cookie",
                             "Date",
                             "Connection",
                             "Keep-Alive",
                             "Transfer-Encoding",
                             "Content-Length",
                             "Trailer",
                             "TE",
                             "Upgrade",
                             "Proxy-Authenticate",
                             "Authorization",
                             "WWW-Authenticate",
                             "Authentication-Info",
                             "Age",
                             "Via",
                             "Server-Timing",
                             "X-Request-Id",
                             "Traceparent",
                             "Tracestate",
                             "X-B3-TraceId",
                             "RateLimit-Remaining",
                             "X-RateLimit-Reset",
                             "X-Unknown",
                             "Idempotent-Replayed",
                             "Idempotency-Expires",
                             "Server"}) {
        all.add(gone, "v");
    }

    EXPECT_EQ(round_trip({.status = 200, .headers = all}).headers, wanted);
}

TEST(R13_StoredResponse, WhatConnectionNamesIsNotKept) {
    const response got{.status = 200,
                       .headers = {{"Connection", "close, ETag"}, {"ETag", "1"}, {"Link", "<a>"}}};

    EXPECT_EQ(round_trip(got).headers, (header_list{{"Link", "<a>"}}));
}

TEST(StoredResponse, KeepsFurtherHeadersByName) {
    const replay_options more{.headers = {"X-Order-Id"}};
    const response got{.status = 200, .headers = {{"x-order-id", "17"}, {"X-Other", "1"}}};

    EXPECT_EQ(round_trip(got, more).headers, (header_list{{"x-order-id", "17"}}));
    // No longer wanted: left out though it was stored.
    EXPECT_TRUE(decode(encode(got, more, plenty), {}).value().headers.empty());
}

TEST(StoredResponse, NoOptionKeepsWhatIsNeverReplayed) {
    EXPECT_TRUE(check(replay_options{.headers = {"X-Order-Id"}}).has_value());
    for (const char* name : {"Set-Cookie", "date", "AUTHORIZATION", "x-b3-spanid", "traceparent",
                             "ratelimit-limit", "Transfer-Encoding", "bad name", ""}) {
        const auto checked = check(replay_options{.headers = {name}});

        ASSERT_FALSE(checked.has_value()) << name;
        EXPECT_NE(checked.error().detail.find(name), std::string::npos);
    }
    const replay_options forced{.headers = {"Set-Cookie"}};
    EXPECT_TRUE(
        round_trip({.status = 200, .headers = {{"Set-Cookie", "a=b"}}}, forced).headers.empty());
}

TEST(StoredResponse, HeadersThatCouldSplitTheMessageAreNotStored) {
    for (const std::string& value : {std::string{"/a\r\nSet-Cookie: x=1"}, std::string{"/a\nb"},
                                     std::string{"/a\rb"}, std::string{"/a\0b", 4}}) {
        const response got{.status = 200, .headers = {{"Location", value}, {"ETag", "1"}}};

        EXPECT_EQ(round_trip(got).headers, (header_list{{"ETag", "1"}}));
    }
}

// As somebody with access to the store could write it.
std::string with_header(const std::string& name, const std::string& value) {
    const std::string clean =
        encode({.status = 200, .headers = {{"ETag", "vvvvvvvvvvvv"}}}, {}, plenty).body;
    std::string bytes = clean;
    bytes.replace(bytes.find("ETag"), 4, name);
    bytes.replace(bytes.find("vvvvvvvvvvvv"), 12, value);
    return bytes;
}

TEST(StoredResponse, InjectedLineEndsAreCorruptNotReplayed) {
    for (const auto& [name, value] : std::vector<std::pair<std::string, std::string>>{
             {"ETag", "a\r\nX: yyyyyy"},
             {"ETag", "a\nbbbbbbbbbb"},
             {"E\r\nt", "vvvvvvvvvvvv"},
             {"ET g", "vvvvvvvvvvvv"},
             {"ETag", std::string{"a\0bbbbbbbbbb", 12}}}) {
        const auto got = decode({.body = with_header(name, value)}, {});

        ASSERT_FALSE(got.has_value()) << name << ' ' << value;
        EXPECT_EQ(got.error().code, errc::corrupt);
        EXPECT_NE(got.error().detail.find("wire"), std::string::npos);
    }
    EXPECT_TRUE(decode({.body = with_header("ETag", "wwwwwwwwwwww")}, {}).has_value());
}

TEST(StoredResponse, CutAnywhereIsCorrupt) {
    const std::string whole = encode(sample(), {}, plenty).body;
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto got = decode({.body = whole.substr(0, size)}, {});

        ASSERT_FALSE(got.has_value()) << size;
        EXPECT_EQ(got.error().code, errc::corrupt);
    }
    EXPECT_FALSE(decode({.body = whole + "x"}, {}).has_value());
}

TEST(StoredResponse, ANewerVersionIsNamed) {
    std::string bytes = encode(sample(), {}, plenty).body;
    bytes[3] = '\x02';

    EXPECT_NE(decode({.body = bytes}, {}).error().detail.find("version"), std::string::npos);
}

TEST(StoredResponse, ChangedBytesNeverCrashAndNeverLeaveTheirLine) {
    const std::string whole = encode(sample(), {}, plenty).body;
    std::mt19937 chance{17};
    for (int round = 0; round < 20'000; ++round) {
        std::string bytes = whole;
        for (int i = 0; i < 3; ++i) bytes[chance() % bytes.size()] = static_cast<char>(chance());

        const auto got = decode({.body = bytes}, {});

        if (!got) continue;
        for (const header& line : got->headers) EXPECT_TRUE(fit_for_wire(line));
        EXPECT_GE(got->status, 200);
        EXPECT_LE(got->status, 599);
    }
}

TEST(StoredResponse, HasACodecForTypedWork) {
    const response again = codec<response>::decode(codec<response>::encode(sample()));

    EXPECT_EQ(again, sample());
    EXPECT_THROW((void)codec<response>::decode("rubbish"), failure_error);
}

TEST(HopByHop, GoesWithWhatConnectionNames) {
    header_list headers = {{"Connection", "close, X-Private"},
                           {"X-Private", "1"},
                           {"TE", "x"},
                           {"Content-Length", "3"},
                           {"Accept", "*/*"}};

    remove_hop_by_hop(headers);

    EXPECT_EQ(headers, (header_list{{"Accept", "*/*"}}));
}

} // namespace
} // namespace semel::http::stored_response_test
