#include "alert_sender.hpp"

#include <condition_variable>
#include <utility>

#include "opened.hpp"
#include "semel/base/mutex.hpp"
#include "semel/ids.hpp"

namespace semel::app {
namespace {

constexpr int tries_max = 3;
constexpr duration answer_time = std::chrono::seconds{10};

constexpr std::string_view topic = "semel.alert";
constexpr std::string_view content_type = "application/json";

std::int64_t seconds_since_1970() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::seconds>(now).count();
}

// Never to a record: its key is not for other systems.
std::string link_of(std::string console, alert_kind kind) {
    if (console.empty()) return {};
    if (console.ends_with('/')) console.pop_back();
    switch (kind) {
    case alert_kind::stuck: return console + "/#/lapsed";
    case alert_kind::mismatches: return console + "/#/mismatches";
    case alert_kind::outbox_lag: return console + "/#/outbox";
    case alert_kind::retry_storm:
    case alert_kind::store_errors: break;
    }
    return console + "/#/overview";
}

bool taken(const result<http::response>& got) {
    return got && got->status >= 200 && got->status < 300;
}

} // namespace

alert_target alert_target_of(const config::config& from) {
    return {.webhook = from.alerts.webhook.text,
            .secrets = {.now = from.alerts.signing.text, .before = from.alerts.old_signing.text},
            .console = from.console.url};
}

alert_sender::alert_sender(alert_target to, std::shared_ptr<logger> log)
    : target_(std::move(to)), log_(std::move(log)) {
    if (target_.webhook.empty()) return;
    to_ = opened(edge::caller::make(
        {.url = opened(net::parse_base_url(target_.webhook)), .answer_time = answer_time}));
}

// Each try has a signature of its own, since receivers refuse old ones. The id stays.
edge::call_request alert_sender::request_of(const std::string& id, const std::string& body) const {
    const auto lines = outbox::signature_lines(target_.secrets, {.timestamp = seconds_since_1970(),
                                                                 .id = id,
                                                                 .topic = topic,
                                                                 .content_type = content_type,
                                                                 .body = body});
    edge::call_request made{.method = "POST", .body = body};
    made.headers.add("Content-Type", std::string{content_type});
    made.headers.add("Idempotency-Key", id);
    made.headers.add("Semel-Topic", std::string{topic});
    for (const auto& [name, value] : lines) made.headers.add(std::string{name}, value);
    return made;
}

void alert_sender::send(alert what) {
    what.link = link_of(target_.console, what.kind);
    raised_.add();
    const bool begins = what.state == alert_state::firing;
    log(*log_, begins ? log_level::warning : log_level::info, begins ? "alert" : "alert is over",
        {{"alert", name(what.kind)}, {"count", what.count}, {"summary", what.summary}});
    if (!to_) return;
    const std::string id = typed_id<"alert">::generate().to_string();
    const std::string body = to_json(what);
    for (int i = 0; i < tries_max; ++i) {
        const auto got = to_->call(request_of(id, body));
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
          detail::mutex mutex;
          std::condition_variable_any never;
          detail::guard lock{mutex};
          while (!stop.stop_requested()) {
              for (const alert& one : rates.look(counted())) to.send(one);
              never.wait_for(lock, stop, every, [] { return false; });
          }
      }) {}

} // namespace semel::app
