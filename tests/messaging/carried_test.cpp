// Pure parts of the sinks: escaping, the breaker, what a webhook's answer means.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messaging/events.hpp"
#include "nats/nats.hpp"
#include "outbox/sinks/breaker.hpp"
#include "outbox/sinks/carried.hpp"
#include "outbox/sinks/name_pattern.hpp"
#include "outbox/sinks/webhook_request.hpp"

namespace semel::messaging_test {
namespace {

namespace carried = outbox::carried;
using namespace std::chrono_literals;

TEST(Carried, EveryValueCanBeHadBack) {
    std::string all;
    for (int code = 0; code < 256; ++code) all += static_cast<char>(code);
    const std::string values[]{"",     "plain",   " blanks ", "a\r\nInjected: yes",
                               "100%", "%41",     "%%41",     "%4",
                               all,    "\xC3\xA9"};

    for (const auto& one : values) {
        const std::string safe = carried::safe_value(one);
        EXPECT_EQ(safe.find_first_of("\r\n"), std::string::npos);
        EXPECT_EQ(carried::value_behind(safe), one);
    }
    EXPECT_EQ(carried::safe_value("100% of it"), "100% of it");
}

TEST(Carried, EveryNameCanBeHadBackAndNoneIsSomebodyElses) {
    const std::string names[]{"tenant", "a:b", "x\r\ny", "Nats-Expected-Last-Sequence", "%3A", ""};

    for (const auto& one : names) {
        const std::string safe = carried::safe_name({one, ""});
        EXPECT_TRUE(safe.starts_with("Semel-Header-")) << safe;
        EXPECT_EQ(safe.find_first_of("\r\n: "), std::string::npos);
        EXPECT_EQ(carried::header_behind(safe, "v"), (outbox::event_header{one, "v"}));
    }
    EXPECT_EQ(carried::safe_name({"traceparent", ""}), "traceparent");
    EXPECT_FALSE(carried::header_behind("Nats-Msg-Id", "x"));
}

TEST(NamePattern, PutsTheTopicWhereItIsWanted) {
    EXPECT_EQ(outbox::name_pattern{"{topic}"}.of("orders"), "orders");
    EXPECT_EQ(outbox::name_pattern{"all"}.of("orders"), "all");
    outbox::name_pattern both{"a.{topic}.b"};
    EXPECT_EQ(both.of("orders"), "a.orders.b");
    EXPECT_EQ(both.of("x"), "a.x.b");
}

TEST(NatsSubject, HasNoWildcardsBlanksOrEmptyParts) {
    for (const char* good : {"orders", "a.b.c", "a-b_c.$d"}) EXPECT_TRUE(nats::is_subject(good));
    for (const char* bad : {"", ".", "a.", ".a", "a..b", "a.*", ">", "a b", "a\r\nb", "a\tb"}) {
        EXPECT_FALSE(nats::is_subject(bad)) << bad;
    }
}

TEST(Breaker, OpensAfterFailuresInARowAndTriesOneAfterAPause) {
    using state = outbox::breaker::state;
    outbox::breaker it{{.failures_max = 2, .pause_first = 1s, .pause_max = 3s}};
    const local_time start{100s};

    EXPECT_FALSE(it.on_failure(start));
    it.on_success();
    EXPECT_FALSE(it.on_failure(start));
    EXPECT_EQ(it.at(start), state::closed);
    EXPECT_TRUE(it.on_failure(start));

    EXPECT_EQ(it.at(start + 999ms), state::open);
    EXPECT_EQ(it.at(start + 1s), state::half_open);
    EXPECT_TRUE(it.on_failure(start + 1s)); // the probe fails: twice as long, up to the most
    EXPECT_EQ(it.at(start + 2'999ms), state::open);
    EXPECT_EQ(it.at(start + 3s), state::half_open);
    EXPECT_TRUE(it.on_failure(start + 3s));
    EXPECT_EQ(it.at(start + 6s), state::half_open);
    it.on_success();
    EXPECT_EQ(it.at(start + 6s), state::closed);
}

TEST(Breaker, RestsAsLongAsTheEndpointAsks) {
    using state = outbox::breaker::state;
    outbox::breaker it{{}};

    it.rest_until(local_time{10s});

    EXPECT_EQ(it.at(local_time{9s}), state::open);
    EXPECT_EQ(it.at(local_time{10s}), state::closed);
}

TEST(WebhookAnswer, MeansWhatItsStatusSays) {
    const auto how = [](int status) { return outbox::judge({.status = status}).answer.how; };

    for (const int status : {200, 201, 204, 299}) EXPECT_EQ(how(status), delivered::yes);
    for (const int status : {302, 408, 409, 425, 429, 500, 503}) {
        EXPECT_EQ(how(status), delivered::later) << status;
    }
    for (const int status : {400, 401, 404, 410, 413, 422}) {
        EXPECT_EQ(how(status), delivered::rejected) << status;
    }
    EXPECT_EQ(outbox::judge({.status = 503, .retry_after = "7"}).rest, duration{7s});
    EXPECT_EQ(outbox::judge({.status = 429, .retry_after = "99999999"}).rest, duration{10min});
    EXPECT_EQ(outbox::judge({.status = 429, .retry_after = "soon"}).rest, std::nullopt);
    EXPECT_EQ(outbox::judge({.status = 409, .retry_after = "7"}).rest, std::nullopt);
}

} // namespace
} // namespace semel::messaging_test
