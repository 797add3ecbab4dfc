// Redis as a front: it does what the port says, forgets by itself, and pays its debts.
#include <chrono>
#include <future>
#include <random>
#include <thread>

#include "private_redis.hpp"
#include "redis_fixture.hpp"
#include "support/memory_front.hpp"

namespace semel {
namespace front_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using test::private_redis;
using kind = front_entry::kind;

front_entry gate_of(std::uint64_t fence) {
    return {.holder = {.fence = fence, .owner = {.high = fence}},
            .attempt = 1,
            .grace = milliseconds{250},
            .lease_until = time_point{seconds{100}},
            .until = time_point{seconds{100}}};
}

front_entry replay_of(std::uint64_t fence) {
    front_entry made{.what = kind::replay,
                     .holder = {.fence = fence, .owner = {.high = fence}},
                     .attempt = 1,
                     .expires_at = time_point{seconds{500}},
                     .result = {.body = "b" + std::to_string(fence)}};
    seal(made.result);
    return made;
}

class RedisFront : public redis_test {
protected:
    std::unique_ptr<front_tier> front() { return open_redis_front(options_).value(); }
    [[nodiscard]] std::string key_of(const record_id& id) const {
        return redis::front_key(options_.prefix, hash_of(id), id);
    }
};

// Random commands on few records: all that could be meant by the port's words.
class front_walk {
public:
    explicit front_walk(unsigned seed) : random_(seed) {}

    record_id id() { return id_of(std::to_string(below(3))); }

    front_command next() {
        const duration life = minutes{10};
        const std::uint64_t fence = 1 + below(4);
        const claim by{.fence = fence, .owner = {.high = below(8) == 0 ? 99 : fence}};
        switch (below(6)) {
        case 0:
        case 1: return fronts::look{.token = 1 + below(3), .life = life};
        case 2: return fronts::put{.token = 1 + below(3), .entry = entry(fence), .life = life};
        case 3: return fronts::settle{.by = by, .end = ending(fence), .life = life};
        case 4:
            return fronts::prolong{.by = by,
                                   .lease_until = time_point{seconds{100 + below(9)}},
                                   .until = time_point{seconds{200}},
                                   .life = life};
        default: return below(3) == 0 ? front_command{fronts::forget{}} : fronts::pass{};
        }
    }

private:
    front_entry entry(std::uint64_t fence) {
        if (below(3) == 0) return ending(fence);
        front_entry made = gate_of(fence);
        if (below(2) == 0) made.what = kind::rumour;
        return made;
    }
    front_entry ending(std::uint64_t fence) {
        if (below(2) == 0) return replay_of(fence);
        front_entry made{.what = kind::failed, .holder = {.fence = fence}};
        made.error = "no";
        return made;
    }
    std::uint64_t below(std::uint64_t count) { return random_() % count; }

