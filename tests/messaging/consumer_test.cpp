// Consumers on real brokers; each test runs on both.
#include <future>
#include <map>
#include <mutex>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/support/upstream.hpp"
#include "messaging/brokers.hpp"
#include "semel/consumer.hpp"
#include "semel/store/memory.hpp"
#include "stores/redis/private_redis.hpp"

namespace semel::messaging_test {
namespace {

using consumer::received;
using edge::support::eventually;
using edge::support::gate_flag;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using namespace std::chrono_literals;

const request scope{.tenant = "acme", .operation = "BILL"};

// A consumer on a thread of its own, until it goes.
class running {
public:
    running(const std::string& url, consumer::handler what, consumer::consumer_options options = {})
        : it_(consumer::open_consumer(url, std::move(what), quiet(std::move(options))).value()),
          thread_(
              [this](std::stop_token stop) { ended_ = it_->run(std::move(stop)).has_value(); }) {}
    void stop() {
        thread_.request_stop();
        thread_.join();
    }

private:
    static consumer::consumer_options quiet(consumer::consumer_options options) {
        options.log = null_logger();
        return options;
    }

    std::unique_ptr<consumer::runner> it_;
    std::atomic<bool> ended_ = false;
    std::jthread thread_;
};

// How often each event has taken effect. Thread-safe.
class effects {
public:
    void add(const std::string& id) {
        const std::lock_guard lock{mutex_};
        ++counts_[id];
    }
    std::size_t events() {
        const std::lock_guard lock{mutex_};
        return counts_.size();
    }
    int most() {
        const std::lock_guard lock{mutex_};
        int made = 0;
        for (const auto& [id, count] : counts_) made = std::max(made, count);
        return made;
    }
    int of(const std::string& id) {
        const std::lock_guard lock{mutex_};
        return counts_[id];
    }

private:
    std::mutex mutex_;
    std::map<std::string, int> counts_;
};

class Consumer : public testing::TestWithParam<broker_kind> {
protected:
    consumer::handler counting() {
        return consumer::once_each(engine_, scope, [this](const received& got, execution&) {
            effects_.add(got.event.id);
        });
    }
    consumer::consumer_options quick() {
        return {.retry_first = 20ms, .retry_max = 100ms, .claim_after = 1s, .metrics = &metrics_};
    }

    std::unique_ptr<broker> broker_ = make_broker(GetParam());
    engine engine_{open_memory_store(), {}, {.log = null_logger()}};
    consumer::consumer_metrics metrics_;
    effects effects_;
};

TEST_P(Consumer, EveryMessageTakesEffectOnceAndCarriesAllItHad) {
    auto batch = events(250, {"customer 7"});
    batch[0].event.headers.push_back({"odd\r\nname", "%41\r\n\xFF"});
    broker_->publish(batch);
    std::promise<outbox::event> first;

    running it{broker_->consumer_url(),
               consumer::once_each(engine_, scope,
                                   [&](const received& got, execution&) {
                                       if (got.event.id == "e-1") first.set_value(got.event);
                                       effects_.add(got.event.id);
                                   }),
               quick()};

    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() == 250; }));
    it.stop();
    const auto got = first.get_future().get();
    EXPECT_EQ(got.topic, "orders");
    EXPECT_EQ(got.key, "customer 7");
    EXPECT_EQ(got.payload, "payload 1");
    EXPECT_THAT(got.headers, testing::UnorderedElementsAreArray(batch[0].event.headers));
    EXPECT_EQ(effects_.most(), 1);
    EXPECT_EQ(broker_->unacknowledged(), 0);
}

TEST_P(Consumer, WhatWasHandledBeforeIsAcknowledgedAndNotRun) {
    for (const char* id : {"e-1", "e-2"}) engine_.consume({"acme", "BILL", id}, 1h, [] {});
    broker_->publish(events(5));

    running it{broker_->consumer_url(), counting(), quick()};

    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() == 5; }));
    EXPECT_EQ(metrics_.duplicates.get(), 2U);
    EXPECT_EQ(effects_.events(), 3U);
}

TEST_P(Consumer, WhatSomebodyElseIsRunningComesAgain) {
    gate_flag begun;
    gate_flag over;
    std::thread other{[&] {
        try {
            engine_.consume({"acme", "BILL", "e-1"}, 1h, [&] {
                begun.open();
                over.wait();
                throw std::runtime_error("not done after all");
            });
        } catch (const std::runtime_error&) { // its own
        }
    }};
    begun.wait();
    broker_->publish(events(2));

    running it{broker_->consumer_url(), counting(), quick()};
    const bool seen = eventually([&] { return metrics_.in_progress.get() >= 2; });
    const int while_held = effects_.of("e-1");
    over.open();
    other.join();

    EXPECT_TRUE(seen);
    EXPECT_EQ(while_held, 0);
    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() == 2; }));
    EXPECT_EQ(effects_.of("e-1"), 1);
}

