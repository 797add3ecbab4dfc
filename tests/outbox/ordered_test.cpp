// Ordered relays: order per key, failures of a key, owners of shards.
#include <gmock/gmock.h>

#include <thread>

#include "outbox/places.hpp"
#include "outbox/sinks.hpp"

namespace semel::outbox {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

class OutboxOrdered : public testing::TestWithParam<const char*> {
protected:
    [[nodiscard]] static relay_options ordered(key_policy policy = key_policy::block) {
        return {.mode = relay_mode::ordered,
                .on_failure = policy,
                .workers = 1,
                .batch = 20,
                .sink_batch = 7,
                .rescan = 50ms,
                .shards = 4,
                .retry = {.first = 1ms, .last = 20ms, .attempts_max = 5}};
    }
    std::unique_ptr<relay> start(const relay_options& options, told_sink::judge says = {}) {
        return open_relay({at_->opener()}, told_sinks(log_, std::move(says)), options).value();
    }
    template <class Condition> bool eventually(const Condition& holds) {
        const auto deadline = std::chrono::steady_clock::now() + 60s;
        while (!holds()) {
            if (std::chrono::steady_clock::now() > deadline) return false;
            std::this_thread::sleep_for(2ms);
        }
        return true;
    }
    static std::vector<std::string> numbers(int first, int step, int below) {
        std::vector<std::string> made;
        for (int i = first; i < below; i += step) made.push_back(std::to_string(i));
        return made;
    }

