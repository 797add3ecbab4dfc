#include "databases/redis/client/errors.hpp"

#include <gmock/gmock.h>

#include <cerrno>

namespace semel::redis {
namespace {

using testing::HasSubstr;

struct row {
    const char* message; // as Redis 7.0 words it
    errc as;
    effect possible;
    connection_use after;
};

constexpr auto none = effect::none;
constexpr auto keep = connection_use::keep;
constexpr auto replace = connection_use::replace;

constexpr row rows[]{
    {"LOADING Redis is loading the dataset in memory", errc::unavailable, none, keep},
    {"READONLY You can't write against a read only replica.", errc::read_only, none, replace},
    {"MISCONF Redis is configured to save RDB snapshots, but it's currently unable to persist to "
     "disk.",
     errc::unavailable, none, keep},
    {"OOM command not allowed when used memory > 'maxmemory'. script: 0ab1, on "
     "@user_script:15.",
     errc::no_space, none, keep},
    {"BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
     errc::unavailable, none, keep},
    {"UNKILLABLE Sorry the script already executed write commands", errc::unavailable, none, keep},
    {"NOAUTH Authentication required.", errc::invalid_argument, none, replace},
    {"WRONGPASS invalid username-password pair or user is disabled.", errc::invalid_argument, none,
     replace},
    {"NOPERM this user has no permissions to run the 'evalsha' command", errc::invalid_argument,
     none, keep},
    {"ERR AUTH <password> called without any password configured for the default user. Are you "
     "sure your configuration is correct?",
     errc::invalid_argument, none, replace},
    {"ERR DB index is out of range", errc::invalid_argument, none, replace},
    {"ERR invalid DB index", errc::invalid_argument, none, replace},
    {"ERR SELECT is not allowed in cluster mode", errc::unsupported, none, replace},
    {"ERR max number of clients reached", errc::unavailable, none, replace},
    {"ERR unknown command 'EVALSHA', with args beginning with: ", errc::not_a_store, none, replace},
    {"DENIED Redis is running in protected mode because", errc::unavailable, none, replace},
    {"MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
     errc::unavailable, none, replace},
    {"NOREPLICAS Not enough good replicas to write.", errc::unavailable, none, keep},
    {"CLUSTERDOWN The cluster is down", errc::unavailable, none, replace},
    {"TRYAGAIN Multiple keys request during rehashing of slot", errc::unavailable, none, keep},
    {"MOVED 3999 127.0.0.1:6381", errc::unsupported, none, keep},
    {"ASK 3999 127.0.0.1:6381", errc::unsupported, none, keep},
    {"CROSSSLOT Keys in request don't hash to the same slot", errc::unsupported, none, keep},
    {"WRONGTYPE Operation against a key holding the wrong kind of value", errc::not_a_store, none,
     keep},
    {"NOSCRIPT No matching script. Please use EVAL.", errc::unavailable, none, keep},
    {"ERR user_script:7: attempt to index a nil value script: 0ab1", errc::internal,
     effect::unknown, replace},
    {"SOMETHING nobody has heard of", errc::internal, effect::unknown, replace},
};

TEST(RedisErrors, EveryErrorReplyHasItsFailure) {
    for (const auto& one : rows) {
        const verdict got = verdict_of(one.message);

        EXPECT_EQ(got.why.code, one.as) << one.message;
        EXPECT_EQ(got.why.possible, one.possible) << one.message;
        EXPECT_EQ(got.after, one.after) << one.message;
        EXPECT_THAT(got.why.detail, HasSubstr(one.message));
    }
}

TEST(RedisErrors, NamedErrorsSayWhatToDo) {
    EXPECT_THAT(verdict_of("WRONGPASS invalid").why.detail, HasSubstr("check user and password"));
    EXPECT_THAT(verdict_of("READONLY You can't").why.detail, HasSubstr("name the primary"));
    EXPECT_THAT(verdict_of("OOM command").why.detail, HasSubstr("raise maxmemory"));
}

TEST(RedisErrors, OnlyAnUnknownScriptIsToldApart) {
    EXPECT_TRUE(lacks_script("NOSCRIPT No matching script. Please use EVAL."));
    EXPECT_FALSE(lacks_script("ERR NOSCRIPT"));
}

} // namespace
} // namespace semel::redis