TEST_P(Consumer, WhatFailsTooOftenIsParkedAndTheOthersGoOn) {
    broker_->publish(events(10));
    auto options = quick();
    options.attempts_max = 3;

    running it{broker_->consumer_url(),
               consumer::once_each(engine_, scope,
                                   [&](const received& got, execution& run) {
                                       effects_.add(got.event.id);
                                       if (got.event.id == "e-3") throw std::runtime_error("bad");
                                       if (got.event.id == "e-4" && run.attempt() == 1) {
                                           throw std::runtime_error("not yet");
                                       }
                                   }),
               options};

    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() == 10; }));
    EXPECT_EQ(metrics_.parked.get(), 1U);
    EXPECT_EQ(metrics_.executed.get(), 9U);
    EXPECT_EQ(effects_.of("e-3"), 3);
    EXPECT_EQ(effects_.of("e-4"), 2);
    EXPECT_THAT(broker_->dead_letters(), ElementsAre("e-3 bad"));
    EXPECT_EQ(broker_->unacknowledged(), 0);
}

// Only then it is acknowledged.
TEST(RedisDeadLetters, AreKeptOrTheirMessageStays) {
    test::private_redis server;
    test::redis_client client{server.options()};
    const std::string url = "redis://127.0.0.1:" + std::to_string(server.port()) + "/0?stream=s";
    client.ask({"SET", "s:dead", "in the way"});
    deliver_all(*outbox::open_sink(url).value(), events(1));
    engine records{open_memory_store(), {}, {.log = null_logger()}};
    consumer::consumer_metrics metrics;
    std::atomic<int> runs = 0;
    const running it{url + "&group=billing",
                     consumer::once_each(records, scope,
                                         [&](const received&, execution&) {
                                             ++runs;
                                             throw std::runtime_error("bad");
                                         }),
                     {.attempts_max = 1,
                      .retry_first = 20ms,
                      .retry_max = 100ms,
                      .claim_after = 1s,
                      .metrics = &metrics}};
    ASSERT_TRUE(eventually([&] { return runs > 0; }));
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(client.list({"XPENDING", "s", "billing"}).at(0), "1");

    client.ask({"DEL", "s:dead"});

    EXPECT_TRUE(eventually([&] { return client.ask({"XLEN", "s:dead"}) == "1"; }));
    EXPECT_TRUE(eventually([&] { return client.list({"XPENDING", "s", "billing"}).at(0) == "0"; }));
}

// The acknowledgement and the dead letter travel together, and both are refused.
TEST(RedisDeadLetters, ThatAreRefusedForAMomentDoNotMixUpWhatComesAfterThem) {
    test::private_redis server;
    test::redis_client client{server.options()};
    const std::string url = "redis://127.0.0.1:" + std::to_string(server.port()) + "/0?stream=s";
    const auto sink = outbox::open_sink(url).value();
    deliver_all(*sink, events(2));
    engine records{open_memory_store(), {}, {.log = null_logger()}};
    effects seen;
    std::jthread writable_again;
    const running it{
        url + "&group=billing",
        consumer::once_each(records, scope,
                            [&](const received& got, execution&) {
                                seen.add(got.event.id);
                                if (got.event.id != "e-2") return;
                                client.ask({"CONFIG", "SET", "min-replicas-to-write", "1"});
                                writable_again = std::jthread{[&] {
                                    std::this_thread::sleep_for(60ms);
                                    client.ask({"CONFIG", "SET", "min-replicas-to-write", "0"});
                                }};
                                throw std::runtime_error("bad");
                            }),
        {.attempts_max = 1, .retry_first = 20ms, .retry_max = 100ms, .claim_after = 1s}};
    ASSERT_TRUE(eventually([&] { return seen.of("e-2") > 0; }));
    std::this_thread::sleep_for(200ms);

    deliver_all(*sink, events(10));

    EXPECT_TRUE(eventually([&] { return seen.events() == 10; }));
    test::redis_client other{server.options()};
    EXPECT_TRUE(eventually([&] { return other.ask({"XLEN", "s:dead"}) != "0"; }));
    EXPECT_TRUE(eventually([&] { return other.list({"XPENDING", "s", "billing"}).at(0) == "0"; }));
}

TEST_P(Consumer, AMessageWithoutAnIdIsKnownByItsPlace) {
    broker_->publish_plain("hello");
    broker_->publish_plain("hello");

    running it{broker_->consumer_url(), counting(), quick()};

    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() == 2; }));
    EXPECT_EQ(effects_.events(), 2U);
}

