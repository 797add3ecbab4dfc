// The sink for HTTP endpoints with a real server that does what each test says.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "http/support/upstream.hpp"
#include "messaging/events.hpp"
#include "support/forked.hpp"

namespace semel::messaging_test {
namespace {

using edge::support::response_text;
using edge::support::seen_request;
using edge::support::upstream;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

std::string header_of(const seen_request& from, const char* name) {
    const std::string* found = from.head.headers.find(name);
    return found == nullptr ? "(none)" : *found;
}

class Webhook : public testing::Test {
protected:
    std::unique_ptr<outbox::sink> open(const std::string& settings = {},
                                       const outbox::sink_options& options = {}) {
        const std::string url = "http://127.0.0.1:" + std::to_string(endpoint_.port()) +
                                "/hooks?tenant=7#connect_timeout_ms=5000" + settings;
        return outbox::open_sink(url, options).value();
    }
    void answer_with(int status, const std::string& headers = {}) {
        endpoint_.now_does([=](const seen_request&, edge::support::socket& to) {
            to.write(response_text(status, "because", headers));
        });
    }

    upstream endpoint_{
        [](const seen_request&, edge::support::socket& to) { to.write(response_text(200, "ok")); }};
};

TEST_F(Webhook, PostsEachEventUnderItsId) {
    auto sink = open();
    auto batch = events(1, {"customer 7"});
    batch[0].event.headers.push_back({"Content-Type", "application/json"});
    batch[0].event.headers.push_back({"traceparent", "00-ab-cd-01"});

    const auto answers = deliver(*sink, batch);

    EXPECT_EQ(answers[0], (delivery{.how = delivered::yes}));
    const auto seen = endpoint_.seen().at(0);
    EXPECT_EQ(seen.head.method, "POST");
    EXPECT_EQ(seen.head.target, "/hooks?tenant=7");
    EXPECT_EQ(seen.body, "payload 1");
    EXPECT_EQ(header_of(seen, "Idempotency-Key"), "e-1");
    EXPECT_EQ(header_of(seen, "Content-Type"), "application/json");
    EXPECT_EQ(header_of(seen, "Semel-Topic"), "orders");
    EXPECT_EQ(header_of(seen, "Semel-Key"), "customer 7");
    EXPECT_EQ(header_of(seen, "Semel-Attempt"), "1");
    EXPECT_EQ(header_of(seen, "Semel-Header-idempotency-key"), "k-1");
    EXPECT_EQ(header_of(seen, "traceparent"), "00-ab-cd-01");
    EXPECT_EQ(header_of(seen, "Semel-Signature"), "(none)");
}

// A second answer to one request is not the first to the next.
TEST_F(Webhook, TakesNothingForAnAnswerThatWasSaidBeforeItAsked) {
    auto sink = open("&concurrency=1");
    endpoint_.now_does([](const seen_request& request, edge::support::socket& to) {
        if (request.nth > 1) return static_cast<void>(to.write(response_text(500, "no")));
        to.write(response_text(200, "ok"));
        std::this_thread::sleep_for(std::chrono::milliseconds{50}); // behind the first, by itself
        to.write(response_text(200, "ok"));
    });
    ASSERT_EQ(deliver(*sink, events(1))[0].how, delivered::yes);
    std::this_thread::sleep_for(std::chrono::milliseconds{200});

    EXPECT_EQ(deliver(*sink, events(1))[0].how, delivered::later);
}

TEST_F(Webhook, KeepsItsConnectionsAndUsesSeveral) {
    auto sink = open("&concurrency=4&key=quoted");

    EXPECT_EQ(count(deliver(*sink, events(200)), delivered::yes), 200U);

    EXPECT_LE(endpoint_.connections(), 4);
    std::set<std::string> keys;
    for (const auto& one : endpoint_.seen()) keys.insert(header_of(one, "Idempotency-Key"));
    EXPECT_EQ(keys.size(), 200U);
    EXPECT_TRUE(keys.contains("\"e-1\""));
}

// A forked child would take the answers to its parent's requests.
TEST_F(Webhook, AConnectionOfBeforeAForkIsNotUsedInTheChild) {
    auto sink = open("&concurrency=1");
    ASSERT_EQ(deliver(*sink, events(1))[0].how, delivered::yes);

    const auto child = testing_support::said_by_child([&] {
        const auto answer = deliver(*sink, events(1))[0];
        sink.reset();
        return answer.how == delivered::later ? answer.error : "delivered";
    });

    EXPECT_THAT(child, HasSubstr("was opened before fork()"));
    EXPECT_EQ(deliver(*sink, events(1))[0].how, delivered::yes);
    EXPECT_EQ(endpoint_.seen().size(), 2U);
}

TEST_F(Webhook, NoHeaderValueCanBeginAnotherLine) {
    auto sink = open();
    auto batch = events(1, {"k\r\nX-Key: 1"});
    batch[0].event.id = "e\r\nX-Id: 1";
    batch[0].event.topic = "t\r\n\r\nGET /evil HTTP/1.1";
    batch[0].event.headers = {{"a\r\nX-Name: 1", "v\nX-Value: 1"},
                              {"content-type", "x\r\nX-Type: 1"},
                              {"Transfer-Encoding", "chunked"},
                              {"Content-Length", "0"},
                              {"traceparent", "00\r\nX-Trace: 1"}};

    const auto answers = deliver(*sink, batch);

    EXPECT_EQ(answers[0].how, delivered::yes);
    ASSERT_EQ(endpoint_.requests(), 1);
    const auto seen = endpoint_.seen().at(0);
    for (const char* name :
         {"X-Key", "X-Id", "X-Name", "X-Value", "X-Type", "X-Trace", "Transfer-Encoding"}) {
        EXPECT_FALSE(seen.head.headers.contains(name)) << name;
    }
    EXPECT_EQ(seen.body, "payload 1");
    EXPECT_EQ(header_of(seen, "Semel-Header-Content-Length"), "0");
}

// The same MAC by another implementation.
std::string openssl_hmac(const std::string& secret, const std::string& text) {
    const auto path =
        std::filesystem::temp_directory_path() / ("semel-hmac-" + std::to_string(::getpid()));
    std::ofstream{path, std::ios::binary} << text;
    const std::string command =
        "openssl dgst -sha256 -r -hmac '" + secret + "' < '" + path.string() + "'";
    FILE* const pipe = ::popen(command.c_str(), "r");
    char digits[65] = {};
    const std::size_t got = std::fread(digits, 1, 64, pipe);
    ::pclose(pipe);
    std::filesystem::remove(path);
    return {digits, got};
}

TEST_F(Webhook, SignsTimestampAndBody) {
    auto sink = open({}, {.secret = "s3cret"});
    auto batch = events(1);
    batch[0].event.payload = std::string{"{\"a\":1}\r\n\0\xFF", 12};

    deliver(*sink, batch);

    const auto seen = endpoint_.seen().at(0);
    const std::string when = header_of(seen, "Semel-Timestamp");
    EXPECT_EQ(header_of(seen, "Semel-Signature"),
              "v1=" + openssl_hmac("s3cret", when + "." + batch[0].event.payload));
    EXPECT_NEAR(std::stod(when), static_cast<double>(::time(nullptr)), 120);
}

// What a receiver computes; see docs/messaging.md.
std::string second_signature(const std::string& secret, const seen_request& seen) {
    std::string text = "v2\n";
    for (const char* name :
         {"Semel-Timestamp", "Idempotency-Key", "Semel-Topic", "Semel-Key", "Content-Type"}) {
        const std::string value = header_of(seen, name);
        text += (value == "(none)" ? "" : value) + "\n";
    }
    return "v2=" + openssl_hmac(secret, text + seen.body);
}

TEST_F(Webhook, SignsWhatAReceiverGoesBy) {
    auto sink = open("&key=quoted", {.secret = "s3cret"});
    auto batch = events(2, {"customer\n7"});
    batch[1].event.headers.push_back({"content-type", "application/json"});

    deliver(*sink, batch);

    for (const auto& seen : endpoint_.seen()) {
        EXPECT_EQ(header_of(seen, "Semel-Signature-V2"), second_signature("s3cret", seen));
    }
    EXPECT_NE(header_of(endpoint_.seen().at(0), "Semel-Signature-V2"),
              header_of(endpoint_.seen().at(1), "Semel-Signature-V2"));
}

TEST_F(Webhook, SignsWithBothSecretsWhileReceiversChange) {
    auto sink = open({}, {.secret = "new", .old_secret = "old"});

    deliver(*sink, events(1));

    const auto seen = endpoint_.seen().at(0);
    const std::string text = header_of(seen, "Semel-Timestamp") + "." + seen.body;
    EXPECT_EQ(header_of(seen, "Semel-Signature"),
              "v1=" + openssl_hmac("new", text) + ",v1=" + openssl_hmac("old", text));
    EXPECT_EQ(header_of(seen, "Semel-Signature-V2"),
              second_signature("new", seen) + "," + second_signature("old", seen));
}

TEST_F(Webhook, LargePayloadsGoThrough) {
    auto sink = open();
    auto batch = events(3);
    for (auto& one : batch) one.event.payload.assign(std::size_t{5} << 20, 'x');

    EXPECT_EQ(count(deliver(*sink, batch), delivered::yes), 3U);
    EXPECT_EQ(endpoint_.seen().at(2).body.size(), std::size_t{5} << 20);
}

TEST_F(Webhook, AnAnswerDecidesWhatBecomesOfTheEvent) {
    auto sink = open("&failures_max=100");
    endpoint_.now_does([](const seen_request& got, edge::support::socket& to) {
        to.write(response_text(std::stoi(got.body), "because"));
    });
    std::vector<outbox::message> batch;
    for (const char* status : {"200", "204", "409", "422", "500"}) {
        batch.push_back(one_event(status, {}, status));
    }

    const auto answers = deliver(*sink, batch);

    EXPECT_THAT(kinds(answers), ElementsAre(delivered::yes, delivered::yes, delivered::later,
                                            delivered::rejected, delivered::later));
    EXPECT_EQ(answers[3].error, "http 422: because");
}

TEST_F(Webhook, OneOfAKeyIsOnItsWayAtATimeAndAFailureHoldsTheOthers) {
    auto sink = open();
    std::atomic<int> in_flight_of_a = 0;
    std::atomic<int> most_of_a = 0;
    endpoint_.now_does([&](const seen_request& got, edge::support::socket& to) {
        const bool of_a = header_of(got, "Semel-Key") == "a";
        if (of_a) most_of_a = std::max(most_of_a.load(), ++in_flight_of_a);
        const bool fails = header_of(got, "Idempotency-Key") == "e-4"; // the second of b
        if (of_a) --in_flight_of_a;
        to.write(response_text(fails ? 422 : 200, ""));
    });

    const auto answers = deliver(*sink, events(8, {"a", "b"}), order::per_key);

    EXPECT_THAT(kinds(answers),
                ElementsAre(delivered::yes, delivered::yes, delivered::yes, delivered::rejected,
                            delivered::yes, delivered::held, delivered::yes, delivered::held));
    EXPECT_EQ(most_of_a, 1);
    std::vector<std::string> order_of_a;
    for (const auto& one : endpoint_.seen()) {
        if (header_of(one, "Semel-Key") == "a") order_of_a.push_back(one.body);
    }
    EXPECT_THAT(order_of_a, ElementsAre("payload 1", "payload 3", "payload 5", "payload 7"));
}

TEST_F(Webhook, AFailingEndpointIsLeftAloneAndTriedAgainLater) {
    auto sink = open("&concurrency=1&failures_max=3&pause_ms=200&pause_max_ms=200");
    answer_with(500);

    const auto failed = deliver(*sink, events(20));
    const int asked = endpoint_.requests();
    const auto spared = deliver(*sink, events(20));
    const int asked_while_open = endpoint_.requests() - asked;
    answer_with(200);
    const int rounds = deliver_all(*sink, events(20));

    EXPECT_EQ(count(failed, delivered::later), 20U);
    EXPECT_EQ(asked, 3);
    EXPECT_LE(asked_while_open, 1); // a slow machine may be past the pause
    EXPECT_THAT(spared[19].error, HasSubstr("left alone"));
    EXPECT_GT(rounds, 0);
}

// It may hold what the request held, or more. The event's own row has it.
TEST_F(Webhook, WhatTheEndpointWroteIsNotLogged) {
    std::ostringstream lines;
    auto sink = open("&concurrency=1&failures_max=1", {.log = open_spdlog_logger({.to = &lines})});
    answer_with(500);

    const auto failed = deliver(*sink, events(1));

    EXPECT_EQ(failed[0].error, "http 500: because");
    EXPECT_THAT(lines.str(), HasSubstr("http 500"));
    EXPECT_THAT(lines.str(), testing::Not(HasSubstr("because")));
}

TEST_F(Webhook, RestsWhenTheEndpointAsksForIt) {
    auto sink = open("&concurrency=1");
    answer_with(429, "Retry-After: 600\r\n");

    const auto answers = deliver(*sink, events(3));
    const auto again = deliver(*sink, events(3));

    EXPECT_EQ(endpoint_.requests(), 1);
    EXPECT_THAT(answers[0].error, HasSubstr("retry after 600"));
    EXPECT_EQ(count(again, delivered::later), 3U);
}

TEST_F(Webhook, AnEndpointThatNeverAnswersIsGivenUp) {
    // Outlives the test's body: the endpoint may still be on its way out of wait().
    const auto over = std::make_shared<edge::support::gate_flag>();
    endpoint_.now_does([over](const seen_request&, edge::support::socket&) { over->wait(); });
    auto sink = open("&timeout_ms=100&failures_max=2&concurrency=2");

    const auto answers = deliver(*sink, events(10));
    over->open();

    EXPECT_EQ(count(answers, delivered::later), 10U);
    EXPECT_EQ(answers[0].error, "http: no answer in time");
    EXPECT_EQ(endpoint_.requests(), 2);
}

TEST_F(Webhook, AConnectionThatWasClosedWhileIdleIsReplaced) {
    auto sink = open("&concurrency=1&failures_max=1");
    endpoint_.now_does([](const seen_request&, edge::support::socket& to) {
        to.write(response_text(200, "ok"));
        to.close();
    });

    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(count(deliver(*sink, events(3)), delivered::yes), 3U);
    }
}

TEST_F(Webhook, AnswersThatAreNoHttpAreFailures) {
    auto sink = open("&concurrency=1");
    endpoint_.now_does([](const seen_request&, edge::support::socket& to) {
        to.write("hello\r\n\r\n");
        to.close();
    });

    const auto answers = deliver(*sink, events(1));

    EXPECT_EQ(answers[0].how, delivered::later);
    EXPECT_THAT(answers[0].error, HasSubstr("cannot be read"));
}

TEST(WebhookServer, SaysWhatIsWrongWithTheAddress) {
    const auto error = [](const std::string& url) {
        return deliver(*outbox::open_sink(url).value(), events(1))[0].error;
    };

    EXPECT_THAT(error("http://127.0.0.1:1/"), HasSubstr("check that the server runs"));
    EXPECT_THAT(error("http://no-such-host.invalid/"), HasSubstr("check the host name"));
}

} // namespace
} // namespace semel::messaging_test
