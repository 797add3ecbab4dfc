#include "databases/redis/client/link.hpp"

#include <gmock/gmock.h>

#include "scripted_transport.hpp"

namespace semel::redis {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

constexpr std::string_view introduction = "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$5\r\nsemel\r\n";

TEST(RedisLink, IntroducesItselfInOneGo) {
    scripted_server server;
    const auto seen = server.connection({.answers = "+OK\r\n+OK\r\n+OK\r\n"});
    link on{{.connect = server.maker(), .user = "anna", .password = "right", .database = 3}};

    ASSERT_TRUE(on.ready());

    EXPECT_EQ(seen->sent, "*3\r\n$4\r\nAUTH\r\n$4\r\nanna\r\n$5\r\nright\r\n"
                          "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n" +
                              std::string{introduction});
}

// What Redis 7 says to HELLO.
std::string hello_of(std::string_view role) {
    return "*6\r\n" + bulk("server") + bulk("redis") + bulk("proto") + ":2\r\n" + bulk("role") +
           bulk(role);
}

TEST(RedisLink, AsksEveryConnectionWhetherItLeadsToThePrimary) {
    scripted_server server;
    const auto seen = server.connection({.answers = hello_of("master") + "+OK\r\n"});
    const auto after = server.connection({.answers = hello_of("replica") + "+OK\r\n"});
    link on{{.connect = server.maker(), .wanted = server_role::primary}};
    ASSERT_TRUE(on.ready());
    on.close();

    const auto got = on.ready();

    EXPECT_EQ(seen->sent, "*1\r\n$5\r\nHELLO\r\n" + std::string{introduction});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::read_only);
    EXPECT_THAT(got.error().detail, HasSubstr("name its primary"));
}

TEST(RedisLink, APasswordAloneIsForTheDefaultUser) {
    scripted_server server;
    const auto seen = server.connection({.answers = "+OK\r\n+OK\r\n"});
    link on{{.connect = server.maker(), .password = "right"}};

    ASSERT_TRUE(on.ready());

    EXPECT_THAT(seen->sent, StartsWith("*2\r\n$4\r\nAUTH\r\n$5\r\nright\r\n"));
}

TEST(RedisLink, AWrongPasswordIsAClearError) {
    scripted_server server;
    server.connection({.answers = "-WRONGPASS invalid username-password pair or user is disabled."
                                  "\r\n-NOAUTH Authentication required.\r\n"});
    link on{{.connect = server.maker(), .password = "wrong"}};

    const auto got = on.ready();

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_THAT(got.error().detail, HasSubstr("check user and password"));
    EXPECT_THAT(got.error().detail, testing::Not(HasSubstr("wrong")));
}

// Such a server says so before it is asked, and closes.
TEST(RedisLink, ARefusalOfTheConnectionItselfIsTold) {
    for (const std::string refusal :
         {"DENIED Redis is running in protected mode", "ERR max number of clients reached"}) {
        scripted_server server;
        server.connection({.answers = "-" + refusal + "\r\n"});
        link on{{.connect = server.maker(), .password = "right", .database = 3}};

        const auto got = on.ready();

        ASSERT_FALSE(got);
        EXPECT_EQ(got.error().code, errc::unavailable);
        EXPECT_THAT(got.error().detail, HasSubstr(refusal));
    }
}

TEST(RedisLink, AUserWhoMayNotNameItselfIsWelcome) {
    scripted_server server;
    server.connection({.answers = "-NOPERM this user has no permissions\r\n"});
    link on{{.connect = server.maker()}};

    EXPECT_TRUE(on.ready());
}

TEST(RedisLink, RepliesMayComeByteByByte) {
    scripted_server server;
    server.connection({.answers = "+OK\r\n*2\r\n:7\r\n$3\r\nabc\r\n", .piece = 1});
    link on{{.connect = server.maker()}};

    const auto got = on.ask({"ECHO"});

    ASSERT_TRUE(got) << describe(got.error());
    ASSERT_EQ((*got)->items.size(), 2U);
    EXPECT_EQ((*got)->items[0].integer, 7);
    EXPECT_EQ((*got)->items[1].text, "abc");
}

TEST(RedisLink, LargeRepliesAreTakenWhole) {
    scripted_server server;
    const std::string large(3'000'000, 'x');
    server.connection({.answers = "+OK\r\n" + bulk(large) + bulk("small"),
                       .piece = 100'000,
                       .come = lines::order::at_once});
    link on{{.connect = server.maker()}};
    ASSERT_TRUE(on.ready());
    ASSERT_TRUE(on.send("two requests").done);

    const auto first = on.receive();
    ASSERT_TRUE(first);
    EXPECT_EQ((*first)->text.size(), large.size());
    const auto second = on.receive();
    ASSERT_TRUE(second);
    EXPECT_EQ((*second)->text, "small");
}

