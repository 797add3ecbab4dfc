// The sink for Redis streams on real servers.
#include <future>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messaging/events.hpp"
#include "stores/redis/private_redis.hpp"

namespace semel::messaging_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class RedisSink : public testing::Test {
protected:
    ~RedisSink() override { client_.remove_all(stream_); }

    std::string url(const std::string& parameters = {}) const {
        return url_ + "/0?stream=" + stream_ + parameters;
    }
    std::uint64_t length() { return std::stoull(client_.ask({"XLEN", stream_})); }

    const std::string url_ = test::server_url("SEMEL_TEST_REDIS");
    test::redis_client client_{test::options_of(url_)};
    const std::string stream_ = test::fresh_prefix() + "events";
};

// The ids of the events in a stream, in its order.
std::vector<std::string> ids_in(test::redis_client& client, const std::string& stream) {
    std::vector<std::string> made;
    for (const auto& entry : client.list({"XRANGE", stream, "-", "+"})) {
        const std::size_t at = entry.find("\nid\n") + 4;
        made.push_back(entry.substr(at, entry.find('\n', at) - at));
    }
    return made;
}

TEST_F(RedisSink, CanBeTriedWithoutAnEvent) {
    EXPECT_TRUE(outbox::try_sink(url()));
    EXPECT_TRUE(outbox::check_sink("redis://127.0.0.1:1/0"));
    EXPECT_EQ(outbox::try_sink("redis://127.0.0.1:1/0").error().code, errc::unavailable);
    EXPECT_EQ(length(), 0U);
}

TEST_F(RedisSink, AddsAnEntryPerEventWithAllItCarries) {
    auto sink = outbox::open_sink(url()).value();
    auto batch = events(1, {"customer 7"});
    batch[0].event.headers.push_back({"odd\r\nname", std::string{"\0\r\n", 3}});

    const auto answers = deliver(*sink, batch);

    EXPECT_THAT(kinds(answers), ElementsAre(delivered::yes));
    const std::string entry = client_.list({"XRANGE", stream_, "-", "+"}).at(0);
    EXPECT_THAT(entry,
                HasSubstr("\nid\ne-1\ntopic\norders\nkey\ncustomer 7\npayload\npayload 1\n"));
    EXPECT_THAT(entry, HasSubstr("header:idempotency-key\nk-1\n"));
    EXPECT_THAT(entry, HasSubstr("header:odd\r\nname\n" + std::string{"\0\r\n", 3}));
}

// One that is refused holds up its own key and no other.
TEST(RedisSinkRights, ATopicThatMayNotBeWrittenToIsLeftOut) {
    test::private_redis server;
    test::redis_client root{server.options()};
    root.ask({"ACL", "SETUSER", "bob", "on", ">secret", "~open:*", "+@all"});
    auto sink = outbox::open_sink("redis://bob:secret@127.0.0.1:" + std::to_string(server.port()) +
                                  "?stream={topic}")
                    .value();
    auto batch = events(6, {"a", "b", "c"});
    for (auto& one : batch) one.event.topic = "open:x";
    batch[1].event.topic = "closed:x"; // the first of key b

    const auto answers = deliver(*sink, batch, order::per_key);

    EXPECT_THAT(kinds(answers), ElementsAre(delivered::yes, delivered::later, delivered::yes,
                                            delivered::yes, delivered::held, delivered::yes));
    EXPECT_THAT(answers[1].error, HasSubstr("NOPERM"));
    EXPECT_THAT(ids_in(root, "open:x"), ElementsAre("e-1", "e-3", "e-4", "e-6"));
}

TEST_F(RedisSink, TakesTheStreamFromTheTopic) {
    auto sink = outbox::open_sink(url_ + "?stream=" + stream_ + ":{topic}").value();

    deliver(*sink, events(3));

    EXPECT_EQ(client_.ask({"XLEN", stream_ + ":orders"}), "3");
    client_.ask({"UNLINK", stream_ + ":orders"});
}