    std::mt19937 random_;
};

TEST_F(RedisFront, DoesWhatTheOneInMemoryDoes) {
    const auto real = front();
    test::front_memory model;
    front_walk walk{4711};

    for (int i = 0; i < 20'000; ++i) {
        const record_id id = walk.id();
        const front_command what = walk.next();

        const auto got = real->call(id, what).value();
        const auto expected = model.take(id, what).value();

        ASSERT_EQ(got.entry, expected.entry) << i;
        ASSERT_EQ(got.token, expected.token) << i;
    }
}

TEST(RedisFrontRights, AUserWithTheNamedRightsCanDoEverything) {
    test::private_redis server;
    auto options = server.options();
    options.prefix = "shop:";
    const auto it = open_redis_front(as_advised_user(options)).value();
    front_walk walk{4712};

    for (int i = 0; i < 2'000; ++i) {
        const auto got = it->call(walk.id(), walk.next());
        ASSERT_TRUE(got) << describe(got.error());
    }
}

TEST_F(RedisFront, EntriesLiveAsLongAsTheyAreTold) {
    const auto it = front();
    const record_id id = id_of("k");

    ASSERT_TRUE(it->call(id, fronts::look{.token = 1, .life = seconds{30}}));
    EXPECT_LE(std::stoll(client_.ask({"PTTL", key_of(id)})), 30'000);
    ASSERT_TRUE(it->call(id, fronts::put{.token = 1, .entry = gate_of(1), .life = seconds{20}}));
    EXPECT_LE(std::stoll(client_.ask({"PTTL", key_of(id)})), 20'000);
    ASSERT_TRUE(it->call(
        id,
        fronts::settle{.by = gate_of(1).holder, .end = replay_of(1), .life = milliseconds{40}}));
    std::this_thread::sleep_for(milliseconds{60});

    EXPECT_FALSE(it->call(id, fronts::look{.token = 2, .life = seconds{30}})->entry);
}

// Else everybody would hear of an attempt in progress that has come to its end.
TEST_F(RedisFront, ARumourThatComesAfterTheEndIsNotBelieved) {
    const auto it = front();
    const record_id id = id_of("k");
    front_entry rumour = gate_of(1);
    rumour.what = kind::rumour;

    ASSERT_TRUE(it->call(id, fronts::look{.token = 1, .life = seconds{30}}));
    ASSERT_TRUE(
        it->call(id, fronts::settle{.by = rumour.holder, .end = replay_of(1), .life = minutes{5}}));
    ASSERT_TRUE(it->call(id, fronts::put{.token = 1, .entry = rumour, .life = seconds{20}}));

    EXPECT_FALSE(it->call(id, fronts::look{.token = 2, .life = seconds{30}})->entry);
}

TEST_F(RedisFront, ALongerLeaseLeavesTheTokenAsItIs) {
    const auto it = front();
    const record_id id = id_of("k");

    ASSERT_TRUE(it->call(id, fronts::look{.token = 1, .life = seconds{30}}));
    ASSERT_TRUE(it->call(id, fronts::prolong{.by = gate_of(1).holder, .life = seconds{20}}));

    EXPECT_EQ(it->call(id, fronts::look{.token = 2, .life = seconds{30}})->token, 1U);
}

TEST_F(RedisFront, SubmittedCommandsAreAnsweredInTurn) {
    const auto it = front();
    const record_id id = id_of("k");
    std::vector<std::string> seen; // by one thread of the front at a time
    std::atomic<int> left = 300;
    const auto note = [&](result<front_sight> got) {
        seen.emplace_back(got.value().entry ? "entry" : "none");
        --left;
    };

    for (std::uint64_t i = 1; i <= 100; ++i) {
        it->submit(id, fronts::look{.token = 1, .life = seconds{30}}, note);
        it->submit(id, fronts::put{.token = 1, .entry = gate_of(i), .life = seconds{20}}, note);
        it->submit(id, fronts::forget{}, note);
    }
    while (left > 0) std::this_thread::sleep_for(milliseconds{1});

    EXPECT_EQ(seen, std::vector<std::string>(300, "none"));
}

TEST_F(RedisFront, ClearForgetsEverythingOfThisPrefix) {
    const auto it = front();
    client_.ask({"SET", options_.prefix + "another", "x"});
    for (int i = 0; i < 50; ++i) {
        ASSERT_TRUE(
            it->call(id_of(std::to_string(i)), fronts::look{.token = 1, .life = seconds{30}}));
    }

    it->clear();

    EXPECT_EQ(client_.list({"KEYS", options_.prefix + "*"}).size(), 1U);
}

// On a server of its own: all who use it would have to send theirs again.
TEST(RedisFrontFaults, ForgottenScriptsAreSentAgain) {
    private_redis server;
    test::redis_client root{server.options()};
    const auto it = open_redis_front(server.options()).value();
    const record_id id = id_of("k");
    for (int round = 0; round < 3; ++round) {
        root.ask({"SCRIPT", "FLUSH"});
        const auto fence = static_cast<std::uint64_t>(round + 1);
        const auto seen = it->call(id, fronts::look{.token = 1, .life = seconds{30}}).value();

        ASSERT_TRUE(it->call(
            id, fronts::put{.token = seen.token, .entry = gate_of(fence), .life = seconds{20}}));

        const auto after = it->call(id, fronts::look{.token = 1, .life = seconds{30}}).value();
        EXPECT_EQ(after.entry, gate_of(fence));
    }
}

// The one script is unknown and the other is not: an end must still find the gate before it.
TEST(RedisFrontFaults, AForgottenScriptIsNotOvertakenOnItsRecord) {
    private_redis server;
    auto options = server.options();
    options.lanes = 1;
    const auto it = open_redis_front(options).value();
    const record_id id = id_of("k");
    const fronts::settle end{.by = gate_of(1).holder, .end = replay_of(1), .life = minutes{5}};
    ASSERT_TRUE(it->call(id, fronts::look{.token = 1, .life = minutes{5}}));
    ASSERT_TRUE(it->call(id_of("another"), end));
    std::promise<void> settled;

    it->submit(id, fronts::pass{}, [&](const auto&) {
        it->submit(id, fronts::put{.token = 1, .entry = gate_of(1), .life = seconds{20}},
                   [](const auto&) {});
        it->submit(id, end, [&](const auto&) { settled.set_value(); });
    });
    settled.get_future().wait();

    EXPECT_EQ(it->call(id, fronts::look{.token = 2, .life = seconds{30}})->entry->what,
              kind::replay);
}

// The front was told to forget while the server was away: nothing is seen before that is done.
TEST(RedisFrontFaults, WhatCouldNotBeForgottenIsForgottenLater) {
    private_redis server{{"--appendonly", "yes", "--appendfsync", "always"}};
    auto options = server.options();
    options.connect_timeout = options.command_timeout = milliseconds{200};
    const auto it = open_redis_front(options).value();
    const record_id id = id_of("k");
    ASSERT_TRUE(it->call(id, fronts::look{.token = 1, .life = minutes{5}}));
    ASSERT_TRUE(it->call(id, fronts::put{.token = 1, .entry = replay_of(1), .life = minutes{5}}));
    server.kill();

    const auto told = it->call(id, fronts::forget{});
    server.start();

    EXPECT_FALSE(told);
    test::redis_client root{server.options()};
    for (int i = 0; i < 500 && root.ask({"DBSIZE"}) != "0"; ++i) {
        std::this_thread::sleep_for(milliseconds{10});
    }
    EXPECT_EQ(root.ask({"DBSIZE"}), "0") << "nobody asked, and it was not forgotten";
}

TEST(RedisFrontFaults, AFrozenServerDelaysByItsTimeOutOnly) {
    private_redis server;
    auto options = server.options();
    options.connect_timeout = options.command_timeout = milliseconds{500};
    const auto it = open_redis_front(options).value();
    ASSERT_TRUE(it->call(id_of("k"), fronts::look{.token = 1, .life = seconds{30}}));
    server.freeze();
    const auto begun = std::chrono::steady_clock::now();

    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(it->call(id_of("k"), fronts::look{.token = 1, .life = seconds{30}}));
    }

    EXPECT_LT(std::chrono::steady_clock::now() - begun, seconds{5});
    server.thaw();
}

TEST(RedisFrontFaults, AWrongPasswordIsAnErrorAtStart) {
    private_redis server{{"--requirepass", "right"}};
    auto options = server.options();
    options.password = "wrong";

    const auto got = open_redis_front(options);

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::invalid_argument);
}

TEST(RedisFrontFaults, AServerThatEvictsIsGoodEnough) {
    private_redis server{{"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}};

    EXPECT_TRUE(open_redis_front(server.options()));
}

} // namespace
} // namespace front_test
} // namespace semel
