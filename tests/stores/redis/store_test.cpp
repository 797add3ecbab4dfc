// What only a real server can show: scripts, expiry, wake-ups, round trips, connections.
#include <netinet/in.h>
#include <sys/socket.h>

#include <atomic>
#include <latch>
#include <thread>

#include "databases/redis/client/scripts.hpp"
#include "net/socket.hpp"
#include "redis_fixture.hpp"
#include "semel/engine.hpp"

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using testing::AllOf;
using testing::Gt;
using testing::Le;

class RedisStore : public redis_test {
protected:
    // What is left of a key's life; -1: it has no end.
    milliseconds life_of(const record_id& id) {
        return milliseconds{std::stoll(client_.ask({"PTTL", key_of(id)}))};
    }
    static auto just_below(milliseconds life) { return AllOf(Gt(life - seconds{5}), Le(life)); }
};

TEST_F(RedisStore, TheServerKnowsTheScriptsByTheNamesWeUse) {
    for (const auto& one : redis::scripts()) {
        EXPECT_EQ(client_.ask({"SCRIPT", "LOAD", one.text}), one.sha1) << one.name;
    }
}

TEST_F(RedisStore, FinishedRecordsVanishAMinuteAfterTheirRetention) {
    const auto store = open();
    const record_id id = id_of("finished");
    const claim by = must_start(*store, id, begin_of(1));

    ASSERT_TRUE(store->call(id, complete_of(by, "x", hours{2})));

    EXPECT_THAT(life_of(id), just_below(hours{2} + minutes{1}));
}

TEST_F(RedisStore, RunningRecordsOutliveTheirLongestLease) {
    const auto store = open();
    commands::begin long_lease = begin_of(1);
    long_lease.lease = hours{48};
    commands::begin held = begin_of(1);
    held.policy.on_lease_expiry = lease_expiry::hold;

    must_start(*store, id_of("retry"), begin_of(1));
    must_start(*store, id_of("long"), long_lease);
    must_start(*store, id_of("held"), held);

    EXPECT_THAT(life_of(id_of("retry")), just_below(hours{24} + minutes{1} + milliseconds{250}));
    EXPECT_THAT(life_of(id_of("long")), just_below(hours{48} + minutes{1} + milliseconds{250}));
    EXPECT_EQ(life_of(id_of("held")), milliseconds{-1});
}

// Renewed until it may not be any more, a claim holds for its grace from then on.
TEST_F(RedisStore, RunningRecordsOutliveTheGraceOfTheirLastLease) {
    const auto store = open();
    commands::begin patient = begin_of(1);
    patient.policy.grace = minutes{30};

    must_start(*store, id_of("k"), patient);

    EXPECT_THAT(life_of(id_of("k")), just_below(hours{24} + minutes{31}));
}

TEST_F(RedisStore, ARenewalKeepsTheLifeOfTheRecord) {
    const auto store = open();
    const record_id id = id_of("renewed");
    const claim by = must_start(*store, id, begin_of(1));

    const auto got = store->call(id, commands::renew{.by = by, .lease = hours{1}});

    ASSERT_TRUE(got && std::holds_alternative<answers::renewed>(got->said));
    EXPECT_THAT(life_of(id), just_below(hours{24} + minutes{1} + milliseconds{250}));
}

TEST_F(RedisStore, ReleasedAndRemovedRecordsLeaveOnlyTheirFenceForADay) {
    const auto store = open();
    const claim released = must_start(*store, id_of("released"), begin_of(1));
    must_start(*store, id_of("removed"), begin_of(1));

    ASSERT_TRUE(store->call(id_of("released"), commands::release{.by = released}));
    ASSERT_TRUE(store->call(id_of("removed"), commands::remove{.actor = "anna"}));

    EXPECT_THAT(life_of(id_of("released")), just_below(hours{24}));
    EXPECT_THAT(life_of(id_of("removed")), just_below(hours{24}));
    EXPECT_EQ(client_.ask({"STRLEN", key_of(id_of("removed"))}), "9");
    const claim next = must_start(*store, id_of("released"), begin_of(2));
    EXPECT_GT(next.fence, released.fence);
}

TEST_F(RedisStore, ARecordWhoseTimeIsOverIsGoneWithoutASweep) {
    const auto store = open();
    const record_id id = id_of("short");
    const claim by = must_start(*store, id, begin_of(1));
    ASSERT_TRUE(store->call(id, complete_of(by, "x", duration{1})));

    const auto swept = store->sweep({}).value();
    const claim next = must_start(*store, id, begin_of(2));

    EXPECT_EQ(swept.removed, 0U);
    EXPECT_GT(next.fence, by.fence);
}

TEST_F(RedisStore, R_19_TimeIsTheServersEvenIfTheClientsAreOthers) {
    const auto store = open();
    const auto before = client_.list({"TIME"});

    const auto got = store->call(id_of("now"), commands::lookup{}).value();

    const auto since = got.now - time_point{seconds{std::stoll(before[0])}};
    EXPECT_THAT(since, AllOf(Gt(duration{0}), Le(seconds{5})));
}

TEST_F(RedisStore, AuditEntriesOutliveTheirRecordForALimitedTime) {
    const auto store = open();
    const record_id id = id_of("audited");
    for (int i = 0; i < 3; ++i) {
        must_start(*store, id, begin_of(1));
        ASSERT_TRUE(store->call(id, commands::remove{.actor = "anna"}));
    }

    EXPECT_EQ(store->audit(id).value().size(), 3U);
    const std::string key = redis::audit_key(options_.prefix, hash_of(id), id);
    EXPECT_NE(client_.ask({"PTTL", key}), "-1");
}

// ---- round trips

