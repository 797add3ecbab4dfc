#include "semel/http/message.hpp"

#include <gtest/gtest.h>

#include "http/json_text.hpp"
#include "http/media_type.hpp"
#include "semel/http.hpp"

namespace semel::http::message_test {
namespace {

TEST(HttpHeaderList, FindsNamesWithoutRegardToCaseAndKeepsTheOrder) {
    header_list headers{{"B", "1"}, {"a", "2"}, {"b", "3"}};

    EXPECT_EQ(*headers.find("b"), "1");
    EXPECT_EQ(headers.count("B"), 2U);
    EXPECT_EQ(headers.find("c"), nullptr);
    EXPECT_EQ(headers.begin()[1].name, "a");
}

TEST(HttpHeaderList, SetLeavesOneLine) {
    header_list headers{{"X", "1"}, {"y", "2"}, {"x", "3"}};

    headers.set("x", "4");

    EXPECT_EQ(headers, (header_list{{"y", "2"}, {"x", "4"}}));
    EXPECT_EQ(headers.remove("X"), 1U);
}

TEST(HttpHeaderList, MembersComeFromAllLinesAndNotFromInsideQuotes) {
    const header_list headers{{"Prefer", "a, ,b=\"x,\\\"y\" "}, {"prefer", "c"}, {"Other", "d"}};

    EXPECT_EQ(list_members(headers, "Prefer"),
              (std::vector<std::string_view>{"a", "b=\"x,\\\"y\"", "c"}));
    EXPECT_TRUE(list_members(headers, "None").empty());
}

TEST(HttpRequestHead, SplitsItsTargetAtTheFirstQuestionMark) {
    const request_head with{.method = "GET", .target = "/a?b?c"};
    const request_head without{.method = "GET", .target = "/a"};

    EXPECT_EQ(with.path(), "/a");
    EXPECT_EQ(with.query(), "b?c");
    EXPECT_EQ(without.path(), "/a");
    EXPECT_EQ(without.query(), "");
}

TEST(HttpMediaType, HasItsParametersUnquoted) {
    const parameterised type =
        parse_parameterised(R"( Multipart/Form-Data ; Boundary="a;b\"c" ; x=1;; y )");

    EXPECT_EQ(type.value, "Multipart/Form-Data");
    EXPECT_EQ(*type.find("boundary"), "a;b\"c");
    EXPECT_EQ(*type.find("x"), "1");
    EXPECT_EQ(*type.find("y"), "");
    EXPECT_EQ(type.find("z"), nullptr);
    EXPECT_EQ(parse_parameterised("").value, "");
}

TEST(HttpPrefer, GivesTheFirstWait) {
    const auto wait = [](std::string value) { return preferred_wait({{"Prefer", value}}); };
    using std::chrono::seconds;

    EXPECT_EQ(wait("wait=2"), seconds{2});
    EXPECT_EQ(wait("respond-async, WAIT=10; later, wait=3"), seconds{10});
    EXPECT_EQ(wait("wait=\"5\""), seconds{5});
    EXPECT_EQ(wait("wait=0"), seconds{0});
    EXPECT_EQ(wait("wait=99999999999"), seconds{86'400});
    EXPECT_EQ(wait("respond-async"), std::nullopt);
    EXPECT_EQ(preferred_wait({}), std::nullopt);
    for (const char* odd : {"wait", "wait=", "wait=-1", "wait=1.5", "wait=x", "wait=1e3"}) {
        EXPECT_EQ(wait(odd), std::nullopt) << odd;
    }
}

TEST(HttpJsonText, EscapesWhatJsonDoesNotTake) {
    EXPECT_EQ(json_quoted("a\"b\\c"), R"("a\"b\\c")");
    EXPECT_EQ(json_quoted("\r\n\x01"), R"("\u000d\u000a\u0001")");
    EXPECT_EQ(json_quoted("\xC3\xA9"), "\"\xC3\xA9\"");
    EXPECT_EQ(json_quoted("\xF0\x9F\x98\x80"), "\"\xF0\x9F\x98\x80\"");
}

TEST(HttpJsonText, ReplacesBytesThatAreNotUtf8) {
    const std::string mark = "\xEF\xBF\xBD";

    EXPECT_EQ(json_quoted("\xFFz"), "\"" + mark + "z\"");
    EXPECT_EQ(json_quoted("\xC3"), "\"" + mark + "\"");                       // cut short
    EXPECT_EQ(json_quoted("\xC0\xAF"), "\"" + mark + mark + "\"");            // overlong
    EXPECT_EQ(json_quoted("\xED\xA0\x80"), "\"" + mark + mark + mark + "\""); // a surrogate
    EXPECT_EQ(json_quoted("\xF4\x90\x80\x80"), "\"" + mark + mark + mark + mark + "\"");
}

} // namespace
} // namespace semel::http::message_test