    const std::unique_ptr<place> at_ = make_place(GetParam());
    delivered_log log_;
};

INSTANTIATE_TEST_SUITE_P(All, OutboxOrdered,
                         testing::Values("postgres", "mariadb", "mysql", "sqlite"));

TEST_P(OutboxOrdered, KeepsTheOrderOfEveryKeyThroughFailures) {
    at_->fill(300, 10, 0, 4);
    std::atomic<int> calls = 0;

    const auto running = start(ordered(), [&](const message&) -> delivery {
        if (++calls % 11 == 0) return {delivered::later, "busy"};
        return {delivered::yes};
    });
    ASSERT_TRUE(eventually([&] { return at_->count() == "0"; }));
    running->stop();

    EXPECT_EQ(log_.size(), 300U);
    for (int key = 0; key < 10; ++key) {
        EXPECT_EQ(log_.of_key("key-" + std::to_string(key)), numbers(key, 10, 300));
    }
    EXPECT_EQ(running->metrics().lost, 0U);
}

TEST_P(OutboxOrdered, EndsWhenNothingIsLeft) {
    at_->fill(100, 10, 0, 4);
    auto options = ordered();
    options.until = relay_until::empty;

    start(options)->wait();

    EXPECT_EQ(log_.size(), 100U);
    EXPECT_EQ(at_->count(), "0");
    EXPECT_EQ(at_->sql("SELECT count(*) FROM " + at_->prefix() +
                       "outbox_shard WHERE lock_until <> 0 OR shard_id < 0"),
              "0");
}

TEST_P(OutboxOrdered, FindsShardsItWasNotToldOf) {
    at_->fill(100, 100, 0, 40);

    const auto running = start(ordered());

    EXPECT_TRUE(eventually([&] { return at_->count() == "0"; }));
    EXPECT_EQ(log_.size(), 100U);
}

TEST_P(OutboxOrdered, ABlockedKeyHoldsItsOwnAndNobodyElse) {
    at_->fill(40, 4, 0, 4);
    std::atomic<bool> broken = true;
    const auto running = start(ordered(key_policy::block), [&](const message& one) -> delivery {
        if (broken && one.event.payload == "5") return {delivered::rejected, "no"};
        return {delivered::yes};
    });
    ASSERT_TRUE(eventually([&] { return log_.size() == 31; }));

    EXPECT_THAT(log_.of_key("key-1"), ElementsAre("1"));
    EXPECT_EQ(at_->count("status = 2"), "0");
    broken = false;
    ASSERT_TRUE(eventually([&] { return log_.size() == 40; }));
    EXPECT_EQ(log_.of_key("key-1"), numbers(1, 4, 40));
}

// So many that one of them is to be tried again whenever the relay looks.
TEST_P(OutboxOrdered, ManyKeysThatFailDoNotKeepItFromTheRowsBehindThem) {
    at_->fill(6'000, 2'000, 0, 1);
    at_->append({{.topic = "orders", .key = "good", .payload = "good"}}, {.shards = 1});
    auto options = ordered();
    options.shards = 1;
    options.rescan = 1s;
    const auto running = start(options, [&](const message& one) -> delivery {
        if (one.event.key != "good") return {delivered::later, "busy"};
        return {delivered::yes};
    });

    EXPECT_TRUE(eventually([&] { return log_.size() == 1; }));
}

// The sink was away for hours, and then the relay was killed.
TEST_P(OutboxOrdered, ABlockedKeyIsTriedAlsoAfterACrashHoweverOftenItWasBefore) {
    at_->fill(3, 1, 0, 1);
    at_->sql("UPDATE " + at_->table_name() + " SET attempts = 100");
    const auto killed = at_->open();
    ASSERT_EQ(killed->attend({1, 1}, 1, 1ms).value().free.size(), 1U);
    ASSERT_TRUE(killed->take(0, {1, 1}, 1ms).value());
    auto options = ordered();
    options.shards = 1;
    options.retry.first = options.retry.last = 10min;
    const auto running = start(options);

    EXPECT_TRUE(eventually([&] { return log_.size() == 3; }));
}

TEST_P(OutboxOrdered, ARelayThatHasEndedIsNotCountedAnyMore) {
    auto options = ordered();
    options.workers = 2;
    std::atomic<bool> held = false;
    const auto running = start(options, [&](const message&) -> delivery {
        held = true;
        std::this_thread::sleep_for(5s);
        return {delivered::yes};
    });
    at_->fill(1, 1, 0, 4);
    ASSERT_TRUE(eventually([&] { return held.load(); }));
    running->stop();

    EXPECT_EQ(at_->sql("SELECT count(*) FROM " + at_->prefix() +
                       "outbox_shard WHERE shard_id < 0 OR lock_until <> 0"),
              "0");
}

TEST_P(OutboxOrdered, ASkippedEventIsADeadLetterAndItsKeyGoesOn) {
    at_->fill(40, 4, 0, 4);
    const auto running = start(ordered(key_policy::skip), [](const message& one) -> delivery {
        if (one.event.payload == "5") return {delivered::later, "busy"};
        return {delivered::yes};
    });
    ASSERT_TRUE(eventually([&] { return at_->count("status <> 2") == "0"; }));
    running->stop();

    EXPECT_EQ(log_.size(), 39U);
    const auto dead = at_->open()->list({}).value();
    ASSERT_EQ(dead.size(), 1U);
    EXPECT_EQ(dead[0].it.attempts, 5);
    EXPECT_EQ(dead[0].last_error, "busy");
    auto rest = numbers(1, 4, 40);
    std::erase(rest, "5");
    EXPECT_EQ(log_.of_key("key-1"), rest);
}

TEST_P(OutboxOrdered, AParkedKeyWaitsForTheOperator) {
    at_->fill(40, 4, 0, 4);
    std::atomic<bool> broken = true;
    const auto running = start(ordered(key_policy::park), [&](const message& one) -> delivery {
        if (broken && one.event.payload == "5") return {delivered::rejected, "no"};
        return {delivered::yes};
    });
    ASSERT_TRUE(eventually([&] { return at_->count("status = 3") == "8"; }));

    EXPECT_THAT(log_.of_key("key-1"), ElementsAre("1"));
    EXPECT_EQ(at_->count("status = 2"), "1");
    // A later one is parked, too.
    at_->fill(4, 4, 40, 4);
    ASSERT_TRUE(eventually([&] { return at_->count("status = 3") == "9"; }));
    broken = false;
    EXPECT_EQ(at_->open()->requeue({}).value(), 1U);
    ASSERT_TRUE(eventually([&] { return at_->count() == "0"; }));
    EXPECT_EQ(log_.of_key("key-1"), numbers(1, 4, 44));
}

TEST_P(OutboxOrdered, AStaleOwnerCanSettleNothing) {
    at_->fill(3, 1, 0, 1);
    const auto one = at_->open();
    const auto other = at_->open();
    ASSERT_EQ(one->attend({1, 1}, 1, 30s).value().free.size(), 1U);
    const auto mine = one->take(0, {1, 1}, duration{1}).value();
    ASSERT_TRUE(mine);
    EXPECT_FALSE(mine->abandoned);
    const shard_lock stale{.shard = 0, .epoch = mine->epoch, .owner = {1, 1}};
    const auto rows = one->advance(stale, {}, read_request{.rows_max = 10}).value().rows;
    ASSERT_EQ(rows.size(), 3U);
    std::this_thread::sleep_for(5ms); // the lease of a microsecond has lapsed

    const auto theirs = other->take(0, {2, 2}, 30s).value();

    ASSERT_TRUE(theirs);
    EXPECT_TRUE(theirs->abandoned);
    EXPECT_GT(theirs->epoch, mine->epoch);
    settlement late{.done = {rows[0].row}};
    late.back.push_back({.row = rows[1].row, .as = row_status::dead});
    EXPECT_EQ(one->advance(stale, late, {}).value().done, 0U);
    EXPECT_EQ(at_->count("status = 0"), "3");
    EXPECT_FALSE(one->take(0, {1, 1}, 30s).value()) << "it is taken";
    EXPECT_TRUE(one->attend({1, 1}, 1, 30s).value().own.empty());
}

TEST_P(OutboxOrdered, RelaysShareTheShardsAndTakeOverThoseOfTheOthers) {
    if (std::string{GetParam()} == "sqlite") return; // one relay per file
    auto options = ordered();
    options.lease = 2s;
    delivered_log other;
    const auto one = start(options);
    auto two = open_relay({at_->opener()}, told_sinks(other), options).value();
    const auto owners = [&] {
        return at_->sql("SELECT count(DISTINCT owner) FROM " + at_->prefix() +
                        "outbox_shard WHERE shard_id >= 0 AND lock_until > 0");
    };
    ASSERT_TRUE(eventually([&] { return owners() == "2"; }));
    at_->fill(200, 20, 0, 4);
    ASSERT_TRUE(eventually([&] { return log_.size() + other.size() == 200; }));
    EXPECT_GT(log_.size(), 0U);
    EXPECT_GT(other.size(), 0U);

    two->stop();
    at_->fill(200, 20, 200, 4);
    ASSERT_TRUE(eventually([&] { return log_.size() + other.size() == 400; }));

    EXPECT_EQ(owners(), "1");
}

// A parallel relay was here before: its retries and claims become part of the order.
TEST_P(OutboxOrdered, TakesOverWhatAParallelRelayHasLeft) {
    at_->fill(9, 1, 0, 1);
    at_->sql("UPDATE " + at_->table_name() +
             " SET next_retry_time = 99999999999999999 WHERE payload = '2'");
    at_->sql("UPDATE " + at_->table_name() + " SET status = 1, lock_until = 5 WHERE payload = '4'");
    auto options = ordered();
    options.until = relay_until::empty;
    options.shards = 1;

    start(options)->wait();

    EXPECT_EQ(log_.of_key("key-0"), numbers(0, 1, 9));
}

} // namespace
} // namespace semel::outbox
