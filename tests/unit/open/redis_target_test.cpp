#include <gmock/gmock.h>

#include "open/targets.hpp"

namespace semel {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

result<redis_store_options> target(std::string_view url, const store_options& options = {}) {
    return redis_target(net::parse_url(url).value(), options);
}

std::string why_not(std::string_view url) {
    const auto got = target(url);
    if (got) return "it is fine";
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    return got.error().detail;
}

TEST(RedisTarget, AHostIsEnough) {
    const auto got = target("redis://cache.local").value();

    EXPECT_EQ(got.host, "cache.local");
    EXPECT_EQ(got.port, 6379);
    EXPECT_EQ(got.database, 0U);
    EXPECT_EQ(got.password, "");
    EXPECT_FALSE(got.tls);
    EXPECT_EQ(got.prefix, "semel:");
}

TEST(RedisTarget, EverythingCanBeNamed) {
    store_counters counters;
    const auto got = target("rediss://anna:secret@cache.local:6380/3?prefix=shop:&lanes=4&"
                            "batch_max=64&connect_timeout_ms=100&command_timeout_ms=200&"
                            "eviction=warn&wake=none&ca_file=ca.crt&cert_file=c&key_file=k",
                            {.queue_max = 10, .counters = &counters})
                         .value();

    EXPECT_EQ(got.user, "anna");
    EXPECT_EQ(got.password, "secret");
    EXPECT_EQ(got.port, 6380);
    EXPECT_EQ(got.database, 3U);
    EXPECT_TRUE(got.tls);
    EXPECT_EQ(got.prefix, "shop:");
    EXPECT_EQ(got.lanes, 4U);
    EXPECT_EQ(got.batch_max, 64U);
    EXPECT_EQ(got.connect_timeout, milliseconds{100});
    EXPECT_EQ(got.command_timeout, milliseconds{200});
    EXPECT_EQ(got.eviction, redis_eviction::warn);
    EXPECT_EQ(got.wake, redis_wake::none);
    EXPECT_EQ(got.ca_file, "ca.crt");
    EXPECT_EQ(got.cert_file, "c");
    EXPECT_EQ(got.key_file, "k");
    EXPECT_EQ(got.queue_max, 10U);
    EXPECT_EQ(got.counters, &counters);
}

TEST(RedisTarget, PasswordsMayHoldAnything) {
    const auto encoded = target("redis://:p%40ss%3Aw%2Frd%3F@host/1").value();
    const auto bare = target("redis://:a:b/c@d@host").value();

    EXPECT_EQ(encoded.user, "");
    EXPECT_EQ(encoded.password, "p@ss:w/rd?");
    EXPECT_EQ(encoded.database, 1U);
    EXPECT_EQ(bare.password, "a:b/c@d");
    EXPECT_EQ(bare.host, "host");
}

TEST(RedisTarget, AddressesOfTheNewKindStandInBrackets) {
    const auto with_port = target("redis://[::1]:7000/2").value();
    const auto without = target("redis://[fe80::1]").value();

    EXPECT_EQ(with_port.host, "::1");
    EXPECT_EQ(with_port.port, 7000);
    EXPECT_EQ(with_port.database, 2U);
    EXPECT_EQ(without.host, "fe80::1");
    EXPECT_EQ(without.port, 6379);
}

TEST(RedisTarget, WhatIsMissingHasADefault) {
    EXPECT_EQ(target("redis://").value().host, "127.0.0.1");
    EXPECT_EQ(target("redis://:6390").value().port, 6390);
    EXPECT_EQ(target("redis://host/").value().database, 0U);
}

TEST(RedisTarget, WhatCannotBeReadIsNamed) {
    EXPECT_THAT(why_not("redis:host"), HasSubstr("redis://host"));
    EXPECT_THAT(why_not("redis://host:x"), HasSubstr("port"));
    EXPECT_THAT(why_not("redis://host:0"), HasSubstr("port"));
    EXPECT_THAT(why_not("redis://host:65536"), HasSubstr("port"));
    EXPECT_THAT(why_not("redis://[::1"), HasSubstr("']'"));
    EXPECT_THAT(why_not("redis://[::1]x"), HasSubstr("port"));
    EXPECT_THAT(why_not("redis://host/orders"), HasSubstr("database"));
    EXPECT_THAT(why_not("redis://anna@host"), HasSubstr("password"));
    EXPECT_THAT(why_not("redis://host?eviction=maybe"), HasSubstr("refuse or warn"));
    EXPECT_THAT(why_not("redis://host?wake=loudly"), HasSubstr("publish or none"));
    EXPECT_THAT(why_not("redis://host?pipelines=2"), HasSubstr("pipelines"));
    EXPECT_THAT(why_not("redis://host?ca_file=x"), HasSubstr("rediss://"));
}

} // namespace
} // namespace semel
