#include <set>

#include <gtest/gtest.h>

#include "semel/ids.hpp"

namespace semel {
namespace {

public_id_codec codec(std::string prefix, std::string secret = "0123456789abcdef") {
    return public_id_codec::make({.prefix = std::move(prefix), .secret = std::move(secret)})
        .value();
}

TEST(PublicIdCodec, IsARoundTripForAllSizesOfIds) {
    const public_id_codec orders = codec("order");

    for (const std::uint64_t id :
         {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{1} << 32U, ~std::uint64_t{0}}) {
        EXPECT_EQ(orders.decode(orders.encode(id)).value(), id);
    }
}

TEST(PublicIdCodec, GivesOneTextPerIdInTheFormOfATypeId) {
    const public_id_codec orders = codec("order");
    std::set<std::string> texts;

    for (std::uint64_t id = 0; id < 1000; ++id) {
        EXPECT_EQ(orders.encode(id), orders.encode(id));
        texts.insert(orders.encode(id));
    }

    EXPECT_EQ(texts.size(), 1000U);
    EXPECT_EQ(type_id::parse(*texts.begin()).value().prefix, "order");
}

TEST(PublicIdCodec, StaysTheSameAcrossVersions) {
    EXPECT_EQ(codec("order").encode(42), "order_4apwnr5z8ed8sbr49v9868xyzn");
}

TEST(PublicIdCodec, RefusesEveryChangedCharacter) {
    const public_id_codec orders = codec("order");
    const std::string text = orders.encode(42);

    for (std::size_t i = text.find('_') + 1; i < text.size(); ++i) {
        std::string changed = text;
        changed[i] = changed[i] == '0' ? '1' : '0';
        EXPECT_EQ(orders.decode(changed).error().code, errc::invalid_argument) << changed;
    }
}

TEST(PublicIdCodec, RefusesOtherPrefixes) {
    const public_id_codec orders = codec("order");
    const std::string user = codec("user").encode(42);
    const std::string relabelled = "order" + user.substr(user.find('_'));

    EXPECT_EQ(orders.decode(user).error().detail, "the public id's prefix is 'user', not 'order'");
    EXPECT_EQ(orders.decode(relabelled).error().detail, "the public id was not issued here");
}

TEST(PublicIdCodec, RefusesIdsOfAnotherSecret) {
    const std::string other = codec("order", "another secret of enough bytes").encode(42);

    EXPECT_EQ(codec("order").decode(other).error().detail, "the public id was not issued here");
}

TEST(PublicIdCodec, RefusesGarbage) {
    for (const std::string_view text : {"", "order", "order_", "order_42", "\xFF\xFE", "_"}) {
        EXPECT_EQ(codec("order").decode(text).error().detail, "not a public id");
    }
}

TEST(PublicIdCodec, RefusesBadOptions) {
    EXPECT_FALSE(public_id_codec::make({.prefix = "", .secret = std::string(16, 's')}));
    EXPECT_FALSE(public_id_codec::make({.prefix = "Order", .secret = std::string(16, 's')}));
    EXPECT_FALSE(public_id_codec::make({.prefix = "order", .secret = std::string(15, 's')}));
    EXPECT_TRUE(public_id_codec::make({.prefix = "order", .secret = std::string(16, 's')}));
}

} // namespace
} // namespace semel
