#include "semel/fingerprint/canonical_json.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace semel {
namespace {

std::string canonical(std::string_view text, const canonical_options& options = {}) {
    const result<std::string> form = canonical_json(text, options);
    return form ? *form : "refused: " + describe(form.error());
}

canonical_options selecting(const json_pointers& pointers) {
    return {.selection = json_selection::parse(pointers).value()};
}

TEST(CanonicalJson, DropsSpaceAndSortsMembers) {
    EXPECT_EQ(canonical(" { \"b\" : [ 1 , true , null ] ,\n\t\"a\" : { } } "),
              R"({"a":{},"b":[1,true,null]})");
}

TEST(CanonicalJson, KeepsTheOrderOfArrays) {
    EXPECT_EQ(canonical("[3,1,2]"), "[3,1,2]");
}

TEST(CanonicalJson, AcceptsAnyKindOfRoot) {
    EXPECT_EQ(canonical("null"), "null");
    EXPECT_EQ(canonical("false"), "false");
    EXPECT_EQ(canonical("\"x\""), "\"x\"");
    EXPECT_EQ(canonical("7"), "7");
}

TEST(CanonicalJson, SortsNestedObjectsInsideArrays) {
    EXPECT_EQ(canonical(R"([{"b":{"d":1,"c":2},"a":[{"z":0,"y":0}]}])"),
              R"([{"a":[{"y":0,"z":0}],"b":{"c":2,"d":1}}])");
}

TEST(CanonicalJson, SortsMembersByUtf16CodeUnits) {
    // By code point U+FB33 comes before U+1F600; as UTF-16 the pair D83D DE00 comes first.
    EXPECT_EQ(canonical("{\"\xEF\xAC\xB3\":1,\"\xF0\x9F\x98\x80\":2,\"z\":3}"),
              "{\"z\":3,\"\xF0\x9F\x98\x80\":2,\"\xEF\xAC\xB3\":1}");
}

TEST(CanonicalJson, SortsAPrefixBeforeTheLongerName) {
    EXPECT_EQ(canonical(R"({"ab":1,"a":2,"":3})"), R"({"":3,"a":2,"ab":1})");
}

TEST(CanonicalJson, WritesEscapesInOneWay) {
    EXPECT_EQ(canonical(R"("\u0041\/\u000a\u000b\u001F\"\\\b\f\n\r\t\u00e9")"),
              "\"A/\\n\\u000b\\u001f\\\"\\\\\\b\\f\\n\\r\\t\xC3\xA9\"");
}

TEST(CanonicalJson, KeepsAnEscapedNulInsideAString) {
    EXPECT_EQ(canonical(R"("a\u0000b")"), R"("a\u0000b")");
}

TEST(CanonicalJson, IsAFixedPoint) {
    const std::string once = canonical(R"({"b":1e3,"a":["\ud83d\ude00",0.1,9007199254740993]})");

    EXPECT_EQ(canonical(once), once);
}

TEST(CanonicalJson, RefusesDuplicateNamesAfterUnescaping) {
    EXPECT_EQ(canonical(R"({"a":1,"b":2,"\u0061":3})"),
              "refused: invalid_argument: at byte offset 13: a name appears twice in one object");
}

TEST(CanonicalJson, AllowsOneNameInTwoObjects) {
    EXPECT_EQ(canonical(R"({"a":{"a":1}})"), R"({"a":{"a":1}})");
}

TEST(CanonicalJson, RefusesWhatIsNotOneDocument) {
    for (const std::string_view text :
         {"",    " ",   "{",   "[1,]",     "{\"a\"}", "{a:1}", "nul",
          "01",  "+1",  "1.",  ".5",       "1e",      "[1] 2", "{}{}",
          "'x'", "\"x", "NaN", "Infinity", "// c\n1", "[1 2]", "\"\t\""}) {
        const result<std::string> form = canonical_json(text);

        ASSERT_FALSE(form.has_value()) << text;
        EXPECT_EQ(form.error().code, errc::invalid_argument) << text;
        EXPECT_TRUE(form.error().detail.starts_with("at byte offset ")) << form.error().detail;
    }
}

TEST(CanonicalJson, RefusesDataBehindANulByte) {
    EXPECT_EQ(canonical({"{}\0{}", 5}),
              "refused: invalid_argument: at byte offset 2: data after the document");
    EXPECT_EQ(canonical({"{}\0", 3}),
              "refused: invalid_argument: at byte offset 2: data after the document");
}

TEST(CanonicalJson, RefusesLoneSurrogatesInNamesAndValues) {
    for (const std::string_view text :
         {R"("\ud800")", R"("\udc00")", R"("\ud800x")", R"("\udc00\ud800")", R"("\ud800\ud800")",
          R"({"\udfff":1})"}) {
        EXPECT_FALSE(canonical_json(text).has_value()) << text;
    }
}

TEST(CanonicalJson, RefusesBadUtf8) {
    for (const std::string_view text :
         {"\"\x80\"", "\"\xC0\xAF\"", "\"\xE2\x82\"", "\"\xED\xA0\x80\"", "\"\xF4\x90\x80\x80\"",
          "\"\xFF\"", "{\"\xC3\":1}"}) {
        EXPECT_FALSE(canonical_json(text).has_value());
    }
}

TEST(CanonicalJson, RefusesAByteOrderMark) {
    EXPECT_FALSE(canonical_json("\xEF\xBB\xBF{}").has_value());
}

TEST(CanonicalJson, RefusesMoreThanTheDepthLimit) {
    const std::string at_limit = std::string(512, '[') + std::string(512, ']');
    const std::string beyond = std::string(513, '[') + std::string(513, ']');

    EXPECT_EQ(canonical(at_limit), at_limit);
    EXPECT_EQ(canonical(beyond),
              "refused: limit_exceeded: at byte offset 512: nested deeper than 512");
}

TEST(CanonicalJson, RefusesMoreThanTheSizeLimit) {
    const canonical_options tiny{.text_bytes_max = 4};

    EXPECT_EQ(canonical("[12]", tiny), "[12]");
    EXPECT_EQ(canonical("[123]", tiny),
              "refused: limit_exceeded: at byte offset 4: longer than 4 bytes");
}

TEST(CanonicalJson, RefusesMoreThanAQuarterOfAMillionValues) {
    const auto array_of = [](std::size_t count, std::string_view one) {
        std::string text = "[";
        while (count-- > 0) text.append(one).append(",");
        text.back() = ']';
        return text;
    };
    for (const std::string_view one : {"0", "[]", "{}", "\"\"", "null"}) {
        const std::string most = array_of(249'999, one);

        EXPECT_EQ(canonical(most), most) << one;
        EXPECT_THAT(canonical(array_of(250'000, one)),
                    testing::HasSubstr("more than 250000 values"));
    }
    EXPECT_FALSE(canonical_json(array_of(125'000, "[0]")).has_value());
    EXPECT_TRUE(canonical_json(array_of(124'999, "[0]")).has_value());
}

TEST(CanonicalJson, WritesDeepDocumentsWithoutRecursion) {
    const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');

    EXPECT_EQ(canonical(deep, {.depth_max = 200'000}), deep);
}

TEST(CanonicalJson, WorksAgainAfterARefusal) {
    EXPECT_FALSE(canonical_json(R"({"a":[1,{"b":)").has_value());
    EXPECT_EQ(canonical(R"({"a":1})"), R"({"a":1})");
}

TEST(JsonSelection, KeepsOnlyWhatIsSelected) {
    const auto options = selecting({.select = {"/order/id", "/lines/1"}});

    EXPECT_EQ(canonical(R"({"order":{"id":7,"at":1},"lines":["a","b","c"],"x":1})", options),
              R"({"lines":["b"],"order":{"id":7}})");
}

TEST(JsonSelection, RemovesWhatIsIgnored) {
    const auto options = selecting({.ignore = {"/sent_at", "/lines/0", "/meta/trace"}});

    EXPECT_EQ(canonical(R"({"sent_at":1,"lines":[1,2],"meta":{"trace":9},"a":1})", options),
              R"({"a":1,"lines":[2],"meta":{}})");
}

TEST(JsonSelection, IgnoresInsideWhatIsSelected) {
    const auto options = selecting({.select = {"/a"}, .ignore = {"/a/t"}});

    EXPECT_EQ(canonical(R"({"a":{"t":1,"v":2},"b":3})", options), R"({"a":{"v":2}})");
}

TEST(JsonSelection, DropsContainersThatLeadNowhere) {
    const auto options = selecting({.select = {"/a/b"}});

    EXPECT_EQ(canonical(R"({"a":{"c":1}})", options), "{}");
    EXPECT_EQ(canonical(R"({"a":5})", options), "{}");
    EXPECT_EQ(canonical("[1]", options), "[]");
    EXPECT_EQ(canonical("5", options), "null");
}

TEST(JsonSelection, UnescapesTokens) {
    const auto options = selecting({.select = {"/a~1b", "/~01", "/"}});

    EXPECT_EQ(canonical(R"({"a/b":1,"~1":2,"":3,"/":4})", options), R"({"":3,"a/b":1,"~1":2})");
}

TEST(JsonSelection, TakesTheEmptyPointerForTheWholeDocument) {
    EXPECT_EQ(canonical("[1]", selecting({.select = {""}})), "[1]");
    EXPECT_EQ(canonical("[1]", selecting({.ignore = {""}})), "[]");
}

TEST(JsonSelection, TreatsOnlyPlainNumbersAsIndexes) {
    for (const std::string pointer : {"/01", "/-", "/+1", "/2", "/1x", "/99999999999999999999"}) {
        EXPECT_EQ(canonical("[1,2]", selecting({.select = {pointer}})), "[]") << pointer;
    }
}

TEST(JsonSelection, FindsAnyMemberOfALargeObject) {
    std::string text = "{";
    for (int i = 0; i < 100; ++i)
        text += "\"k" + std::to_string(i) + "\":" + std::to_string(i) + ",";
    text.back() = '}';

    for (int i = 0; i < 100; ++i) {
        const std::string name = "k" + std::to_string(i);
        EXPECT_EQ(canonical(text, selecting({.select = {"/" + name}})),
                  "{\"" + name + "\":" + std::to_string(i) + "}");
    }
}

TEST(JsonSelection, StillRefusesDuplicatesInIgnoredParts) {
    EXPECT_FALSE(canonical_json(R"({"a":{"x":1,"x":2}})", selecting({.ignore = {"/a"}})));
}

TEST(JsonSelection, RefusesMalformedPointers) {
    for (const std::string pointer : {"a", "a/b", "/~", "/~2", "/a~"}) {
        const result<json_selection> selection = json_selection::parse({.select = {pointer}});

        ASSERT_FALSE(selection.has_value()) << pointer;
        EXPECT_EQ(selection.error().code, errc::invalid_argument);
        EXPECT_NE(selection.error().detail.find("'" + pointer + "'"), std::string::npos);
        EXPECT_FALSE(json_selection::parse({.ignore = {pointer}}).has_value()) << pointer;
    }
}

} // namespace
} // namespace semel