TEST_F(RedisStore, AFirstExecutionIsTwoRoundTripsAndAReplayOne) {
    store_counters counters;
    options_.counters = &counters;
    options_.lanes = 1;
    auto store = open();
    // Connections and scripts come first.
    const claim warm = must_start(*store, id_of("warm"), begin_of(1));
    ASSERT_TRUE(store->call(id_of("warm"), complete_of(warm, "x")));
    engine run{std::move(store)};
    const auto execute = [&] {
        return run
            .execute<std::string>({.tenant = "acme", .operation = "ORDER_CREATE", .key = "k"},
                                  [] { return std::string{"once"}; })
            .value();
    };
    const auto start = counters;

    execute();
    const auto first = counters;
    execute();
    const auto replay = counters;

    EXPECT_EQ(first.round_trips - start.round_trips, 2U);
    EXPECT_EQ(first.record_writes - start.record_writes, 2U);
    EXPECT_EQ(replay.round_trips - first.round_trips, 1U);
    EXPECT_EQ(replay.record_writes - first.record_writes, 0U);
}

TEST_F(RedisStore, ManyCommandsShareARoundTrip) {
    store_counters counters;
    options_.counters = &counters;
    options_.lanes = 1;
    const auto store = open();
    must_start(*store, id_of("warm"), begin_of(1));
    const auto before = counters;
    constexpr int many = 200;
    std::latch answered{many};
    std::vector<submission> all;
    for (int i = 0; i < many; ++i) {
        all.push_back({.what = {.id = id_of(std::to_string(i)), .what = begin_of(1)},
                       .done = [&](result<reply>) { answered.count_down(); }});
    }

    store->submit_all(std::move(all));
    answered.wait();

    EXPECT_EQ(counters.round_trips - before.round_trips, 1U);
}

// ---- wake-ups

class subscriber {
public:
    subscriber(const redis_store_options& options, const std::string& channel)
        : stream_(redis::make_transport_maker(options).value()().value()) {
        const std::string ask = "*2\r\n$9\r\nSUBSCRIBE\r\n$" + std::to_string(channel.size()) +
                                "\r\n" + channel + "\r\n";
        (void)stream_->send(ask, seconds{1}).value();
        (void)heard(seconds{1}); // that we are subscribed
    }

    std::string heard(duration patience) {
        std::string got(4096, '\0');
        const auto size = stream_->receive(got, patience);
        got.resize(size ? *size : 0);
        return got;
    }

private:
    std::unique_ptr<net::stream> stream_;
};

TEST_F(RedisStore, TheEndOfAnAttemptIsPublishedUnderTheNameOfItsKey) {
    const auto store = open();
    const record_id id = id_of("awaited");
    const claim by = must_start(*store, id, begin_of(1));
    subscriber waiting{options_, key_of(id)};

    EXPECT_EQ(waiting.heard(milliseconds{50}), "");
    ASSERT_TRUE(store->call(id, complete_of(by, "x")));

    EXPECT_THAT(waiting.heard(seconds{5}), testing::HasSubstr("message"));
}

TEST_F(RedisStore, AnAttemptGivenUpIsPublishedToo) {
    const auto store = open();
    const record_id id = id_of("awaited");
    const claim by = must_start(*store, id, begin_of(1));
    subscriber waiting{options_, key_of(id)};

    ASSERT_TRUE(store->call(id, commands::release{.by = by}));

    EXPECT_THAT(waiting.heard(seconds{5}), testing::HasSubstr("message"));
}

TEST_F(RedisStore, NothingIsPublishedWhereThatIsNotWanted) {
    options_.wake = redis_wake::none;
    const auto store = open();
    const record_id id = id_of("alone");
    const claim by = must_start(*store, id, begin_of(1));
    subscriber waiting{options_, key_of(id)};

    ASSERT_TRUE(store->call(id, complete_of(by, "x")));

    EXPECT_EQ(waiting.heard(milliseconds{100}), "");
}

// ---- connections of the caller's own

TEST_F(RedisStore, AnExistingConnectionServesAllOfAStore) {
    std::atomic<int> handed_out = 0;
    options_.lanes = 1;
    options_.connections = redis_connections::one;
    options_.connect = [&, host = options_.host,
                        port = options_.port]() -> result<std::unique_ptr<net::stream>> {
        ++handed_out;
        auto made = net::connect_to(host, port, seconds{1});
        if (!made) return std::move(made).error();
        return net::open_stream(made->release());
    };
    const auto store = open();
    const record_id id = id_of("handed in");

    const claim by = must_start(*store, id, begin_of(1));
    ASSERT_TRUE(store->call(id, commands::renew{.by = by, .lease = hours{1}}));
    ASSERT_TRUE(store->call(id, complete_of(by, "x")));
    ASSERT_TRUE(store->audit(id));

    EXPECT_EQ(handed_out, 1);
    options_.connect = {};
}

TEST_F(RedisStore, TwoPrefixesDoNotMeet) {
    const auto left = open();
    options_.prefix += "other:";
    const auto right = open();

    must_start(*left, id_of("same"), begin_of(1));
    must_start(*right, id_of("same"), begin_of(2));
}

TEST_F(RedisStore, AnotherKindOfValueUnderOurKeyIsNoRecord) {
    const auto store = open();
    client_.ask({"LPUSH", key_of(id_of("list")), "x"});
    client_.ask({"SET", key_of(id_of("text")), "hello"});

    const auto list = store->call(id_of("list"), begin_of(1));
    const auto text = store->call(id_of("text"), begin_of(1));

    ASSERT_FALSE(list);
    EXPECT_EQ(list.error().code, errc::not_a_store);
    ASSERT_FALSE(text);
    EXPECT_EQ(text.error().code, errc::schema_newer);
}

} // namespace
} // namespace semel
