#include "consumer/loop.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <utility>

#include "semel/base/mutex.hpp"

namespace semel::consumer {

namespace {

using std::chrono::milliseconds;

constexpr duration fetch_patience = milliseconds{500};
constexpr backoff_options reconnecting{.first = milliseconds{20}, .last = std::chrono::seconds{2}};
// As long as a key may be, see limits.
constexpr std::size_t id_bytes_max = 255;

// Until asked to stop, or as long.
void rest(const std::stop_token& stop, duration length) {
    detail::mutex mutex;
    std::condition_variable_any changed;
    detail::guard lock{mutex};
    changed.wait_for(lock, stop, length, [] { return false; });
}

bool is_hopeless(errc code) {
    return code == errc::invalid_argument || code == errc::unsupported || code == errc::not_a_store;
}

bool is_usable(const std::string& id) {
    return !id.empty() && id.size() <= id_bytes_max;
}

} // namespace

duration pause_after(std::uint32_t times, const consumer_options& options) {
    const std::uint32_t doublings = std::min<std::uint32_t>(times > 0 ? times - 1 : 0, 20);
    return std::min(options.retry_first * (std::int64_t{1} << doublings), options.retry_max);
}

disposal dispose(const handled& of, const received& message, const consumer_options& options) {
    using kind = disposal::kind;
    switch (of.how) {
    case consumed::executed:
    case consumed::duplicate: return {.what = kind::acknowledge};
    case consumed::in_progress:
        return {.what = kind::again, .after = pause_after(message.deliveries, options)};
    case consumed::unavailable: return {.what = kind::again, .after = options.retry_first};
    case consumed::failed: break;
    }
    // The message failed without a run: its record says that it will never run.
    if (of.attempts == 0 || of.attempts >= options.attempts_max) {
        return {.what = kind::park, .error = of.error, .attempts = of.attempts};
    }
    return {.what = kind::again, .after = pause_after(of.attempts, options)};
}

loop::loop(std::unique_ptr<source> from, handler what, consumer_options options)
    : from_(std::move(from)),
      what_(std::move(what)),
      options_(std::move(options)),
      log_(options_.log ? options_.log : open_spdlog_logger({.level = log_level::warning})),
      metrics_(options_.metrics != nullptr ? *options_.metrics : own_metrics_),
      pauses_(reconnecting, reinterpret_cast<std::uintptr_t>(this)) {}

result<void> loop::run(std::stop_token stop) {
    bool connected = false;
    while (!stop.stop_requested()) {
        if (auto fetched = from_->fetch(options_.batch_max, fetch_patience); !fetched) {
            if (!connected && is_hopeless(fetched.error().code)) return fetched;
            interrupted(fetched.error());
            rest(stop, pauses_.next());
            continue;
        }
        connected = true;
        pauses_.reset();
        if (!from_->batch().empty()) work_off(stop);
    }
    from_->finish();
    return {};
}

void loop::work_off(const std::stop_token& stop) {
    const auto start = std::chrono::steady_clock::now();
    const std::span<const received> batch = from_->batch();
    metrics_.fetched.add(batch.size());
    auto got = handle(batch);
    ask_again(batch, got, stop);
    std::vector<disposal> disposals;
    for (std::size_t i = 0; i < batch.size(); ++i) {
        count(got[i]);
        disposals.push_back(dispose(got[i], batch[i], options_));
    }
    if (auto settled = from_->settle(disposals); !settled) return interrupted(settled.error());
    for (const auto& one : disposals) {
        if (one.what != disposal::kind::again) metrics_.acknowledged.add();
        if (one.what == disposal::kind::park) metrics_.parked.add();
    }
    metrics_.latency.record(std::chrono::steady_clock::now() - start);
}

std::vector<handled> loop::handle(std::span<const received> batch) {
    std::vector<handled> made;
    try {
        made = what_(batch, options_.attempts_max);
    } catch (const std::exception& thrown) {
        made.assign(batch.size(), {.how = consumed::failed, .attempts = 1, .error = thrown.what()});
    }
    made.resize(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
        if (is_usable(batch[i].event.id)) continue;
        made[i] = {.how = consumed::failed, .error = "the id is empty or has over 255 bytes"};
    }
    return made;
}

void loop::ask_again(std::span<const received> batch, std::vector<handled>& got,
                     const std::stop_token& stop) {
    backoff pauses{{.first = milliseconds{100}, .last = std::chrono::seconds{5}}, 1};
    while (!stop.stop_requested()) {
        std::vector<received> left;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < batch.size(); ++i) {
            if (got[i].how != consumed::unavailable) continue;
            left.push_back(batch[i]);
            places.push_back(i);
        }
        if (left.empty()) return;
        metrics_.unavailable.add(left.size());
        log_warning(*log_, "the store does not answer", {{"messages", left.size()}});
        hold(stop, pauses.next());
        auto again = handle(left);
        for (std::size_t i = 0; i < left.size(); ++i) got[places[i]] = std::move(again[i]);
    }
}

// A pause may be longer than the broker waits before it gives the batch to another consumer.
void loop::hold(const std::stop_token& stop, duration length) {
    const duration slice = options_.claim_after / 3;
    while (length > duration::zero() && !stop.stop_requested()) {
        const duration next = std::min(length, slice);
        rest(stop, next);
        from_->keep();
        length -= next;
    }
}

void loop::count(const handled& one) {
    switch (one.how) {
    case consumed::executed: return metrics_.executed.add();
    case consumed::duplicate: return metrics_.duplicates.add();
    case consumed::in_progress: return metrics_.in_progress.add();
    case consumed::failed: return metrics_.failed.add();
    case consumed::unavailable: return metrics_.unavailable.add();
    }
}

void loop::interrupted(const failure& why) {
    metrics_.interruptions.add();
    log_warning(*log_, "the broker does not answer", {{"error", describe(why)}});
}

} // namespace semel::consumer
