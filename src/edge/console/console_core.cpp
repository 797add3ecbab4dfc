#include "edge/console/console_core.hpp"

#include <utility>

#include "semel/base/mutex.hpp"

namespace semel::edge {
namespace {

constexpr duration lapsed_age_max = std::chrono::seconds{10};
constexpr std::size_t lapsed_page = 1'000;
constexpr int lapsed_pages_max = 5;

} // namespace

time_point wall_clock() {
    return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
}

console_core::console_core(store& all, semel::runtime& timers, console_options with)
    : records(all),
      runtime(timers),
      options(std::move(with)),
      signed_in(options.sessions),
      outbox(options.outbox),
      own_secret_(random_bytes()),
      history_(options.samples_max) {}

cursor_seal console_core::cursors() const {
    return cursor_seal{options.cursor_secret ? options.cursor_secret() : own_secret_};
}

std::string_view console_core::cookie_name() const {
    return options.cookie == console_options::cookies::secure ? "__Host-semel_session"
                                                              : "semel_session";
}

void console_core::open() {
    feel_pulse();
    take_sample();
}

void console_core::close() {
    calls_.close();
}

void console_core::chore(unique_function<void()> what) {
    // After close() the request goes unanswered, as its server does.
    if (!calls_.enter()) return calls_.leave();
    runtime.chore([self = shared_from_this(), what = std::move(what)]() mutable {
        what();
        what = {};
        self->calls_.leave();
    });
}

// close() comes between two samples, never into one.
void console_core::take_sample() {
    const bool is_open = calls_.enter();
    if (is_open) {
        const detail::guard lock{mutex_};
        if (asked_at_ && runtime.now() - *asked_at_ > options.sample_every) {
            pulse_ = {.up = false, .round_trip = runtime.now() - *asked_at_};
        }
        if (options.numbers) history_.add(options.numbers(), pulse_, wall_clock());
    }
    calls_.leave();
    if (!is_open) return;
    runtime.at(runtime.now() + options.sample_every, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self == nullptr) return;
        self->take_sample();
        self->feel_pulse();
    });
}

// A record that does not exist: the look-up reaches the store and changes nothing.
void console_core::feel_pulse() {
    if (!calls_.enter()) return calls_.leave();
    {
        const detail::guard lock{mutex_};
        if (asked_at_) return calls_.leave();
        asked_at_ = runtime.now();
    }
    const record_id absent{.tenant = "semel", .operation = "ready", .key = "console"};
    records.submit({.id = absent, .what = commands::lookup{}}, [self = shared_from_this()](
                                                                   result<semel::reply> got) {
        {
            const detail::guard lock{self->mutex_};
            const local_time now = self->runtime.now();
            self->pulse_ = {.up = got.has_value(), .round_trip = now - *self->asked_at_};
            self->asked_at_.reset();
            if (got) {
                self->store_clock_ = got->now.time_since_epoch() - now.time_since_epoch();
            }
        }
        self->calls_.leave();
    });
}

time_point console_core::store_now() const {
    const detail::guard lock{mutex_};
    if (!store_clock_) return wall_clock();
    return time_point{runtime.now().time_since_epoch() + *store_clock_};
}

std::optional<console_core::lapsed_count> console_core::lapsed_records() {
    const local_time now = runtime.now();
    {
        const detail::guard lock{mutex_};
        if (lapsed_at_ && now - *lapsed_at_ < lapsed_age_max) return lapsed_;
        lapsed_at_ = now;
    }
    chore([self = shared_from_this()] { self->count_lapsed(); });
    const detail::guard lock{mutex_};
    return lapsed_;
}

void console_core::count_lapsed() {
    lapsed_count found;
    record_query query{.stuck_for = duration::zero(), .records_max = lapsed_page};
    for (int page = 0; page < lapsed_pages_max; ++page) {
        const auto got = records.search(query);
        if (!got) return;
        found.records += got->records.size();
        query.cursor = got->cursor;
        if (query.cursor.empty()) break;
    }
    found.more = !query.cursor.empty();
    const detail::guard lock{mutex_};
    lapsed_ = found;
}

console_core::recent console_core::recently(std::uint64_t after) const {
    const detail::guard lock{mutex_};
    return {.samples = history_.after(after), .latencies = history_.latencies(), .pulse = pulse_};
}

} // namespace semel::edge
