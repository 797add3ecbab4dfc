#include "edge/admin/admin.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "edge/admin/metrics.hpp"
#include "semel/store/memory.hpp"
#include "support/faulty_store.hpp"
#include "support/manual_runtime.hpp"

namespace semel::edge::admin_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

// Keeps every question until it is told to answer.
class slow_store final : public store {
public:
    void submit(envelope, completion done) override { waiting.push_back(std::move(done)); }
    result<sweep_report> sweep(const sweep_request&) override { return sweep_report{}; }
    result<std::vector<audit_entry>> audit(const record_id&) override {
        return std::vector<audit_entry>{};
    }
    result<record_page> search(const record_query&) override { return record_page{}; }
    [[nodiscard]] store_traits traits() const override { return {}; }

    std::vector<completion> waiting;
};

std::shared_ptr<http::response> ask(admin& of, std::string path, std::string method = "GET") {
    auto got = std::make_shared<http::response>(http::response{.status = 0});
    of.requests()({.what = {.head = {.method = std::move(method), .target = std::move(path)}}},
                  [got](http::response made) { *got = std::move(made); });
    return got;
}

TEST(Admin, IsAliveAsLongAsItAnswers) {
    support::manual_runtime timers;
    slow_store store;
    admin pages{store, timers, {}};

    EXPECT_EQ(ask(pages, "/health")->status, 200);
    EXPECT_TRUE(store.waiting.empty());
}

TEST(Admin, MetricsMayNeedAToken) {
    support::manual_runtime timers;
    slow_store store;
    admin pages{store,
                timers,
                {.metrics = [] { return std::string{"numbers"}; },
                 .may_see_metrics = [](std::string_view token) { return token == "good"; }}};
    const auto with = [&](const std::string& token) {
        http::response got;
        pages.requests()({.what = {.head = {.method = "GET",
                                            .target = "/metrics",
                                            .headers = {{"Authorization", "Bearer " + token}}}}},
                         [&](http::response made) { got = std::move(made); });
        return got;
    };

    EXPECT_EQ(ask(pages, "/metrics")->status, 401);
    EXPECT_EQ(*ask(pages, "/metrics")->headers.find("WWW-Authenticate"), "Bearer");
    EXPECT_EQ(with("bad").status, 401);
    EXPECT_EQ(with("good").body, "numbers");
    EXPECT_EQ(ask(pages, "/health")->status, 200);
}

TEST(Admin, IsReadyWhenTheStoreAnswers) {
    support::manual_runtime timers;
    const auto store = open_memory_store();
    admin pages{*store, timers, {}};

    EXPECT_EQ(ask(pages, "/ready")->status, 200);
}

TEST(Admin, IsNotReadyWhenTheStoreCannotBeAskedOrIsLate) {
    support::manual_runtime timers;
    slow_store store;
    admin pages{store, timers, {}};

    const auto failed = ask(pages, "/ready");
    store.waiting.at(0)(failure{.code = errc::unavailable, .detail = "secret"});
    const auto late = ask(pages, "/ready");
    timers.pass(999ms);
    EXPECT_EQ(late->status, 0);
    timers.pass(1ms);
    EXPECT_EQ(late->status, 503);
    store.waiting.at(1)(semel::reply{.said = answers::found{}});

    EXPECT_EQ(failed->status, 503);
    EXPECT_EQ(failed->body.find("secret"), std::string::npos);
    EXPECT_EQ(late->status, 503);
    EXPECT_THAT(late->body, HasSubstr("does not answer in time"));
}

TEST(Admin, SaysWhatAnOperatorShouldKnowAlthoughItIsReady) {
    support::manual_runtime timers;
    const auto store = open_memory_store();
    admin_options with;
    with.notes = [] { return std::string{"tokens: old\n"}; };
    admin pages{*store, timers, std::move(with)};

    const auto ready = ask(pages, "/ready");

    EXPECT_EQ(ready->status, 200);
    EXPECT_EQ(ready->body, "ready\ntokens: old\n");
}

TEST(Admin, IsNotReadyWhileItDrains) {
    support::manual_runtime timers;
    const auto store = open_memory_store();
    admin pages{*store, timers, {}};

    pages.drain();

    EXPECT_EQ(ask(pages, "/ready")->status, 503);
    EXPECT_EQ(ask(pages, "/health")->status, 200);
}

TEST(Admin, HasNoOtherPagesAndMethods) {
    support::manual_runtime timers;
    const auto store = open_memory_store();
    admin pages{*store, timers, {.metrics = [] { return std::string{"semel_up 1\n"}; }}};

    EXPECT_EQ(ask(pages, "/")->status, 404);
    EXPECT_EQ(ask(pages, "/metrics", "POST")->status, 405);
    const auto page = ask(pages, "/metrics");
    EXPECT_EQ(page->body, "semel_up 1\n");
    EXPECT_THAT(*page->headers.find("Content-Type"), HasSubstr("version=0.0.4"));
}

