#include "outbox/sinks/webhook_sink.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <fstream>
#include <iterator>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/url.hpp"
#include "outbox/sinks/breaker.hpp"
#include "outbox/sinks/per_key.hpp"
#include "outbox/sinks/webhook_lane.hpp"
#include "outbox/sinks/webhook_request.hpp"

namespace semel::outbox {

namespace {

using std::chrono::milliseconds;

struct webhook_options {
    webhook_target target = {};
    lane_options lane = {};
    breaker_options spare = {};
    std::size_t concurrency = 8;
    duration batch_time = std::chrono::seconds{30}; // then no further request is begun
    std::shared_ptr<logger> log = null_logger();
};

// Which messages of a batch may go next. With order, those of a key go one after another.
class turns {
public:
    turns(std::span<const message> batch, order kept) : batch_(batch), kept_(kept) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (kept == order::none) {
                ready_.push_back(i);
                continue;
            }
            auto& line = lines_[key_of(batch[i].event)];
            if (line.empty()) ready_.push_back(i);
            line.push_back(i);
        }
    }

    [[nodiscard]] bool any() const { return !ready_.empty(); }
    std::size_t take() {
        const std::size_t next = ready_.front();
        ready_.pop_front();
        return next;
    }
    // This one has been delivered.
    void on_delivered(std::size_t i) {
        if (kept_ == order::none) return;
        auto& line = lines_[key_of(batch_[i].event)];
        line.pop_front();
        if (!line.empty()) ready_.push_back(line.front());
    }
    // This one has not: the others of its key are held.
    void on_failed(std::size_t i, std::span<delivery> answers) {
        if (kept_ == order::none) return;
        auto& line = lines_[key_of(batch_[i].event)];
        line.pop_front();
        for (const std::size_t other : line) answers[other] = {.how = delivered::held};
        line.clear();
    }

private:
    const std::span<const message> batch_;
    const order kept_;
    std::deque<std::size_t> ready_;
    std::unordered_map<std::string_view, std::deque<std::size_t>> lines_; // not yet delivered
};

class webhook_sink final : public sink {
public:
    explicit webhook_sink(webhook_options options)
        : options_(std::move(options)), spare_(options_.spare) {
        lanes_.reserve(options_.concurrency);
        for (std::size_t i = 0; i < options_.concurrency; ++i) lanes_.emplace_back(options_.lane);
    }

    result<void> connect() override { return lanes_.front().reach(); }

    void deliver(std::span<const message> batch, order kept, std::span<delivery> answers) override {
        const local_time end = local_clock::now() + options_.batch_time;
        turns next{batch, kept};
        while (true) {
            begin_what_may(batch, next, answers, end);
            if (!any_busy()) return;
            wait();
            const local_time now = local_clock::now();
            for (std::size_t i = 0; i < polled_.size(); ++i) {
                webhook_lane& lane = *polled_lanes_[i];
                if (polled_[i].revents == 0 && now < lane.deadline()) continue;
                const std::size_t of = lane.message();
                if (const auto ended = lane.go_on(now)) settle(of, *ended, next, answers);
            }
        }
    }

private:
    [[nodiscard]] std::size_t busy_count() const {
        return static_cast<std::size_t>(std::count_if(lanes_.begin(), lanes_.end(),
                                                      [](const auto& one) { return one.busy(); }));
    }
    [[nodiscard]] bool any_busy() const { return busy_count() > 0; }

    void begin_what_may(std::span<const message> batch, turns& next, std::span<delivery> answers,
                        local_time end) {
        while (next.any()) {
            const local_time now = local_clock::now();
            const auto state = spare_.at(now);
            if (state == breaker::state::open || now >= end) {
                const std::size_t i = next.take();
                answers[i] = {.how = delivered::later,
                              .error = now >= end ? "http: the batch has taken too long"
                                                  : "http: the endpoint is left alone for a while"};
                next.on_failed(i, answers);
                continue;
            }
            const std::size_t room = state == breaker::state::half_open ? 1 : lanes_.size();
            if (busy_count() >= room) return;
            begin(batch, next, answers);
        }
    }