TEST(RedisLink, LongArraysAreTakenInFewPieces) {
    std::string array = "*20000\r\n";
    for (int i = 0; i < 20'000; ++i) array += bulk("some bytes");
    scripted_server server;
    const auto seen = server.connection({.answers = std::string{hello} + array});
    link on{{.connect = server.maker()}};

    const auto got = on.ask({"XRANGE"});

    ASSERT_TRUE(got);
    EXPECT_EQ((*got)->items.size(), 20'000U);
    EXPECT_LT(seen->receives, 20);
}

TEST(RedisLink, MemoryIsSpentOnWhatArrivesAndNotOnWhatIsAnnounced) {
    scripted_server server;
    const auto seen = server.connection({.answers = "+OK\r\n$536000000\r\nand no more"});
    link on{{.connect = server.maker()}};

    const auto got = on.ask({"GET"});

    EXPECT_EQ(got.error().code, errc::unavailable);
    EXPECT_LT(seen->room_max, 1'000'000U);
}

TEST(RedisLink, SomethingThatIsNoRedisIsNoStore) {
    scripted_server server;
    server.connection({.answers = "HTTP/1.1 400 Bad Request\r\n"});
    link on{{.connect = server.maker()}};

    const auto got = on.ready();

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::not_a_store);
}

TEST(RedisLink, ABrokenConnectionIsMadeAnew) {
    scripted_server server;
    server.connection({.answers = std::string{hello}});
    server.connection({.answers = "+OK\r\n+PONG\r\n"});
    link on{{.connect = server.maker()}};

    const auto lost = on.ask({"PING"});
    const auto got = on.ask({"PING"});

    ASSERT_FALSE(lost);
    EXPECT_EQ(lost.error().code, errc::unavailable);
    ASSERT_TRUE(got);
    EXPECT_EQ((*got)->text, "PONG");
}

TEST(RedisLink, AReplyTooManyIsNotTheAnswerToTheNextRequest) {
    scripted_server server;
    server.connection({.answers = "+OK\r\n+first\r\n+too many\r\n", .come = lines::order::at_once});
    server.connection({.answers = "+OK\r\n+second\r\n"});
    link on{{.connect = server.maker()}};
    ASSERT_EQ(on.ask({"GET"}).value()->text, "first");

    const auto got = on.ask({"GET"});

    ASSERT_TRUE(got) << describe(got.error());
    EXPECT_EQ((*got)->text, "second");
}

TEST(RedisLink, AfterAFailedTryTheNextFailAtOnce) {
    scripted_server server;
    link on{{.connect = server.maker()}};

    ASSERT_FALSE(on.ready());
    for (int i = 0; i < 10; ++i) ASSERT_FALSE(on.ready());

    EXPECT_EQ(on.ready().error().detail, "cut off");
    EXPECT_EQ(server.tries(), 1);
}

TEST(RedisLink, AnErrorThatComesWithTheConnectionReplacesIt) {
    scripted_server server;
    server.connection({.answers = "+OK\r\n-READONLY You can't write\r\n"});
    server.connection({.answers = "+OK\r\n+PONG\r\n"});
    link on{{.connect = server.maker()}};

    const auto refused = on.ask({"SET"});
    const auto got = on.ask({"PING"});

    EXPECT_EQ(refused.error().code, errc::read_only);
    EXPECT_TRUE(got);
    EXPECT_EQ(server.tries(), 2);
}

TEST(RedisLink, SaysHowMuchOfARequestHasLeft) {
    scripted_server server;
    server.connection({.sends_max = introduction.size() + 7, .answers = std::string{hello}});
    link on{{.connect = server.maker()}};
    ASSERT_TRUE(on.ready());

    const auto got = on.send("0123456789");

    EXPECT_FALSE(got.done);
    EXPECT_EQ(got.accepted, 7U);
}

TEST(RedisLink, AStreamThatTakesNothingIsLost) {
    class closed final : public net::stream {
        result<std::size_t> send(std::string_view, duration) override { return std::size_t{0}; }
        result<std::size_t> receive(std::span<char>, duration) override { return std::size_t{0}; }
    };
    link on{{.connect = [] {
        return result<std::unique_ptr<net::stream>>{std::make_unique<closed>()};
    }}};

    EXPECT_EQ(on.ready().error().code, errc::unavailable);
}

TEST(RedisLink, CountsRoundTrips) {
    store_counters counters;
    scripted_server server;
    server.connection({.answers = "+OK\r\n+PONG\r\n"});
    link on{{.connect = server.maker(), .counters = &counters}};

    ASSERT_TRUE(on.ask({"PING"}));

    EXPECT_EQ(counters.round_trips.get(), 2U);
}

} // namespace
} // namespace semel::redis
