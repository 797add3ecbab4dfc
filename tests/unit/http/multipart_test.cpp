#include "http/multipart.hpp"

#include <gtest/gtest.h>

#include "semel/http/route.hpp"

namespace semel::http::multipart_test {
namespace {

struct part {
    std::string headers; // lines with their CRLF
    std::string body;
};

std::string joined(const std::vector<part>& parts, const std::string& boundary) {
    std::string body;
    for (const part& one : parts) {
        body += "--" + boundary + "\r\n" + one.headers + "\r\n" + one.body + "\r\n";
    }
    return body + "--" + boundary + "--\r\n";
}

fingerprint print(const std::string& body, const std::string& boundary) {
    const request_head head{
        .method = "POST",
        .target = "/upload",
        .headers = {{"Host", "a"},
                    {"Content-Type", "multipart/form-data; boundary=\"" + boundary + "\""}}};
    return fingerprint_of(head, body);
}

fingerprint print(const std::vector<part>& parts, const std::string& boundary = "b") {
    return print(joined(parts, boundary), boundary);
}

const part name{"Content-Disposition: form-data; name=\"n\"\r\n", "v"};
const part file{"Content-Disposition: form-data; name=\"f\"; filename=\"x.bin\"\r\n"
                "Content-Type: application/octet-stream\r\n",
                std::string{"\0\r\n--not\xFF", 9}};

TEST(Multipart, DoesNotDependOnItsBoundary) {
    EXPECT_EQ(print({name, file}, "----WebKitFormBoundaryA"), print({name, file}, "x'y z.1"));
}

TEST(Multipart, TheOrderAndCaseOfPartHeadersDoNotCount) {
    const part turned{"content-type:application/octet-stream\r\n"
                      "CONTENT-DISPOSITION:  form-data; name=\"f\"; filename=\"x.bin\"\r\n",
                      file.body};

    EXPECT_EQ(print({turned}), print({file}));
}

// A part is looked into once, whatever it says of itself.
TEST(Multipart, APartWithManyTypesIsBytes) {
    std::string types;
    for (int i = 0; i < 32; ++i) types += "Content-Type: multipart/mixed; boundary=c\r\n";
    std::string nested = "v";
    for (int depth = 0; depth < 4; ++depth) nested = joined({{types, nested}}, "c");

    EXPECT_EQ(print({{types, nested}}), print({{types, nested}}, "other"));
    EXPECT_NE(print({{types, joined({name}, "c")}}), print({{types, joined({file}, "c")}}));
}

TEST(Multipart, OfANestedTypeOnlyTheBoundaryDoesNotCount) {
    const auto nested = [](const std::string& parameters, const std::string& boundary) {
        return part{"Content-Type: multipart/related; boundary=" + boundary + parameters + "\r\n",
                    joined({name}, boundary)};
    };

    EXPECT_EQ(print({nested("; type=\"a\"", "c")}), print({nested("; type=\"a\"", "d")}));
    EXPECT_NE(print({nested("; type=\"a\"", "c")}), print({nested("; type=\"b\"", "c")}));
}

TEST(Multipart, EverythingElseCounts) {
    const fingerprint both = print({name, file});

    EXPECT_NE(print({file, name}), both);
    EXPECT_NE(print({name}), both);
    EXPECT_NE(print({name, file, name}), both);
    EXPECT_NE(print({{name.headers, "w"}, file}), both);
    EXPECT_NE(print({{"Content-Disposition: form-data; name=\"m\"\r\n", "v"}, file}), both);
    EXPECT_NE(print({{name.headers, "v\r\n"}, file}), both);
    EXPECT_NE(print("before\r\n" + joined({name, file}, "b"), "b"), both);
    EXPECT_NE(print(joined({name, file}, "b") + "after", "b"), both);
}

TEST(Multipart, PartsCannotBeShiftedIntoEachOther) {
    EXPECT_NE(print({{"A: 1\r\n", ""}, {"B: 2\r\n", ""}}),
              print({{"A: 1\r\nB: 2\r\n", ""}, {"", ""}}));
    EXPECT_NE(print({{"A: 1\r\n", "x"}}), print({{"", "A: 1\r\n\r\nx"}}));
}

TEST(Multipart, ALineThatOnlyBeginsLikeTheBoundaryIsContent) {
    const auto parsed =
        parse_multipart("--b\r\n\r\nx\r\n--bc\r\ny\r\n--b \t\r\n\r\nz\r\n--b--", "b");

    ASSERT_TRUE(parsed.has_value());
    ASSERT_EQ(parsed->parts.size(), 2U);
    EXPECT_EQ(parsed->parts[0].body, "x\r\n--bc\r\ny");
    EXPECT_EQ(parsed->parts[1].body, "z");
}

TEST(Multipart, PartsMayBeEmpty) {
    const auto parsed =
        parse_multipart("pre\r\n--b\r\n\r\n--b\r\nA: 1\r\n\r\n--b\r\n\r\n\r\n--b--post", "b");
    const auto none = parse_multipart("--b--", "b");

    ASSERT_FALSE(parsed.has_value()); // "--b--post" does not close it
    ASSERT_TRUE(none.has_value());
    EXPECT_TRUE(none->parts.empty());

    const auto closed =
        parse_multipart("pre\r\n--b\r\n\r\n--b\r\nA: 1\r\n\r\n--b\r\n\r\n\r\n--b--\r\npost", "b");
    ASSERT_TRUE(closed.has_value());
    ASSERT_EQ(closed->parts.size(), 3U);
    EXPECT_EQ(closed->preamble, "pre");
    EXPECT_EQ(closed->epilogue, "post");
    EXPECT_EQ(*closed->parts[1].headers.find("a"), "1");
    EXPECT_EQ(closed->parts[2].body, "");
}

TEST(Multipart, WhatReadersCouldTakeForSomethingElseIsNotParsed) {
    for (const char* odd :
         {"", "x", "--b", "--b\r\n", "--b\r\n\r\nx", "--b\n\nx\n--b--",
          "--b\r\nno colon\r\n\r\nx\r\n--b--", "--b\r\n folded: x\r\n\r\n\r\n--b--",
          "--b\r\nA: 1\r\n more\r\n\r\nx\r\n--b--", "--b\r\nx\r\n--b--", "--b\r\n--b--"}) {
        EXPECT_FALSE(parse_multipart(odd, "b").has_value()) << odd;
    }
    EXPECT_FALSE(parse_multipart("----", "").has_value());
    EXPECT_FALSE(parse_multipart("--b--", std::string(71, 'b')).has_value());
}

TEST(Multipart, MalformedCountsAsItsBytes) {
    EXPECT_NE(print("--b\r\nbroken", "b"), print("--b\r\nbroken ", "b"));
    EXPECT_EQ(print("--b\r\nbroken", "b"), print("--b\r\nbroken", "b"));
    EXPECT_NE(print("--b\r\nbroken", "b"), print("--c\r\nbroken", "c"));
}

TEST(Multipart, NestedDoesNotDependOnItsBoundariesEither) {
    const auto nested = [](const std::string& inner, const std::string& outer) {
        return print({{"Content-Type: multipart/mixed; boundary=" + inner + "\r\n",
                       joined({name, file}, inner)}},
                     outer);
    };

    EXPECT_EQ(nested("in1", "out1"), nested("in2", "out2"));
    EXPECT_NE(nested("in1", "out1"), print({{"Content-Type: multipart/mixed; boundary=in1\r\n",
                                             joined({file, name}, "in1")}},
                                           "out1"));
}

TEST(Multipart, DepthIsBounded) {
    std::string body = "x";
    for (int depth = 0; depth < 100; ++depth) {
        const std::string boundary = "b" + std::to_string(depth);
        body = joined({{"Content-Type: multipart/mixed; boundary=" + boundary + "x\r\n", body}},
                      boundary);
    }

    EXPECT_EQ(print(body, "b99"), print(body, "b99"));
}

} // namespace
} // namespace semel::http::multipart_test
