// Redis in front of a database: what the database is spared, and what happens when Redis is lost.
#include <chrono>
#include <future>
#include <thread>

#include "load.hpp"
#include "private_redis.hpp"
#include "redis_fixture.hpp"
#include "semel/engine.hpp"
#include "semel/open.hpp"
#include "semel/store/decorators.hpp"
#include "semel/store/memory.hpp"
#include "stores/processes.hpp"
#include "support/postgres_server.hpp"
#include "support/shared_store.hpp"

namespace semel {
namespace tiered_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::expect_kept;
using test::load;
using test::private_redis;

std::string escaped(std::string_view url) {
    std::string made;
    for (const char one : url) {
        if (one == '&') {
            made += "%26";
        } else if (one == '%') {
            made += "%25";
        } else {
            made += one;
        }
    }
    return made;
}

std::string tiered_url(std::string_view front, std::string_view truth) {
    return "tiered:?front=" + escaped(front) + "&truth=" + escaped(truth);
}

using RedisTiered = redis_test;

TEST_F(RedisTiered, AFirstExecutionIsTwoQuestionsToTheTruthAndAReplayNone) {
    store_metrics truth;
    store_counters front;
    options_.counters = &front;
    options_.lanes = 1;
    auto open = [&] {
        return open_tiered_store(open_redis_front(options_).value(),
                                 open_metered_store(open_memory_store({}), truth));
    };
    engine run{open()};
    const auto asked = [&] {
        std::uint64_t all = 0;
        for (const auto& one : truth.snapshot().commands) all += one.calls;
        return all;
    };
    const auto execute = [&] {
        return run
            .execute<std::string>({.tenant = "acme", .operation = "ORDER_CREATE", .key = "k"},
                                  [] { return std::string{"once"}; })
            .value();
    };

    EXPECT_EQ(execute(), "once");
    EXPECT_EQ(asked(), 2U);
    const auto before = front.round_trips;
    EXPECT_EQ(execute(), "once");

    EXPECT_EQ(asked(), 2U);
    EXPECT_EQ(front.round_trips - before, 1U);
}

TEST_F(RedisTiered, AnotherProcessReplaysFromTheFront) {
    const std::shared_ptr<store> truth = open_memory_store({});
    store_metrics seen;
    const auto open = [&] {
        return open_tiered_store(
            open_redis_front(options_).value(),
            open_metered_store(std::make_unique<support::shared_store>(truth), seen));
    };
    const auto left = open();
    const auto right = open();
    ASSERT_TRUE(right->call(id_of("clock"), commands::lookup{}));
    const claim by = must_start(*left, id_of("k"), begin_of(1));
    ASSERT_TRUE(left->call(id_of("k"), complete_of(by, "once")));
    const auto before = seen.snapshot().commands[command{commands::begin{}}.index()].calls;

    const auto got = right->call(id_of("k"), begin_of(2)).value();

    EXPECT_EQ(std::get<answers::replay>(got.said).result.body, "once");
    EXPECT_EQ(seen.snapshot().commands[command{commands::begin{}}.index()].calls, before);
}

// Such an answer comes from the front, on the thread that asks it for everybody.
TEST_F(RedisTiered, ACompletionMayCallBlocking) {
    options_.lanes = 1;
    const auto store = open_tiered_store(open_redis_front(options_).value(), open_memory_store({}));
    const claim by = must_start(*store, id_of("k"), begin_of(1));
    ASSERT_TRUE(store->call(id_of("k"), complete_of(by, "once")));
    std::promise<result<reply>> nested;

    store->submit({.id = id_of("k"), .what = begin_of(2)},
                  [&](const auto&) { nested.set_value(store->call(id_of("k"), begin_of(3))); });

    const auto got = nested.get_future().get().value();
    EXPECT_EQ(std::get<answers::replay>(got.said).result.body, "once");
}

TEST_F(RedisTiered, WhatACompletionEndsLeavesNothingOldInTheFront) {
    options_.lanes = 1;
    const auto store = open_tiered_store(open_redis_front(options_).value(), open_memory_store({}));
    const claim known = must_start(*store, id_of("known"), begin_of(1));
    ASSERT_TRUE(store->call(id_of("known"), complete_of(known, "once")));
    const claim by = must_start(*store, id_of("gated"), begin_of(2));
    std::promise<void> ended;

    store->submit({.id = id_of("known"), .what = begin_of(3)}, [&](const auto&) {
        EXPECT_TRUE(store->call(id_of("gated"), complete_of(by, "twice")));
        EXPECT_TRUE(store->call(id_of("known"), commands::remove{}));
        ended.set_value();
    });
    ended.get_future().wait();

    const auto got = store->call(id_of("gated"), begin_of(4)).value();
    EXPECT_EQ(std::get<answers::replay>(got.said).result.body, "twice");
    must_start(*store, id_of("known"), begin_of(5));
}

TEST_F(RedisTiered, EveryKeyIsExecutedOnceAndEverybodyGetsTheSameBytes) {
    const testing_support::postgres_prefix tables;
    ASSERT_TRUE(migrate(tables.url(), migrate_mode::run));
    const std::string front = test::server_url("SEMEL_TEST_REDIS") + "?prefix=" + options_.prefix;

    test::expect_one_effect_per_key(tiered_url(front, tables.url()));
}

TEST(RedisTieredFaults, NothingIsLostAndNobodyHangsWhenRedisComesAndGoes) {
    private_redis server;
    auto options = server.options();
    options.connect_timeout = options.command_timeout = milliseconds{200};
    const auto store = open_tiered_store(
        open_redis_front(options).value(),
        open_store("sqlite:/dev/shm/semel-tiered-" + std::to_string(::getpid()) + ".db").value());
    load work{*store, 8};

    for (int round = 0; round < 3; ++round) {
        work.wait_for_stored(100);
        server.kill();
        work.wait_for_stored(100);
        server.start();
    }
    work.wait_for_stored(100);
    server.freeze();
    work.wait_for_stored(100);
    server.thaw();
    work.stop();

    expect_kept(*store, work);
    EXPECT_EQ(work.failures(), 0U) << "the truth was there all the time";
    EXPECT_LT(work.longest(), seconds{3});
}

TEST(RedisTieredFaults, AnEmptiedFrontIsFilledAgain) {
    private_redis server;
    tier_counters counters;
    const auto store = open_tiered_store(open_redis_front(server.options()).value(),
                                         open_memory_store({}), {.counters = &counters});
    const claim by = must_start(*store, id_of("k"), begin_of(1));
    ASSERT_TRUE(store->call(id_of("k"), complete_of(by, "once")));
    test::redis_client{server.options()}.ask({"FLUSHALL"});
    const auto replayed = [&] {
        const auto got = store->call(id_of("k"), begin_of(2)).value();
        return std::get<answers::replay>(got.said).result.body;
    };

    EXPECT_EQ(replayed(), "once");
    EXPECT_EQ(counters.answered, 0U);
    EXPECT_EQ(replayed(), "once");
    EXPECT_EQ(counters.answered, 1U);
}

TEST(RedisTieredOpen, AFrontThatIsAwayIsNoErrorAndABadTruthIs) {
    const auto away = open_store("tiered:?front=redis://127.0.0.1:1&truth=memory:");
    const auto wrong = open_store("tiered:?front=redis://127.0.0.1:1&truth=nothing:");

    ASSERT_TRUE(away) << describe(away.error());
    must_start(**away, id_of("k"), begin_of(1));
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, errc::unknown_store);
}

} // namespace
} // namespace tiered_test
} // namespace semel
