// The one event loop of a simulated run: true time, processes that pause and die, no threads.
#pragma once

#include <cstdint>
#include <map>
#include <utility>

#include "semel/base/function.hpp"
#include "semel/base/time.hpp"

namespace semel::sim {

// A simulated process. The world itself (clients, database, faults) is process 0, which never dies.
using process_id = std::uint32_t;
inline constexpr process_id world_process = 0;

// Not thread-safe: that is the point.
class scheduler {
public:
    using task = unique_function<void()>;

    [[nodiscard]] duration now() const { return now_; }
    [[nodiscard]] std::uint64_t steps() const { return steps_; }

    // Events of one time run in the order in which they were asked for. A dead process has none.
    void at(duration when, process_id who, task what);
    void after(duration delay, process_id who, task what) {
        at(now_ + delay, who, std::move(what));
    }

    void start(process_id who) { processes_[who] = {}; }
    // Nothing of this process runs before `until`; its clocks go on.
    void pause(process_id who, duration until) { processes_[who].paused_until = until; }
    // Drops everything the process had before it, as a crash does.
    void kill(process_id who);
    [[nodiscard]] bool alive(process_id who) const;
    [[nodiscard]] bool paused(process_id who) const;

    // Runs the next event; false if there is none, or none before `limit`.
    bool run_next(duration limit);

private:
    struct event {
        process_id who;
        task what;
    };
    struct process {
        duration paused_until = {};
    };

    duration now_ = {};
    std::uint64_t serial_ = 0;
    std::uint64_t steps_ = 0;
    std::map<std::pair<duration, std::uint64_t>, event> due_;
    std::map<process_id, process> processes_;
};

} // namespace semel::sim
