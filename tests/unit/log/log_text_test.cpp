#include "log/log_text.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

namespace semel {
namespace {

std::string json_string(std::string_view text) {
    std::string line;
    append_json_string(line, text);
    return line;
}

nlohmann::json parsed(std::string_view message, const std::vector<log_field>& fields) {
    return nlohmann::json::parse("{" + json_members(message, fields) + "}");
}

TEST(JsonString, EscapesWhatJsonForbids) {
    EXPECT_EQ(json_string("plain"), R"("plain")");
    EXPECT_EQ(json_string("say \"no\" \\ \n\r\t"), R"("say \"no\" \\ \n\r\t")");
    EXPECT_EQ(json_string(std::string_view{"\0\x1B\x7F", 3}), R"("\u0000\u001b\u007f")");
    EXPECT_EQ(json_string("\xC2\x9B"), R"("\u009b")") << "a terminal may take it for a command";
}

TEST(JsonString, KeepsTextInOtherScripts) {
    EXPECT_EQ(json_string("Grüße 你好 😀"), "\"Grüße 你好 😀\"");
}

TEST(JsonString, ReplacesBytesThatAreNotUtf8) {
    const std::string bad = "\xEF\xBF\xBD";

    EXPECT_EQ(json_string("a\xFFz"), "\"a" + bad + "z\"");
    EXPECT_EQ(json_string("\xC0\xAF"), "\"" + bad + bad + "\"") << "overlong";
    EXPECT_EQ(json_string("\xED\xA0\x80"), "\"" + bad + bad + bad + "\"") << "surrogate";
    EXPECT_EQ(json_string("\xF4\x90\x80\x80"), "\"" + bad + bad + bad + bad + "\"") << "too high";
    EXPECT_EQ(json_string("\xE4\xBD"), "\"" + bad + bad + "\"") << "cut off";
}

TEST(JsonString, IsValidJsonWhateverTheBytes) {
    std::mt19937 draw{7};
    for (int i = 0; i < 20'000; ++i) {
        std::string text(draw() % 12, '\0');
        for (char& one : text) one = static_cast<char>(draw());

        EXPECT_TRUE(nlohmann::json::accept(json_string(text)));
    }
}

TEST(JsonMembers, GiveEachValueItsJsonType) {
    const auto line = parsed("lease lost", {{"text", "a b"},
                                            {"minus", -3},
                                            {"large", std::numeric_limits<std::uint64_t>::max()},
                                            {"share", 0.25},
                                            {"yes", true}});

    EXPECT_EQ(line.at("message"), "lease lost");
    const auto& fields = line.at("fields");
    EXPECT_EQ(fields.at("text"), "a b");
    EXPECT_EQ(fields.at("minus"), -3);
    EXPECT_EQ(fields.at("large"), std::numeric_limits<std::uint64_t>::max());
    EXPECT_EQ(fields.at("share"), 0.25);
    EXPECT_EQ(fields.at("yes"), true);
}

TEST(JsonMembers, WriteNumbersJsonDoesNotKnowAsText) {
    const auto line = parsed("m", {{"a", std::numeric_limits<double>::infinity()},
                                   {"b", std::numeric_limits<double>::quiet_NaN()},
                                   {"c", 1e300}});

    EXPECT_EQ(line.at("fields").at("a"), "inf");
    EXPECT_EQ(line.at("fields").at("b"), "nan");
    EXPECT_EQ(line.at("fields").at("c"), 1e300);
}

TEST(JsonMembers, HaveNoFieldsWhereThereAreNone) {
    EXPECT_EQ(json_members("m", {}), R"("message":"m")");
}

TEST(JsonMembers, EscapeFieldNamesToo) {
    EXPECT_TRUE(parsed("m", {{"a\"b\n", 1}}).at("fields").contains("a\"b\n"));
}

TEST(PrettyText, QuotesOnlyWhatNeedsIt) {
    const std::vector<log_field> fields{
        {"key", "3f2a"}, {"why", "two words"}, {"none", ""}, {"sum", "a=b"}, {"n", 3}};

    EXPECT_EQ(pretty_text("lease lost", fields),
              R"(lease lost key=3f2a why="two words" none="" sum="a=b" n=3)");
}

TEST(PrettyText, StaysOnOneLine) {
    const std::vector<log_field> fields{{"why", "x\nERROR forged"}};

    EXPECT_EQ(pretty_text("a\nb", fields), R"(a\nb why="x\nERROR forged")");
}

} // namespace
} // namespace semel
