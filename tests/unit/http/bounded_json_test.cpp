#include "http/bounded_json.hpp"

#include <gtest/gtest.h>

#include "support/hostile_json.hpp"

namespace semel::http {
namespace {

using namespace std::chrono_literals;

TEST(BoundedJson, TakesTimeInProportionToTheText) {
    for (const auto& [name, text] : support::hostile_jsons()) {
        const auto took = support::time_of([&text = text] { (void)parse_bounded(text); });

        EXPECT_LT(took, 1s) << name;
    }
}

TEST(BoundedJson, OrdinaryTextsAreRead) {
    const auto made = parse_bounded(R"({"a":[1,2,{"b":"]},\"["}],"c":null})");

    EXPECT_EQ(made.at("a").at(2).at("b"), "]},\"[");
    EXPECT_TRUE(parse_bounded("nonsense").is_discarded());
    EXPECT_TRUE(parse_bounded("").is_discarded());
    EXPECT_TRUE(parse_bounded("[1").is_discarded());
}

TEST(BoundedJson, DepthIsBounded) {
    const auto nested = [](std::size_t depth) {
        return std::string(depth, '[') + std::string(depth, ']');
    };

    EXPECT_TRUE(parse_bounded(nested(100)).is_array());
    EXPECT_TRUE(parse_bounded(nested(101)).is_discarded());
    EXPECT_TRUE(parse_bounded("[" + std::string(R"("[[[[")") + "]", {.depth_max = 1}).is_array());
}

TEST(BoundedJson, TheNumberOfValuesIsBounded) {
    const json_bounds four{.values_max = 4};

    EXPECT_TRUE(parse_bounded("[1,2,3]", four).is_array());
    EXPECT_TRUE(parse_bounded("[1,2,3,4]", four).is_discarded());
    EXPECT_TRUE(parse_bounded(R"({"a":1,"b":2,"c":3})", four).is_object());
    EXPECT_TRUE(parse_bounded(R"({"a":[1],"b":2})", four).is_object());
    EXPECT_TRUE(parse_bounded(R"({"a":[1],"b":[2]})", four).is_discarded());
    EXPECT_TRUE(parse_bounded(R"([",,,,[[[["])", four).is_array());
}

// The bounds look at a text before the parser does: neither must be ahead of the other.
TEST(BoundedJson, AStringHidesWhatIsInside) {
    EXPECT_TRUE(parse_bounded(R"(["\\",1])", {.values_max = 3}).is_array());
    EXPECT_TRUE(parse_bounded(R"(["\\",1,2])", {.values_max = 3}).is_discarded());
    EXPECT_TRUE(parse_bounded(R"(["\"[,,,,,",1])", {.values_max = 3}).is_array());
}

} // namespace
} // namespace semel::http
