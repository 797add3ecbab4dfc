// A server that is killed, frozen, full, or forgets, under load: definite answers stay true,
// everything else is said to be in doubt, and nobody hangs.
#include <thread>

#include "load.hpp"
#include "private_redis.hpp"
#include "redis_fixture.hpp"

namespace semel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::expect_kept;
using test::load;
using test::private_redis;

TEST(RedisFaults, EveryDefiniteAnswerSurvivesKillsOfADurableServer) {
    private_redis server{{"--appendonly", "yes", "--appendfsync", "always"}};
    auto options = server.options();
    options.command_timeout = seconds{2};
    options.connect_timeout = seconds{1};
    const auto store = open_redis_store(options).value();
    load work{*store, 16};

    for (int round = 0; round < 3; ++round) {
        work.wait_for_stored(200);
        server.kill();
        std::this_thread::sleep_for(milliseconds{50});
        server.start();
    }
    work.wait_for_stored(200);
    work.stop();

    expect_kept(*store, work);
    EXPECT_GT(work.failures(), 0U) << "nobody noticed";
    EXPECT_GT(work.doubts(), 0U) << "nothing was in doubt";
    EXPECT_LT(work.longest(), options.command_timeout + options.connect_timeout + seconds{2});
}

TEST(RedisFaults, NobodyHangsOnAFrozenServer) {
    private_redis server;
    auto options = server.options();
    options.command_timeout = milliseconds{300};
    options.connect_timeout = milliseconds{300};
    const auto store = open_redis_store(options).value();
    load work{*store, 8};
    work.wait_for_stored(100);

    server.freeze();
    std::this_thread::sleep_for(seconds{2});
    server.thaw();
    work.wait_for_stored(100);
    work.stop();

    expect_kept(*store, work);
    EXPECT_GT(work.doubts(), 0U);
    // A batch waits for the one before it: twice the time-outs, and what a busy machine adds.
    EXPECT_LT(work.longest(), seconds{2});
}

TEST(RedisFaults, ForgottenScriptsAreSentAgainUnnoticed) {
    private_redis server;
    const auto store = open_redis_store(server.options()).value();
    test::redis_client root{server.options()};
    load work{*store, 8};

    for (int round = 0; round < 20; ++round) {
        work.wait_for_stored(20);
        root.ask({"SCRIPT", "FLUSH"});
    }
    work.stop();

    expect_kept(*store, work);
    EXPECT_EQ(work.failures(), 0U);
}

TEST(RedisFaults, KilledConnectionsAreReplaced) {
    private_redis server;
    const auto store = open_redis_store(server.options()).value();
    test::redis_client root{server.options()};
    load work{*store, 8};

    for (int round = 0; round < 20; ++round) {
        work.wait_for_stored(20);
        root.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    }
    work.stop();

    expect_kept(*store, work);
    EXPECT_GT(work.failures(), 0U);
}

// As Sentinel does it: the server becomes a replica, and its clients have to connect again.
TEST(RedisFaults, ADemotedPrimaryIsRefusedUntilItIsPrimaryAgain) {
    private_redis server;
    private_redis primary;
    const auto store = open_redis_store(server.options()).value();
    must_start(*store, id_of("k"), begin_of(1));
    test::redis_client root{server.options()};
    root.ask({"REPLICAOF", "127.0.0.1", std::to_string(primary.port())});
    root.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});

    const auto lost = store->call(id_of("k"), commands::lookup{});
    const auto refused = store->call(id_of("k"), commands::lookup{});
    root.ask({"REPLICAOF", "NO", "ONE"});
    const local_time deadline = local_clock::now() + seconds{10};
    auto again = store->call(id_of("new"), begin_of(2));
    while (!again && local_clock::now() < deadline) {
        std::this_thread::sleep_for(milliseconds{20});
        again = store->call(id_of("new"), begin_of(2));
    }

    EXPECT_FALSE(lost);
    ASSERT_FALSE(refused) << "what a replica knows may be old";
    EXPECT_EQ(refused.error().code, errc::read_only);
    EXPECT_EQ(refused.error().possible, effect::none);
    EXPECT_THAT(refused.error().detail, testing::HasSubstr("the server is a replica"));
    EXPECT_TRUE(again) << describe(again.error());
}

TEST(RedisFaults, AConnectionClosedWhileIdleIsReplacedUnnoticed) {
    private_redis server;
    const auto store = open_redis_store(server.options()).value();
    test::redis_client root{server.options()};
    must_start(*store, id_of("before"), begin_of(1));
    root.ask({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
    std::this_thread::sleep_for(milliseconds{1'100});

    must_start(*store, id_of("before too"), begin_of(1));
    must_start(*store, id_of("after"), begin_of(1));
}

TEST(RedisFaults, AFullServerRefusesAndGoesOnWhenThereIsRoom) {
    private_redis server{{"--maxmemory", "3mb"}};
    const auto store = open_redis_store(server.options()).value();
    test::redis_client root{server.options()};
    const claim by = must_start(*store, id_of("begun before"), begin_of(1));
    const claim kept = must_start(*store, id_of("kept"), begin_of(1));
    ASSERT_TRUE(store->call(id_of("kept"), complete_of(kept, "x")));
    root.ask({"CONFIG", "SET", "maxmemory", "1mb"});

    const auto begun = store->call(id_of("new"), begin_of(1));
    const auto completed = store->call(id_of("begun before"), complete_of(by, "y"));
    const auto replayed = store->call(id_of("kept"), begin_of(2));
    root.ask({"CONFIG", "SET", "maxmemory", "100mb"});
    const auto late = store->call(id_of("begun before"), complete_of(by, "y"));

    ASSERT_FALSE(begun);
    EXPECT_EQ(begun.error().code, errc::no_space);
    EXPECT_EQ(begun.error().possible, effect::none);
    ASSERT_FALSE(completed);
    EXPECT_EQ(completed.error().code, errc::no_space);
    ASSERT_TRUE(replayed) << "replays need no memory: " << describe(replayed.error());
    EXPECT_TRUE(std::holds_alternative<answers::replay>(replayed->said));
    ASSERT_TRUE(late) << describe(late.error());
    EXPECT_TRUE(std::holds_alternative<answers::stored>(late->said));
}

TEST(RedisFaults, AStoreOutlivesAServerThatIsAwayForLong) {
    private_redis server{{"--appendonly", "yes", "--appendfsync", "always"}};
    const auto store = open_redis_store(server.options()).value();
    const claim by = must_start(*store, id_of("k"), begin_of(1));
    server.kill();

    const auto away = store->call(id_of("other"), commands::lookup{});
    for (int i = 0; i < 50; ++i) (void)store->call(id_of("other"), commands::lookup{});
    server.start();
    result<reply> got = away;
    for (int i = 0; i < 200 && !got; ++i) {
        std::this_thread::sleep_for(milliseconds{20});
        got = store->call(id_of("k"), complete_of(by, "x"));
    }

    ASSERT_FALSE(away);
    EXPECT_EQ(away.error().code, errc::unavailable);
    ASSERT_TRUE(got) << describe(got.error());
    EXPECT_TRUE(std::holds_alternative<answers::stored>(got->said));
}

} // namespace
} // namespace semel
