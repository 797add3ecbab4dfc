// Who waits for an attempt of another process hears of its end by the channel of its key.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "private_redis.hpp"
#include "redis_fixture.hpp"
#include "semel/engine.hpp"
#include "semel/store/decorators.hpp"
#include "semel/store/memory.hpp"
#include "semel/store/tiered.hpp"
#include "support/shared_store.hpp"

namespace semel {
namespace wake_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::private_redis;

class counted_news {
public:
    unique_function<void()> hear() {
        return [this] { ++count_; };
    }
    bool reaches(int count) const {
        for (int i = 0; i < 5'000 && count_ < count; ++i) {
            std::this_thread::sleep_for(milliseconds{1});
        }
        return count_ >= count;
    }
    [[nodiscard]] int count() const { return count_; }

private:
    std::atomic<int> count_ = 0;
};

using RedisWake = redis_test;

TEST_F(RedisWake, TheEndOfAnAttemptElsewhereIsHeard) {
    const auto here = open();
    const auto elsewhere = open();
    const record_id id = id_of("k");
    const claim by = must_start(*elsewhere, id, begin_of(1));
    counted_news news;
    const auto watch = here->watch(id, news.hear());
    ASSERT_TRUE(news.reaches(1)) << "that it may have ended before anybody listened";

    ASSERT_TRUE(elsewhere->call(id, complete_of(by, "x")));

    EXPECT_TRUE(news.reaches(2));
}

TEST_F(RedisWake, OtherRecordsAreNotHeardAndNothingIsAfterwards) {
    const auto here = open();
    counted_news news;
    counted_news others;
    auto watch = here->watch(id_of("k"), news.hear());
    const auto other = here->watch(id_of("other"), others.hear());
    ASSERT_TRUE(news.reaches(1) && others.reaches(1));
    const claim by = must_start(*here, id_of("other"), begin_of(1));
    ASSERT_TRUE(here->call(id_of("other"), complete_of(by, "x")));
    ASSERT_TRUE(others.reaches(2));
    EXPECT_EQ(news.count(), 1);

    watch.reset();

    const claim late = must_start(*here, id_of("k"), begin_of(1));
    ASSERT_TRUE(here->call(id_of("k"), complete_of(late, "x")));
    for (int i = 0; i < 200 && client_.ask({"PUBSUB", "NUMSUB", key_of(id_of("k"))}) !=
                                   key_of(id_of("k")) + "\n0\n";
         ++i) {
        std::this_thread::sleep_for(milliseconds{5});
    }
    EXPECT_EQ(client_.ask({"PUBSUB", "NUMSUB", key_of(id_of("k"))}), key_of(id_of("k")) + "\n0\n");
    EXPECT_EQ(news.count(), 1);
}

TEST_F(RedisWake, NobodyListensWhereNothingIsPublished) {
    options_.wake = redis_wake::none;
    const auto store = open();

    EXPECT_EQ(store->watch(id_of("k"), [] {}), nullptr);
}

TEST_F(RedisWake, AFrontIsHeardThroughEveryDecorator) {
    const std::shared_ptr<store> truth = open_memory_store({});
    store_metrics metrics;
    const auto open_tiered = [&] {
        return open_metered_store(
            open_cached_store(open_tiered_store(open_redis_front(options_).value(),
                                                std::make_unique<support::shared_store>(truth))),
            metrics);
    };
    const auto here = open_tiered();
    const auto elsewhere = open_tiered();
    const claim by = must_start(*elsewhere, id_of("k"), begin_of(1));
    counted_news news;
    const auto watch = here->watch(id_of("k"), news.hear());
    ASSERT_TRUE(news.reaches(1));

    ASSERT_TRUE(elsewhere->call(id_of("k"), complete_of(by, "x")));

    EXPECT_TRUE(news.reaches(2));
}

// Microseconds between the end of the work and the answer to a repeat in another engine.
std::int64_t delay_of(engine& owner, engine& other, const std::string& key) {
    const request what{.tenant = "acme", .operation = "ORDER_CREATE", .key = key};
    std::atomic<bool> working = false;
    std::atomic<std::int64_t> ended = 0;
    const auto now = [] { return local_clock::now().time_since_epoch().count(); };
    std::thread first{[&] {
        (void)owner.execute<std::string>(what, [&] {
            working = true;
            std::this_thread::sleep_for(milliseconds{600});
            ended = now();
            return std::string{"once"};
        });
    }};
    while (!working) std::this_thread::sleep_for(milliseconds{1});
    const auto got =
        other.execute<std::string>(what, []() -> std::string { throw std::logic_error{"twice"}; });
    const std::int64_t heard = now();
    first.join();
    EXPECT_TRUE(got.replayed());
    return heard - ended;
}

// Its polls are up to 200 ms apart by then; the news comes at once.
TEST_F(RedisWake, AWaitingCallerOfAnotherEngineIsWoken) {
    engine owner{open()};
    engine other{open()};
    std::vector<std::int64_t> delays;

    for (int i = 0; i < 5; ++i) delays.push_back(delay_of(owner, other, std::to_string(i)));

    std::sort(delays.begin(), delays.end());
    EXPECT_LT(delays[2], 50'000) << "in the middle";
}

TEST_F(RedisWake, ATierListensAtItsFrontWhereAMeteredTruthHearsNothing) {
    store_metrics counted;
    const auto tier = open_tiered_store(open_redis_front(options_).value(),
                                        open_metered_store(open_memory_store({}), counted), {});
    counted_news news;

    const auto watch = tier->watch(id_of("k"), news.hear());

    EXPECT_TRUE(news.reaches(1));
}

TEST(RedisWakeFaults, AfterALostConnectionEverybodyIsTold) {
    private_redis server;
    const auto store = open_redis_store(server.options()).value();
    counted_news news;
    const auto watch = store->watch(id_of("k"), news.hear());
    ASSERT_TRUE(news.reaches(1));
    server.kill();
    server.start();

    EXPECT_TRUE(news.reaches(3)) << "one for the loss, one for the new connection";
    const claim by = must_start(*store, id_of("k"), begin_of(1));
    ASSERT_TRUE(store->call(id_of("k"), complete_of(by, "x")));
    EXPECT_TRUE(news.reaches(4));
}

TEST(RedisWakeFaults, AServerThatWasBusyIsAskedAgain) {
    private_redis server{{"--busy-reply-threshold", "10"}};
    const auto store = open_redis_store(server.options()).value();
    test::redis_client root{server.options()};
    root.ask({"PING"}); // connected, before the server is busy
    const std::jthread blocker{[&] {
        test::redis_client client{server.options()};
        EXPECT_ANY_THROW(client.ask({"EVAL", "while true do end", "0"})) << "until it is killed";
    }};
    std::this_thread::sleep_for(milliseconds{200});
    counted_news news;
    const auto watch = store->watch(id_of("k"), news.hear());
    std::this_thread::sleep_for(milliseconds{200});
    EXPECT_EQ(news.count(), 0);

    root.ask({"SCRIPT", "KILL"});

    EXPECT_TRUE(news.reaches(1));
}

TEST(RedisWakeFaults, AUserWhoMayNotListenPolls) {
    private_redis server;
    const auto options = as_user_with({"~*", "resetchannels", "+@all"}, server.options());
    const auto store = open_redis_store(options).value();
    counted_news news;

    const auto watch = store->watch(id_of("k"), news.hear());
    std::this_thread::sleep_for(milliseconds{200});

    EXPECT_EQ(news.count(), 0);
    must_start(*store, id_of("k"), begin_of(1));
}

} // namespace
} // namespace wake_test
} // namespace semel
