// What all requests of one console share, and the sampling of its numbers.
#pragma once

#include <memory>
#include <optional>

#include "edge/api/open_calls.hpp"
#include "edge/console/console.hpp"
#include "edge/console/cursor_seal.hpp"
#include "edge/console/outbox_connection.hpp"
#include "edge/console/sessions.hpp"
#include "semel/base/mutex.hpp"

namespace semel::edge {

[[nodiscard]] time_point wall_clock();

class console_core : public std::enable_shared_from_this<console_core> {
public:
    console_core(store& all, semel::runtime& timers, console_options with);

    // Samples from here on, until close(), which waits for what is under way.
    void open();
    void close();

    // Runs it where blocking is allowed.
    void chore(unique_function<void()> what);

    // The store's clock, as far as it is known here.
    [[nodiscard]] time_point store_now() const;

    // How many records have lapsed, as of a short while ago; asking is what brings it up to date.
    struct lapsed_count {
        std::size_t records = 0;
        bool more = false; // there may be others
    };
    [[nodiscard]] std::optional<lapsed_count> lapsed_records();

    [[nodiscard]] cursor_seal cursors() const;
    [[nodiscard]] std::string_view cookie_name() const;

    struct recent {
        std::vector<sample> samples = {};
        std::vector<command_latency> latencies = {};
        store_pulse pulse = {};
    };
    [[nodiscard]] recent recently(std::uint64_t after) const;

    // Constant after construction.
    store& records;
    semel::runtime& runtime;
    const console_options options;
    const time_point started_at = wall_clock();

    // Thread-safe by themselves.
    sessions signed_in;
    outbox_connection outbox;

private:
    void take_sample();
    void feel_pulse();
    void count_lapsed();

    const std::string own_secret_; // of cursors, where none is given

    open_calls calls_; // thread-safe

    mutable detail::mutex mutex_;
    history history_ SEMEL_GUARDED_BY(mutex_);
    store_pulse pulse_ SEMEL_GUARDED_BY(mutex_) = {};
    std::optional<local_time> asked_at_ SEMEL_GUARDED_BY(mutex_); // the store, if its answer is due
    // How far the store's clock is ahead of the runtime's.
    std::optional<duration> store_clock_ SEMEL_GUARDED_BY(mutex_);
    std::optional<lapsed_count> lapsed_ SEMEL_GUARDED_BY(mutex_);
    std::optional<local_time> lapsed_at_ SEMEL_GUARDED_BY(mutex_); // when it was last asked for
};

} // namespace semel::edge
