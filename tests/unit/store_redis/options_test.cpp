#include <gmock/gmock.h>

#include "semel/databases/redis.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

// What is wrong with the options is found before anybody is asked.
failure why_not(const redis_store_options& options) {
    auto asked = options;
    asked.connect = []() -> result<std::unique_ptr<net::stream>> {
        return failure{.code = errc::internal, .detail = "somebody was asked"};
    };
    auto opened = open_redis_store(asked);
    return opened ? failure{.code = errc::internal, .detail = "it could be opened"}
                  : std::move(opened).error();
}

TEST(RedisOptions, WrongOnesAreNamed) {
    EXPECT_THAT(why_not({.prefix = "a{b"}).detail, HasSubstr("prefix"));
    EXPECT_THAT(why_not({.lanes = 0}).detail, HasSubstr("lanes"));
    EXPECT_THAT(why_not({.lanes = 1'000}).detail, HasSubstr("lanes"));
    EXPECT_THAT(why_not({.command_timeout = duration{0}}).detail, HasSubstr("time-out"));
    EXPECT_THAT(why_not({.connect_timeout = duration{-1}}).detail, HasSubstr("time-out"));
    EXPECT_THAT(why_not({.batch_max = 0}).detail, HasSubstr("batch_max"));
    EXPECT_THAT(why_not({.user = "anna"}).detail, HasSubstr("no password"));
    EXPECT_THAT(why_not({.cert_file = "x"}).detail, HasSubstr("go together"));
    EXPECT_THAT(why_not({.port = 0}).detail, HasSubstr("port"));
    EXPECT_THAT(why_not({.connections = redis_connections::one}).detail, HasSubstr("lanes to 1"));
    EXPECT_EQ(why_not({.batch_max = 0}).code, errc::invalid_argument);
}

TEST(RedisOptions, RightOnesAreUsed) {
    EXPECT_EQ(why_not({}).detail, "somebody was asked");
}

TEST(RedisOptions, AMissingAuthorityIsAClearError) {
    const auto opened = open_redis_store({.tls = true, .ca_file = "no/such/file"});

    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::invalid_argument);
    EXPECT_THAT(opened.error().detail, HasSubstr("no/such/file"));
}

} // namespace
} // namespace semel