TEST_F(RedisSink, KeepsTheStreamShort) {
    auto sink = outbox::open_sink(url("&maxlen=100")).value();

    deliver(*sink, events(2'000));

    EXPECT_LT(length(), 400U); // Redis trims whole nodes of a hundred
}

TEST_F(RedisSink, LargePayloadsAndManyOfThemGoThrough) {
    auto sink = outbox::open_sink(url()).value();
    auto batch = events(30);
    for (auto& one : batch) one.event.payload.assign(std::size_t{1} << 20, 'x');

    EXPECT_EQ(count(deliver(*sink, batch), delivered::yes), 30U);
    EXPECT_EQ(count(deliver(*sink, batch, order::per_key), delivered::yes), 30U);
    EXPECT_EQ(length(), 60U);
}

TEST_F(RedisSink, OrderOfTheBatchIsTheOrderOfTheStream) {
    auto sink = outbox::open_sink(url()).value();

    EXPECT_EQ(deliver_all(*sink, events(500, {"a", "b"}), order::per_key), 1);

    const auto ids = ids_in(client_, stream_);
    ASSERT_EQ(ids.size(), 500U);
    EXPECT_EQ(ids.front(), "e-1");
    EXPECT_EQ(ids.back(), "e-500");
}

TEST_F(RedisSink, AFailureHoldsTheOthersOfItsKey) {
    client_.ask({"SET", stream_, "something else"});
    auto sink = outbox::open_sink(url()).value();

    const auto answers = deliver(*sink, events(4, {"a", "b"}), order::per_key);

    EXPECT_THAT(kinds(answers),
                ElementsAre(delivered::later, delivered::later, delivered::held, delivered::held));
    EXPECT_THAT(answers[0].error, HasSubstr("WRONGTYPE"));
}

TEST(RedisSinkServer, WithoutMemoryNothingOfAnOrderedBatchGetsThrough) {
    test::private_redis server{{"--maxmemory", "3mb", "--maxmemory-policy", "noeviction"}};
    const std::string url = "redis://127.0.0.1:" + std::to_string(server.port()) + "?stream=s";
    auto sink = outbox::open_sink(url).value();
    auto batch = events(50, {"a"});
    for (auto& one : batch) one.event.payload.assign(100'000, 'x');

    const auto answers = deliver(*sink, batch, order::per_key);
    test::redis_client client{server.options()};
    const bool none = client.ask({"XLEN", "s"}) == "0";
    client.ask({"CONFIG", "SET", "maxmemory", "0"});
    const int rounds = deliver_all(*sink, batch, order::per_key);

    // Either the first exchange was refused whole, or it fitted whole; never a part of it.
    EXPECT_EQ(count(answers, delivered::yes), none ? 0U : 50U);
    if (none) {
        EXPECT_THAT(answers[0].error, HasSubstr("OOM"));
        EXPECT_EQ(count(answers, delivered::held), 49U);
    }
    EXPECT_EQ(rounds, 1);
    EXPECT_EQ(client.ask({"XLEN", "s"}), "50");
}

TEST(RedisSinkServer, ARestartInTheMiddleLosesNothing) {
    test::private_redis server{{"--appendonly", "yes", "--appendfsync", "always"}};
    auto sink = outbox::open_sink("redis://127.0.0.1:" + std::to_string(server.port()) +
                                  "?stream=s&command_timeout_ms=1000")
                    .value();
    std::promise<void> begun;

    auto restarted = std::async(std::launch::async, [&] {
        begun.get_future().wait();
        server.kill();
        server.start();
    });
    int done = 0;
    int batches = 0;
    for (int i = 0; i < 40 || restarted.wait_for(0s) != std::future_status::ready; ++i) {
        auto batch = events(100, {"a", "b", "c"});
        for (auto& one : batch) one.event.id += "-" + std::to_string(i);
        if (i == 5) begun.set_value();
        ++batches;
        done += deliver_all(*sink, batch, order::per_key) > 0 ? 1 : 0;
    }
    restarted.get();

    test::redis_client client{server.options()};
    const auto ids = ids_in(client, "s");
    EXPECT_EQ(done, batches);
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(),
              100U * static_cast<unsigned>(batches));
}

TEST(RedisSinkServer, SaysWhatIsWrongWithAddressAndPassword) {
    test::private_redis server{{"--requirepass", "right"}};
    const std::string at = "127.0.0.1:" + std::to_string(server.port());
    const auto error = [](const std::string& url) {
        return deliver(*outbox::open_sink(url).value(), events(1))[0].error;
    };

    EXPECT_THAT(error("redis://127.0.0.1:1"), HasSubstr("check that the server runs"));
    EXPECT_THAT(error("redis://no-such-host.invalid"), HasSubstr("check the host name"));
    EXPECT_THAT(error("redis://" + at), HasSubstr("wants a password"));
    EXPECT_THAT(error("redis://:wrong@" + at), HasSubstr("check user and password"));
    EXPECT_EQ(error("redis://:right@" + at), "");
}

} // namespace
} // namespace semel::messaging_test
