// The sink for NATS JetStream on real servers.
#include <future>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/support/upstream.hpp"
#include "messaging/events.hpp"
#include "messaging/nats_client.hpp"
#include "messaging/private_nats.hpp"
#include "support/redis_server.hpp"

namespace semel::messaging_test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class NatsSink : public testing::Test {
protected:
    NatsSink() {
        static int last = 0;
        name_ = "sink-" + std::to_string(::getpid()) + "-" + std::to_string(++last);
    }
    ~NatsSink() override { client_.delete_stream(name_); }

    void make_stream(const test::nats_client::stream_settings& settings = {}) {
        client_.make_stream(name_, name_ + ".>", settings);
    }
    std::string url(const std::string& parameters = {}) const {
        return url_ + "?subject=" + name_ + ".{topic}" + parameters;
    }
    std::vector<std::string> ids() {
        std::vector<std::string> made;
        for (auto& one : client_.messages(name_)) made.push_back(one.headers["Nats-Msg-Id"]);
        return made;
    }

    const std::string url_ = test::server_url("SEMEL_TEST_NATS");
    std::string name_;
    test::nats_client client_{url_};
};

TEST_F(NatsSink, CanBeTriedWithoutAnEvent) {
    make_stream();

    EXPECT_TRUE(outbox::try_sink(url()));
    EXPECT_TRUE(outbox::check_sink("nats://127.0.0.1:1"));
    EXPECT_EQ(outbox::try_sink("nats://127.0.0.1:1").error().code, errc::unavailable);
    EXPECT_TRUE(ids().empty());
}

TEST_F(NatsSink, PublishesAMessagePerEventWithAllItCarries) {
    make_stream();
    auto sink = outbox::open_sink(url()).value();
    auto batch = events(1, {"customer 7"});
    batch[0].event.headers.push_back({"Nats-Rollup", "all\r\nNats-Msg-Id: other"});
    batch[0].event.headers.push_back({"traceparent", "00-ab-cd-01"});

    const auto answers = deliver(*sink, batch);

    EXPECT_EQ(answers[0].error, "");
    const auto got = client_.messages(name_).at(0);
    EXPECT_EQ(got.subject, name_ + ".orders");
    EXPECT_EQ(got.data, "payload 1");
    EXPECT_EQ(got.headers.at("Nats-Msg-Id"), "e-1");
    EXPECT_EQ(got.headers.at("Semel-Topic"), "orders");
    EXPECT_EQ(got.headers.at("Semel-Key"), "customer 7");
    EXPECT_EQ(got.headers.at("traceparent"), "00-ab-cd-01");
    EXPECT_EQ(got.headers.at("Semel-Header-Nats-Rollup"), "all%0D%0ANats-Msg-Id: other");
    EXPECT_FALSE(got.headers.contains("Nats-Rollup"));
}

TEST_F(NatsSink, TheStreamDropsWhatItHasAlready) {
    make_stream();
    auto sink = outbox::open_sink(url()).value();

    EXPECT_EQ(count(deliver(*sink, events(300)), delivered::yes), 300U);
    EXPECT_EQ(count(deliver(*sink, events(300)), delivered::yes), 300U);

    EXPECT_EQ(client_.count(name_), 300U);
}

TEST_F(NatsSink, OrderOfTheBatchIsTheOrderOfEachKey) {
    make_stream();
    auto sink = outbox::open_sink(url()).value();

    EXPECT_EQ(deliver_all(*sink, events(60, {"a", "b", "c"}), order::per_key), 1);

    std::map<int, int> last;
    for (const auto& id : ids()) {
        const int number = std::stoi(id.substr(2));
        EXPECT_GT(number, last[number % 3]);
        last[number % 3] = number;
    }
}

TEST_F(NatsSink, AFullStreamHoldsTheOthersOfAKey) {
    make_stream({.messages_max = 2});
    auto sink = outbox::open_sink(url()).value();

    const auto answers = deliver(*sink, events(5, {"a"}), order::per_key);

    EXPECT_THAT(kinds(answers), ElementsAre(delivered::yes, delivered::yes, delivered::later,
                                            delivered::held, delivered::held));
    EXPECT_THAT(answers[2].error, HasSubstr("maximum messages"));
}

