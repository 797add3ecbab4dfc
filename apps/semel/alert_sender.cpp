#include "alert_sender.hpp"

#include <condition_variable>
#include <mutex>
#include <utility>

#include "opened.hpp"

namespace semel::app {
namespace {

constexpr int tries_max = 3;
constexpr duration answer_time = std::chrono::seconds{10};

bool taken(const result<http::response>& got) {
    return got && got->status >= 200 && got->status < 300;
}

} // namespace

alert_sender::alert_sender(const std::string& webhook, std::shared_ptr<logger> log)
    : log_(std::move(log)) {
    if (webhook.empty()) return;
    to_ = opened(edge::caller::make(
        {.url = opened(edge::parse_base_url(webhook)), .answer_time = answer_time}));
}

void alert_sender::send(const alert& what) {
    raised_.add();
    const bool begins = what.state == alert_state::firing;
    log(*log_, begins ? log_level::warning : log_level::info, begins ? "alert" : "alert is over",
        {{"alert", name(what.kind)}, {"count", what.count}, {"summary", what.summary}});
    if (!to_) return;
    for (int i = 0; i < tries_max; ++i) {
        const auto got = to_->call({.method = "POST",
                                    .headers = {{"Content-Type", "application/json"}},
                                    .body = to_json(what)});
        if (taken(got)) return sent_.add();
        log_warning(
            *log_, "the webhook did not take an alert",
            {{"why", got ? "status " + std::to_string(got->status) : describe(got.error())}});
    }
    send_failed_.add();
}

edge::alert_counts alert_sender::counts() const {
    return {.raised = raised_.get(), .sent = sent_.get(), .send_failed = send_failed_.get()};
}

traffic_watch::traffic_watch(const alert_limits& limits, duration every,
                             std::function<traffic()> counted, alert_sender& to)
    : thread_([limits, every, counted = std::move(counted), &to](const std::stop_token& stop) {
          rate_alerts rates{limits};
          std::mutex mutex;
          std::condition_variable_any never;
          std::unique_lock lock{mutex};
          while (!stop.stop_requested()) {
              for (const alert& one : rates.look(counted())) to.send(one);
              never.wait_for(lock, stop, every, [] { return false; });
          }
      }) {}

} // namespace semel::app