TEST(MetricsText, FamiliesAndLabelsAreWrittenAsPrometheusReadsThem) {
    metrics_text text;
    text.counter("things_total", "Things.");
    text.value(3, {{"kind", "a\"b\\c\nd"}, {"more", "x"}});
    text.gauge("now", "Now.");
    text.value(7);

    EXPECT_EQ(std::move(text).finish(),
              "# HELP semel_things_total Things.\n"
              "# TYPE semel_things_total counter\n"
              "semel_things_total{kind=\"a\\\"b\\\\c\\nd\",more=\"x\"} 3\n"
              "# HELP semel_now Now.\n"
              "# TYPE semel_now gauge\n"
              "semel_now 7\n");
}

TEST(MetricsText, BucketsOfAHistogramAddUp) {
    latency_histogram times;
    times.record(1us);
    times.record(100us);
    times.record(1min);
    metrics_text text;

    text.histogram("took_seconds", "Took.");
    text.value(times.snapshot());
    const std::string page = std::move(text).finish();

    EXPECT_THAT(page, HasSubstr("semel_took_seconds_bucket{le=\"1.6384e-05\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("semel_took_seconds_bucket{le=\"0.000131072\"} 2\n"));
    EXPECT_THAT(page, HasSubstr("semel_took_seconds_bucket{le=\"+Inf\"} 3\n"));
    EXPECT_THAT(page, HasSubstr("semel_took_seconds_count 3\n"));
    EXPECT_THAT(page, HasSubstr("semel_took_seconds_sum 60.000101\n"));
}

TEST(MetricsText, SizesAreAHistogramToo) {
    store_counters driver;
    for (const std::size_t size : {1U, 2U, 3U, 5'000U}) driver.count_batch(size);
    metrics_text text;

    write(text, driver);
    const std::string page = std::move(text).finish();

    EXPECT_THAT(page, HasSubstr("semel_store_batch_commands_bucket{le=\"1\"} 1\n"));
    EXPECT_THAT(page, HasSubstr("semel_store_batch_commands_bucket{le=\"2\"} 2\n"));
    EXPECT_THAT(page, HasSubstr("semel_store_batch_commands_bucket{le=\"4\"} 3\n"));
    EXPECT_THAT(page, HasSubstr("semel_store_batch_commands_bucket{le=\"2048\"} 3\n"));
    EXPECT_THAT(page, HasSubstr("semel_store_batch_commands_bucket{le=\"+Inf\"} 4\n"));
    EXPECT_THAT(page, HasSubstr("semel_store_batch_commands_sum 5006\n"));
}

// A series that appears with its first failure shows no increase.
TEST(Metrics, CountersOfTheStoreBeginAtZero) {
    metrics_text text;

    write(text, store_metrics{}.snapshot());
    const std::string page = std::move(text).finish();

    EXPECT_THAT(page, HasSubstr("semel_store_commands_total{command=\"begin\"} 0\n"));
    EXPECT_THAT(page, HasSubstr("semel_store_failures_total{command=\"complete\","
                                "code=\"unavailable\"} 0\n"));
    EXPECT_THAT(page,
                HasSubstr("semel_store_answers_total{command=\"renew\",answer=\"renewed\"} 0\n"));
    EXPECT_THAT(page, Not(HasSubstr("command=\"renew\",answer=\"started\"")));
    EXPECT_THAT(page, HasSubstr("semel_store_in_doubt_total{command=\"fail\"} 0\n"));
}

TEST(Metrics, EveryPartHasItsFamilies) {
    store_metrics store;
    store.commands[0].calls.add(2);
    store.commands[0].answers[0].add(2);
    store.commands[0].failures[static_cast<std::size_t>(errc::timed_out)].add();
    metrics_text text;
    write(text, engine_counters{.executed = 5, .replayed = 6});
    write(text, store.snapshot());
    write(text, store_counters{.round_trips = 1});
    write(text, cache_counters{.hits = 9});
    encryption_counters encryption;
    encryption.unreadable.add(3);
    write(text, encryption);
    write(text, gateway_counts{.guarded = 4});
    write(text, center_counts{.started = 8});
    write(text, reconcile_counts{.passes = 2, .sum = {.committed = 3}, .stuck_now = 4});
    write(text, alert_counts{.raised = 5});
    write(text, {{.listener = "gateway", .counts = {.requests = 12}},
                 {.listener = "admin", .counts = {.requests = 13}}});
    const std::string page = std::move(text).finish();

    for (const char* line :
         {"semel_engine_outcomes_total{outcome=\"executed\"} 5\n",
          "semel_engine_outcomes_total{outcome=\"replayed\"} 6\n",
          "semel_store_commands_total{command=\"begin\"} 2\n",
          "semel_store_answers_total{command=\"begin\",answer=\"started\"} 2\n",
          "semel_store_failures_total{command=\"begin\",code=\"timed_out\"} 1\n",
          "semel_store_round_trips_total 1\n", "semel_cache_hits_total 9\n",
          "semel_encryption_unreadable_total 3\n",
          "semel_gateway_requests_total{kind=\"guarded\"} 4\n", "semel_center_started_total 8\n",
          "semel_server_requests_total{listener=\"gateway\"} 12\n",
          "semel_server_requests_total{listener=\"admin\"} 13\n",
          "semel_reconciler_verdicts_total{verdict=\"committed\"} 3\n",
          "semel_reconciler_stuck 4\n", "semel_alerts_raised_total 5\n"}) {
        EXPECT_THAT(page, HasSubstr(line));
    }
}

} // namespace
} // namespace semel::edge::admin_test