TEST_F(NatsSink, WhatTheStreamWillNeverTakeIsRejectedAlone) {
    make_stream({.message_bytes_max = 1'000});
    auto sink = outbox::open_sink(url()).value();
    auto batch = events(4);
    batch[1].event.payload.assign(5'000, 'x');                // over the stream's limit
    batch[2].event.payload.assign(std::size_t{4} << 20, 'x'); // over the server's
    batch[3].event.topic = "all.*";

    const auto answers = deliver(*sink, batch);

    EXPECT_THAT(kinds(answers), ElementsAre(delivered::yes, delivered::rejected,
                                            delivered::rejected, delivered::rejected));
    EXPECT_THAT(answers[3].error, HasSubstr("no subject"));
}

TEST_F(NatsSink, LargePayloadsGoThrough) {
    make_stream();
    auto sink = outbox::open_sink(url()).value();
    auto batch = events(20);
    for (auto& one : batch) one.event.payload.assign(1'000'000, 'x');

    EXPECT_EQ(count(deliver(*sink, batch), delivered::yes), 20U);
}

TEST_F(NatsSink, WithoutAStreamEventsWait) {
    auto sink = outbox::open_sink(url()).value();

    const auto answers = deliver(*sink, events(2));
    make_stream();
    const int rounds = deliver_all(*sink, events(2));

    EXPECT_THAT(kinds(answers), ElementsAre(delivered::later, delivered::later));
    EXPECT_THAT(answers[0].error, HasSubstr("no stream takes the subject"));
    EXPECT_EQ(rounds, 1);
}

TEST(NatsSinkServer, ARestartInTheMiddleLosesNothing) {
    test::private_nats server;
    test::nats_client{server.url()}.make_stream("s", "s.>");
    auto sink = outbox::open_sink(server.url() + "?subject=s.{topic}&timeout_ms=2000").value();
    std::promise<void> begun;

    auto restarted = std::async(std::launch::async, [&] {
        begun.get_future().wait();
        server.kill();
        server.start();
    });
    int done = 0;
    int batches = 0;
    for (int i = 0; i < 30 || restarted.wait_for(0s) != std::future_status::ready; ++i) {
        auto batch = events(100);
        for (auto& one : batch) one.event.id += "-" + std::to_string(i);
        if (i == 3) begun.set_value();
        ++batches;
        done += deliver_all(*sink, batch) > 0 ? 1 : 0;
    }
    restarted.get();

    std::set<std::string> ids;
    test::nats_client client{server.url()};
    for (auto& one : client.messages("s")) ids.insert(one.headers["Nats-Msg-Id"]);
    EXPECT_EQ(done, batches);
    EXPECT_EQ(ids.size(), 100U * static_cast<unsigned>(batches));
}

TEST(NatsSinkServer, ThatReadsNothingIsLeftInTime) {
    const test::private_nats server;
    test::nats_client{server.url()}.make_stream("s", "s.>");
    auto sink = outbox::open_sink(server.url() +
                                  "?subject=s.{topic}&timeout_ms=1000&connect_timeout_ms=1000")
                    .value();
    auto batch = events(100);
    for (auto& one : batch) one.event.payload.assign(200'000, 'x');
    ASSERT_EQ(deliver(*sink, events(1))[0].how, delivered::yes);

    server.freeze();
    const auto before = local_clock::now();
    const auto answers = deliver(*sink, batch);
    const auto took = local_clock::now() - before;
    server.thaw();

    EXPECT_LT(took, 15s);
    for (const auto& one : answers) EXPECT_EQ(one.how, delivered::later);
    EXPECT_TRUE(edge::support::eventually(
        [&] { return deliver(*sink, events(1))[0].how == delivered::yes; }));
}

TEST(NatsSinkServer, SaysWhatIsWrongWithAddressAndPassword) {
    const std::string right = test::server_url("SEMEL_TEST_NATS");
    const std::string at = right.substr(right.find('@') + 1);
    const auto error = [](const std::string& url) {
        return deliver(*outbox::open_sink(url).value(), events(1))[0].error;
    };

    EXPECT_THAT(error("nats://127.0.0.1:1"), HasSubstr("check that the server runs"));
    EXPECT_THAT(error("nats://" + at), HasSubstr("check user and password"));
    EXPECT_THAT(error("nats://semel:wrong@" + at), HasSubstr("check user and password"));
    EXPECT_THAT(error(right), HasSubstr("no stream"));
}

} // namespace
} // namespace semel::messaging_test