    void begin(std::span<const message> batch, turns& next, std::span<delivery> answers) {
        const auto lane =
            std::find_if(lanes_.begin(), lanes_.end(), [](const auto& one) { return !one.busy(); });
        const std::size_t i = next.take();
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        std::string request;
        append_webhook(request, options_.target, batch[i],
                       std::chrono::duration_cast<std::chrono::seconds>(now).count());
        if (auto started = lane->start(i, std::move(request)); !started) {
            settle(i, {.got = {}, .why = started.error().detail}, next, answers);
        } else if (const auto ended = lane->go_on(local_clock::now())) {
            settle(i, *ended, next, answers);
        }
    }

    void wait() {
        polled_.clear();
        polled_lanes_.clear();
        local_time until = local_time::max();
        for (auto& lane : lanes_) {
            if (!lane.busy()) continue;
            const auto events = static_cast<short>(lane.sending() ? POLLIN | POLLOUT : POLLIN);
            polled_.push_back({.fd = lane.socket(), .events = events, .revents = 0});
            polled_lanes_.push_back(&lane);
            until = std::min(until, lane.deadline());
        }
        const auto left = std::chrono::ceil<milliseconds>(until - local_clock::now());
        const auto most = std::clamp<std::int64_t>(left.count(), 0, 60'000);
        ::poll(polled_.data(), polled_.size(), static_cast<int>(most));
    }

    void settle(std::size_t i, const webhook_lane::ended& ended, turns& next,
                std::span<delivery> answers) {
        webhook_verdict found{.answer = {.how = delivered::later, .error = ended.why},
                              .reason = ended.why,
                              .endpoint = webhook_verdict::health::bad};
        if (ended.got) found = judge(*ended.got);
        learn(found);
        answers[i] = std::move(found.answer);
        if (answers[i].how == delivered::yes) {
            next.on_delivered(i);
        } else {
            next.on_failed(i, answers);
        }
    }

    void learn(const webhook_verdict& found) {
        const local_time now = local_clock::now();
        if (found.rest) spare_.rest_until(now + *found.rest);
        if (found.endpoint == webhook_verdict::health::good) spare_.on_success();
        if (found.endpoint != webhook_verdict::health::bad) return;
        if (spare_.on_failure(now)) {
            log_warning(*options_.log, "webhook endpoint is left alone",
                        {{"host", options_.target.host_header}, {"error", found.reason}});
        }
    }

    const webhook_options options_;
    breaker spare_;
    std::vector<webhook_lane> lanes_;
    std::vector<pollfd> polled_;
    std::vector<webhook_lane*> polled_lanes_; // whose they are
};

// ---- the URL ----------------------------------------------------------------------------------

failure refused(std::string detail) {
    return {.code = errc::invalid_argument, .possible = effect::none, .detail = std::move(detail)};
}

result<void> read_place(std::string_view url, webhook_options& to) {
    const std::size_t start = url.find("//");
    if (start == std::string_view::npos) return refused("write http://host:port/path");
    const std::size_t slash = std::min(url.find_first_of("/?", start + 2), url.size());
    const auto base = net::parse_base_url(url.substr(0, slash));
    if (!base) return base.error();
    to.lane.at = base->at;
    to.target.host_header = url.substr(start + 2, slash - start - 2);
    to.target.target = url.substr(slash);
    if (!to.target.target.starts_with('/')) to.target.target.insert(0, "/");
    const auto odd = [](char one) { return one <= ' ' || one >= '\x7F'; };
    if (std::any_of(to.target.target.begin(), to.target.target.end(), odd)) {
        return refused("a webhook's path must be written in plain ASCII; write %20 for a blank");
    }
    return {};
}

void read_time(net::url_parameters& given, std::string_view name, duration& to) {
    std::int64_t count = std::chrono::duration_cast<milliseconds>(to).count();
    given.number(name, count, 1'000);
    to = milliseconds{count};
}

result<void> read_secret(net::url_parameters& given, std::string_view name, std::string& to) {
    std::string path;
    given.text(name, path);
    if (path.empty()) return {};
    std::ifstream file{path, std::ios::binary};
    to.assign(std::istreambuf_iterator<char>{file}, {});
    while (to.ends_with('\n') || to.ends_with('\r')) to.pop_back();
    if (!file || to.empty()) return refused("the secret file '" + path + "' cannot be read");
    return {};
}

result<void> read_secrets(net::url_parameters& given, webhook_secrets& to) {
    if (auto read = read_secret(given, "secret_file", to.now); !read) return read;
    if (auto read = read_secret(given, "old_secret_file", to.before); !read) return read;
    if (!to.now.empty() || to.before.empty()) return {};
    return refused(
        "old_secret_file of a webhook needs secret_file, the secret that comes after it");
}

result<void> read_key_form(net::url_parameters& given, key_quotes& to) {
    std::string word = "bare";
    given.text("key", word);
    if (word != "bare" && word != "quoted") {
        return refused("parameter key of a webhook must be bare or quoted");
    }
    to = word == "quoted" ? key_quotes::with : key_quotes::without;
    return {};
}

result<void> read_tls(std::string_view url, net::url_parameters& given, lane_options& to) {
    net::tls_files files;
    given.text("ca_file", files.ca_file);
    given.text("cert_file", files.cert_file);
    given.text("key_file", files.key_file);
    if (!url.starts_with("https:")) {
        const bool any = !files.ca_file.empty() || !files.cert_file.empty();
        return any ? result<void>{refused("certificates need TLS; write https://")}
                   : result<void>{};
    }
    auto made = net::make_tls_settings(files);
    if (!made) return std::move(made).error();
    to.tls = *std::move(made);
    return {};
}

result<void> read_settings(std::string_view url, net::url_parameters& given, webhook_options& to) {
    given.number("concurrency", to.concurrency, 1'000);
    given.number("failures_max", to.spare.failures_max, 1'000);
    read_time(given, "pause_ms", to.spare.pause_first);
    read_time(given, "pause_max_ms", to.spare.pause_max);
    read_time(given, "connect_timeout_ms", to.lane.connect_timeout);
    read_time(given, "timeout_ms", to.lane.timeout);
    read_time(given, "batch_ms", to.batch_time);
    to.spare.pause_max = std::max(to.spare.pause_max, to.spare.pause_first);
    if (to.concurrency > 1'000) return refused("a webhook's concurrency is 1,000 at most");
    if (auto read = read_secrets(given, to.target.secrets); !read) return read;
    if (auto read = read_key_form(given, to.target.quotes); !read) return read;
    if (auto read = read_tls(url, given, to.lane); !read) return read;
    return given.finish();
}

} // namespace

result<std::unique_ptr<sink>> open_webhook_sink(std::string_view url, const sink_options& options) {
    const std::size_t hash = std::min(url.find('#'), url.size());
    const std::string_view place = url.substr(0, hash);
    const std::string_view settings = url.substr(std::min(hash + 1, url.size()));
    webhook_options own;
    own.target.secrets = {.now = options.secret, .before = options.old_secret};
    if (options.log) own.log = options.log;
    if (auto read = read_place(place, own); !read) return std::move(read).error();
    const auto ours = net::parse_url(std::string{place.substr(0, place.find(':'))} + ":?" +
                                     std::string{settings});
    if (!ours) return ours.error();
    net::url_parameters given{*ours};
    if (auto read = read_settings(place, given, own); !read) return std::move(read).error();
    return std::unique_ptr<sink>{std::make_unique<webhook_sink>(std::move(own))};
}

} // namespace semel::outbox