TEST_P(Consumer, AnIdThatCanBeNoKeyIsParked) {
    auto batch = events(2);
    batch[0].event.id.assign(300, 'x');
    broker_->publish(batch);

    running it{broker_->consumer_url(), counting(), quick()};

    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() == 2; }));
    EXPECT_THAT(broker_->dead_letters(), ElementsAre(HasSubstr("255 bytes")));
}

TEST_P(Consumer, AStoreThatIsAwayCostsNoAttempts) {
    broker_->publish(events(3));
    std::atomic<int> asked = 0;
    std::atomic<std::uint32_t> deliveries = 0;
    auto options = quick();
    options.attempts_max = 2;

    running it{broker_->consumer_url(),
               [&](std::span<const received> batch, std::uint32_t) {
                   std::vector<consumer::handled> made(batch.size());
                   if (++asked < 6) return made;
                   for (std::size_t i = 0; i < batch.size(); ++i) {
                       made[i] = {.how = consumed::executed, .attempts = 1};
                       deliveries = std::max(deliveries.load(), batch[i].deliveries);
                   }
                   return made;
               },
               options};

    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() == 3; }));
    EXPECT_EQ(deliveries, 1U);
    EXPECT_EQ(metrics_.parked.get(), 0U);
}

TEST_P(Consumer, TwoOfAGroupShareTheMessages) {
    auto options = quick();
    options.batch_max = 10;
    running first{broker_->consumer_url(), counting(), options};
    running second{broker_->consumer_url(), counting(), options};

    for (int i = 0; i < 20; ++i) {
        auto batch = events(50);
        for (auto& one : batch) one.event.id += "-" + std::to_string(i);
        broker_->publish(batch);
    }

    EXPECT_TRUE(eventually([&] { return metrics_.acknowledged.get() >= 1'000; }));
    first.stop();
    second.stop();
    EXPECT_EQ(effects_.events(), 1'000U);
    EXPECT_EQ(effects_.most(), 1);
}

TEST_P(Consumer, WhatAStoppedOneHeldBackAnotherTakesAtOnce) {
    broker_->publish(events(1));
    auto options = quick();
    options.retry_first = 1h;
    options.retry_max = 1h;
    if (GetParam() == broker_kind::redis) options.claim_after = 1h;
    if (GetParam() == broker_kind::nats) options.retry_first = options.retry_max = 500ms;
    running first{broker_->consumer_url(),
                  consumer::once_each(
                      engine_, scope,
                      [](const received&, execution&) { throw std::runtime_error("not here"); }),
                  options};
    EXPECT_TRUE(eventually([&] { return metrics_.failed.get() == 1; }));

    first.stop();
    running second{broker_->consumer_url(), counting(), options};

    EXPECT_TRUE(eventually([&] { return effects_.events() == 1; }));
}

TEST_P(Consumer, WrongPasswordsAndMissingNamesEndItAtOnce) {
    const auto refusal = [&](const std::string& url) {
        auto it = consumer::open_consumer(url, counting(), {.log = null_logger()});
        if (!it) return it.error().detail;
        return (*it)->run({}).error().detail;
    };
    const bool redis = GetParam() == broker_kind::redis;
    std::string url = broker_->consumer_url();
    const std::size_t host = redis ? url.find("127.") : url.find('@') + 1;
    url = (redis ? "redis://who:wrong@" : "nats://who:wrong@") + url.substr(host);

    EXPECT_THAT(refusal(url), HasSubstr("check user and password"));
    EXPECT_THAT(refusal(redis ? "redis://h?stream=x" : "nats://h?stream=x"), HasSubstr("needs"));
    EXPECT_THAT(refusal("kafka://h"), HasSubstr("known: redis://"));
}

TEST_P(Consumer, ABrokerThatRestartsInTheMiddleLosesNothing) {
    auto own = make_private_broker(GetParam());
    auto options = quick();
    options.batch_max = 20;
    running it{own->consumer_url(), counting(), options};

    std::size_t published = 0;
    for (int i = 0; i < 30; ++i) {
        auto batch = events(50);
        for (auto& one : batch) one.event.id += "-" + std::to_string(i);
        own->publish(batch);
        published += batch.size();
        if (i == 10 || i == 20) own->restart();
    }

    EXPECT_TRUE(eventually([&] { return effects_.events() == published; }));
    EXPECT_TRUE(eventually([&] { return own->unacknowledged() == 0; }));
    EXPECT_EQ(effects_.most(), 1);
    EXPECT_GT(metrics_.interruptions.get(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Redis, Consumer, testing::Values(broker_kind::redis));
INSTANTIATE_TEST_SUITE_P(Nats, Consumer, testing::Values(broker_kind::nats));

} // namespace
} // namespace semel::messaging_test
