#include <filesystem>
#include <fstream>
#include <type_traits>
#include <unordered_set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "semel/ids.hpp"

namespace semel {
namespace {

using order_id = typed_id<"order">;
using user_id = typed_id<"user">;

constexpr std::string_view example = "order_01h455vb4pex5vsknk084sn02q";

static_assert(type_id::is_valid_prefix("order_line"));
static_assert(!type_id::is_valid_prefix("Order"));
static_assert(!std::is_convertible_v<order_id, user_id>);
static_assert(!std::is_constructible_v<order_id, user_id>);

TEST(TypedId, IsARoundTrip) {
    const order_id id = order_id::parse(example).value();

    EXPECT_EQ(id.to_string(), example);
    EXPECT_EQ(id.value().to_string(), "01890a5d-ac96-774b-bcce-b302099a8057");
    EXPECT_EQ(order_id::from_bytes(id.bytes()).value(), id);
}

TEST(TypedId, GeneratesDifferentUuid7) {
    const order_id first = order_id::generate();
    const order_id second = order_id::generate();

    EXPECT_LT(first, second);
    EXPECT_EQ(first.value().version(), 7U);
    EXPECT_TRUE(first.to_string().starts_with("order_0"));
    EXPECT_EQ(order_id::parse(first.to_string()).value(), first);
}

TEST(TypedId, RefusesTheIdOfAnotherKind) {
    const result<user_id> id = user_id::parse(example);

    ASSERT_FALSE(id.has_value());
    EXPECT_EQ(id.error().code, errc::invalid_argument);
    EXPECT_EQ(id.error().detail, "the id's prefix is 'order', not 'user'");
}

TEST(TypedId, RefusesWrongBinarySizes) {
    EXPECT_FALSE(order_id::from_bytes({}).has_value());
}

TEST(TypedId, MayHaveNoPrefixOrOneWithUnderscores) {
    EXPECT_EQ(typed_id<"">{}.to_string(), "00000000000000000000000000");
    EXPECT_EQ(typed_id<"order_line">{}.to_string(), "order_line_00000000000000000000000000");
    EXPECT_TRUE(typed_id<"order_line">::parse("order_line_00000000000000000000000000"));
}

TEST(TypedId, Hashes) {
    const std::unordered_set<order_id> set{order_id{}, order_id::generate(), order_id{}};

    EXPECT_EQ(set.size(), 2U);
}

TEST(TypeId, RefusesBadPrefixes) {
    for (const std::string_view prefix : {"Order", "or-der", "_order", "order_", "o1", "or der"}) {
        EXPECT_EQ(type_id::generate(prefix).error().code, errc::invalid_argument) << prefix;
    }
    EXPECT_TRUE(type_id::generate(std::string(63, 'a')).has_value());
    EXPECT_FALSE(type_id::generate(std::string(64, 'a')).has_value());
}

TEST(TypeId, RefusesUpperCaseAndOverflow) {
    EXPECT_FALSE(type_id::parse("order_01H455VB4PEX5VSKNK084SN02Q").has_value());
    EXPECT_FALSE(type_id::parse("order_8zzzzzzzzzzzzzzzzzzzzzzzzz").has_value());
    EXPECT_FALSE(type_id::parse("_01h455vb4pex5vsknk084sn02q").has_value());
    EXPECT_TRUE(type_id::parse("order_7zzzzzzzzzzzzzzzzzzzzzzzzz").has_value());
}

nlohmann::json vectors(const std::string& name) {
    std::ifstream in(std::filesystem::path{SEMEL_SHARED_DIR} / "vectors" / "typeid" / name);
    return in ? nlohmann::json::parse(in) : nlohmann::json{};
}

TEST(TypeIdVectors, AcceptsAllValidOnes) {
    const nlohmann::json valid = vectors("valid.json");
    if (valid.empty()) GTEST_SKIP() << "no vectors below " << SEMEL_SHARED_DIR;

    for (const auto& one : valid) {
        const result<type_id> id = type_id::parse(one.at("typeid").get<std::string>());

        ASSERT_TRUE(id.has_value()) << one;
        EXPECT_EQ(id->prefix, one.at("prefix")) << one;
        EXPECT_EQ(id->value.to_string(), one.at("uuid")) << one;
        EXPECT_EQ(id->to_string(), one.at("typeid")) << one;
    }
}

TEST(TypeIdVectors, RefusesAllInvalidOnes) {
    const nlohmann::json invalid = vectors("invalid.json");
    if (invalid.empty()) GTEST_SKIP() << "no vectors below " << SEMEL_SHARED_DIR;

    for (const auto& one : invalid) {
        const result<type_id> id = type_id::parse(one.at("typeid").get<std::string>());

        EXPECT_FALSE(id.has_value()) << one;
    }
}

} // namespace
} // namespace semel
