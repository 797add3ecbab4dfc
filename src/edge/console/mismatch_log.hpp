// The latest mismatches that this process has seen: a bounded list, lost with the process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/base/time.hpp"
#include "semel/engine/request.hpp"

namespace semel::edge {

// Thread-safe.
class mismatch_log {
public:
    struct entry {
        time_point at = {}; // this machine's clock
        mismatch_seen it;
        std::uint64_t times = 1; // the same pair again, one behind the other
    };

    explicit mismatch_log(std::size_t count_max = 500) : count_max_(count_max) {}

    void add(const mismatch_seen& it) {
        const time_point at =
            std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
        const detail::guard lock{mutex_};
        const bool again = !latest_.empty() && latest_.front().it.id == it.id &&
                           latest_.front().it.asked == it.asked &&
                           latest_.front().it.held == it.held;
        if (again) {
            latest_.front().at = at;
            ++latest_.front().times;
            return;
        }
        latest_.push_front({.at = at, .it = it});
        if (latest_.size() > count_max_) latest_.pop_back();
    }

    [[nodiscard]] std::size_t count_max() const { return count_max_; }
    // Newest first.
    [[nodiscard]] std::vector<entry> all() const {
        const detail::guard lock{mutex_};
        return {latest_.begin(), latest_.end()};
    }

private:
    const std::size_t count_max_;
    mutable detail::mutex mutex_;
    std::deque<entry> latest_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel::edge
