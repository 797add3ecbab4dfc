#include "databases/redis/client/keys.hpp"

#include <gtest/gtest.h>

#include <set>

namespace semel::redis {
namespace {

using namespace std::string_literals;

constexpr std::uint64_t hash = 0x0123456789abcdef;

TEST(RedisKeys, R_20_TheHashIsTheOnlyHashTag) {
    const record_id id{"acme", "ORDER_CREATE", "k{1}"};

    EXPECT_EQ(record_key("semel:", hash, id),
              "semel:{0123456789abcdef}:r:4:acme12:ORDER_CREATEk{1}");
    EXPECT_EQ(audit_key("semel:", hash, id),
              "semel:{0123456789abcdef}:a:4:acme12:ORDER_CREATEk{1}");
}

TEST(RedisKeys, PartsThatRunIntoOneAnotherGiveDifferentKeys) {
    const record_id ids[]{{"a", "bc", "k"},   {"ab", "c", "k"}, {"abc", "", "k"},
                          {"", "abc", "k"},   {"a", "b", "ck"}, {"1:a", "1:b", "k"},
                          {"1:a1:b", "", "k"}};
    std::set<std::string> keys;

    // The same hash for all: the rest must tell them apart.
    for (const auto& id : ids) keys.insert(record_key("p:", hash, id));

    EXPECT_EQ(keys.size(), std::size(ids));
}

TEST(RedisKeys, TheIdCanBeReadBack) {
    const record_id ids[]{{"acme", "ORDER", "key"},
                          {"", "", ""},
                          {"a:1", "2:b", "3:c"},
                          {"ac\0me"s, "{}", "\xFF\r\n"s},
                          {std::string(64, 't'), std::string(64, 'o'), std::string(255, 'k')}};
    for (const auto& id : ids) {
        EXPECT_EQ(id_in(record_key("semel:", hash_of(id), id), "semel:"), id);
    }
}

TEST(RedisKeys, OtherKeysHaveNoId) {
    const record_id id{"acme", "ORDER", "key"};
    const std::string key = record_key("semel:", hash, id);

    EXPECT_FALSE(id_in(audit_key("semel:", hash, id), "semel:"));
    EXPECT_FALSE(id_in(key, "other:"));
    EXPECT_FALSE(id_in("semel:{0123456789abcdef}:r:", "semel:"));
    EXPECT_FALSE(id_in("semel:{0123456789abcdef}:r:9:acme", "semel:"));
    EXPECT_FALSE(id_in("semel:{0123456789abcdef}:r:x:acme", "semel:"));
    EXPECT_FALSE(id_in("semel:", "semel:"));
}

TEST(RedisKeys, APrefixMeansNothingInPatternsAndHashTags) {
    EXPECT_TRUE(valid_prefix("semel:"));
    EXPECT_TRUE(valid_prefix("Shop-7.orders_:"));
    EXPECT_FALSE(valid_prefix(""));
    EXPECT_FALSE(valid_prefix("a{b"));
    EXPECT_FALSE(valid_prefix("a*"));
    EXPECT_FALSE(valid_prefix("a b"));
    EXPECT_FALSE(valid_prefix(std::string(65, 'p')));
}

} // namespace
} // namespace semel::redis
