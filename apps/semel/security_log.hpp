// Who came in and who was turned away: into the log, and counted.
#pragma once

#include <array>
#include <chrono>
#include <memory>

#include "edge/admin/metrics.hpp"
#include "edge/server/security_event.hpp"
#include "semel/base/mutex.hpp"
#include "semel/log.hpp"

namespace semel::app {

// Thread-safe.
class security_log {
public:
    using clock = std::chrono::steady_clock;

    explicit security_log(std::shared_ptr<logger> log) : log_(std::move(log)) {}

    // At most `lines_max` of a kind in a second are logged, so that an attack does not fill the
    // disk; all are counted.
    void add(const edge::security_event& what, clock::time_point now = clock::now());
    [[nodiscard]] edge::security_counts counts() const;

    static constexpr std::size_t lines_max = 10;

private:
    struct of_kind {
        std::uint64_t seen = 0;
        std::uint64_t unlogged = 0;       // all in all
        std::uint64_t unlogged_since = 0; // the last line
        std::size_t lines = 0;            // in this second
        clock::time_point second = {};
    };

    const std::shared_ptr<logger> log_;
    mutable detail::mutex mutex_;
    std::array<of_kind, edge::security_event_kinds> kinds_ SEMEL_GUARDED_BY(mutex_){};
};

} // namespace semel::app
