// The lane of a front against a scripted server: order on one record, and calls from answers.
#include "databases/redis/front/front_lane.hpp"

#include <gmock/gmock.h>

#include <future>
#include <latch>

#include "databases/redis/client/scripts.hpp"
#include "scripted_transport.hpp"

namespace semel::redis {
namespace front_lane_test {
namespace {

using std::chrono::seconds;

fronts::look some_look() {
    return {.token = 1, .life = seconds{30}};
}

fronts::put some_put() {
    return {.token = 1, .entry = {.holder = {.fence = 1}}, .life = seconds{20}};
}

fronts::settle some_settle() {
    return {.by = {.fence = 1}, .end = {.what = front_entry::kind::replay}, .life = seconds{60}};
}

TEST(RedisFrontLane, WhatFollowsAnUnknownScriptOnItsRecordWaitsForIt) {
    scripted_server server;
    const auto seen = server.connection(
        {.answers = std::string{hello} + "$-1\r\n-NOSCRIPT unknown\r\n:1\r\n:1\r\n"});
    front_lane lane{{.link = {.connect = server.maker()}}};
    std::promise<result<front_sight>> settled;

    // Both are in the queue before the next batch is taken.
    lane.submit("k", some_look(), [&](const auto&) {
        lane.submit("k", some_put(), [](const auto&) {});
        lane.submit("k", some_settle(), [&](auto got) { settled.set_value(std::move(got)); });
    });

    EXPECT_TRUE(settled.get_future().get());
    const std::size_t put = seen->sent.find(text_of(script::front_put).text);
    const std::size_t settle = seen->sent.find(text_of(script::front_advance).sha1);
    ASSERT_NE(put, std::string::npos);
    EXPECT_LT(put, settle) << "the end of an attempt came before its gate";
}

TEST(RedisFrontLane, LooksAtOneRecordShareARoundTrip) {
    store_counters counters;
    scripted_server server;
    server.connection({.answers = std::string{hello} + "$-1\r\n$-1\r\n$-1\r\n:1\r\n"});
    front_lane lane{{.link = {.connect = server.maker(), .counters = &counters}}};
    std::promise<result<front_sight>> last;

    lane.submit("other", some_look(), [&](const auto&) {
        lane.submit("k", some_look(), [](const auto&) {});
        lane.submit("k", some_look(), [](const auto&) {});
        lane.submit("k", some_put(), [&](auto got) { last.set_value(std::move(got)); });
    });

    EXPECT_TRUE(last.get_future().get());
    EXPECT_EQ(counters.round_trips.get(), 3U) << "of which one is for the connection";
}

TEST(RedisFrontLane, ALookFromAnAnswerFailsAndDoesNotWait) {
    scripted_server server;
    server.connection({.answers = std::string{hello} + "$-1\r\n"});
    front_lane lane{{.link = {.connect = server.maker()}}};
    std::promise<result<front_sight>> nested;

    lane.submit("k", some_look(),
                [&](const auto&) { nested.set_value(lane.call("k", some_look())); });

    EXPECT_EQ(nested.get_future().get().error().code, errc::unavailable);
}

TEST(RedisFrontLane, WhatAnAnswerTellsIsAskedInItsTurn) {
    scripted_server server;
    const auto seen =
        server.connection({.answers = std::string{hello} + "$-1\r\n:1\r\n:1\r\n$-1\r\n"});
    front_lane lane{{.link = {.connect = server.maker()}}};
    std::promise<void> answered;

    lane.submit("k", some_look(), [&](const auto&) {
        lane.submit("k", some_put(), [](const auto&) {});
        static_cast<void>(lane.call("k", some_settle()));
        answered.set_value();
    });
    answered.get_future().wait();

    EXPECT_TRUE(lane.call("k", some_look())) << "which comes after what was told";
    const std::size_t put = seen->sent.find(text_of(script::front_put).sha1);
    const std::size_t settle = seen->sent.find(text_of(script::front_advance).sha1);
    ASSERT_NE(settle, std::string::npos);
    EXPECT_LT(put, settle);
}

TEST(RedisFrontLane, TwoLanesWhoseAnswersCallOneAnotherGoOn) {
    scripted_server server;
    server.connection({.answers = std::string{hello} + "$-1\r\n"});
    scripted_server another;
    another.connection({.answers = std::string{hello} + "$-1\r\n"});
    front_lane left{{.link = {.connect = server.maker()}}};
    front_lane right{{.link = {.connect = another.maker()}}};
    std::latch both{2};
    std::latch over{2};
    const auto call_from_answer = [&](front_lane& from, front_lane& to) {
        from.submit("k", some_look(), [&](const auto&) {
            both.arrive_and_wait();
            EXPECT_FALSE(to.call("k", some_look()));
            over.count_down();
        });
    };

    call_from_answer(left, right);
    call_from_answer(right, left);

    over.wait();
}

} // namespace
} // namespace front_lane_test
} // namespace semel::redis
