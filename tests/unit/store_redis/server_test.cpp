#include "databases/redis/client/server.hpp"

#include <gmock/gmock.h>

namespace semel::redis {
namespace {

using testing::HasSubstr;

server_facts good() {
    return {.version = "7.0.15", .role = "master", .memory_policy = "noeviction"};
}

TEST(RedisServer, FactsAreReadFromInfo) {
    const auto facts =
        facts_in("# Server\r\nredis_version:7.2.4\r\n# Memory\r\nmaxmemory:1048576\r"
                 "\nmaxmemory_human:1.00M\r\nmaxmemory_policy:allkeys-lru\r\n"
                 "# Replication\r\nrole:slave\r\n# Cluster\r\ncluster_enabled:1\r\n");

    EXPECT_EQ(facts.version, "7.2.4");
    EXPECT_EQ(facts.role, "slave");
    EXPECT_TRUE(facts.cluster);
    EXPECT_EQ(facts.memory_max, 1'048'576U);
    EXPECT_EQ(facts.memory_policy, "allkeys-lru");
}

TEST(RedisServer, AnOrdinaryPrimaryWillDo) {
    EXPECT_TRUE(check_server(good(), open_mode::create));
    auto newer = good();
    newer.version = "10.1.0";
    EXPECT_TRUE(check_server(newer, open_mode::create));
}

TEST(RedisServer, AnOldServerIsRefused) {
    auto facts = good();
    facts.version = "6.2.14";

    const auto got = check_server(facts, open_mode::create);

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::unsupported);
    EXPECT_THAT(got.error().detail, HasSubstr("6.2.14"));
    EXPECT_THAT(got.error().detail, HasSubstr("use 7.0 or newer"));
}

TEST(RedisServer, AReplicaIsRefused) {
    auto facts = good();
    facts.role = "slave";

    EXPECT_EQ(check_server(facts, open_mode::create).error().code, errc::read_only);
}

TEST(RedisServer, AReplicaMayBeLookedAt) {
    auto facts = good();
    facts.role = "slave";

    EXPECT_TRUE(check_server(facts, open_mode::read_only));
    facts.version = "6.2.14";
    EXPECT_FALSE(check_server(facts, open_mode::read_only));
}

TEST(RedisServer, AClusterIsRefused) {
    auto facts = good();
    facts.cluster = true;

    EXPECT_EQ(check_server(facts, open_mode::create).error().code, errc::unsupported);
}

TEST(RedisServer, SomethingElseIsNoStore) {
    EXPECT_EQ(check_server(facts_in("hello"), open_mode::create).error().code, errc::not_a_store);
}

TEST(RedisServer, EvictionIsADangerOnlyUnderALimit) {
    auto facts = good();
    EXPECT_FALSE(eviction_danger(facts));
    facts.memory_policy = "volatile-lru";
    EXPECT_FALSE(eviction_danger(facts));
    facts.memory_max = 1'000'000;
    ASSERT_TRUE(eviction_danger(facts));
    EXPECT_THAT(eviction_danger(facts)->detail, HasSubstr("maxmemory-policy noeviction"));
    facts.memory_policy = "noeviction";
    EXPECT_FALSE(eviction_danger(facts));
}

} // namespace
} // namespace semel::redis
