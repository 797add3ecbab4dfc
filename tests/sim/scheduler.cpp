#include "sim/scheduler.hpp"

#include <algorithm>
#include <vector>

namespace semel::sim {

void scheduler::at(duration when, process_id who, task what) {
    if (!alive(who)) return;
    due_.emplace(std::pair{std::max(when, now_), serial_++}, event{who, std::move(what)});
}

bool scheduler::alive(process_id who) const {
    return who == world_process || processes_.contains(who);
}

bool scheduler::paused(process_id who) const {
    const auto found = processes_.find(who);
    return found != processes_.end() && found->second.paused_until > now_;
}

void scheduler::kill(process_id who) {
    processes_.erase(who);
    // Destroyed only when the queue is whole again: what they own may ask for events itself.
    std::vector<task> dropped;
    for (auto it = due_.begin(); it != due_.end();) {
        if (it->second.who != who) {
            ++it;
            continue;
        }
        dropped.push_back(std::move(it->second.what));
        it = due_.erase(it);
    }
}

bool scheduler::run_next(duration limit) {
    while (!due_.empty() && due_.begin()->first.first <= limit) {
        auto first = due_.extract(due_.begin());
        now_ = std::max(now_, first.key().first);
        const process_id who = first.mapped().who;
        if (paused(who)) {
            first.key().first = processes_[who].paused_until;
            due_.insert(std::move(first));
            continue;
        }
        ++steps_;
        first.mapped().what();
        return true;
    }
    return false;
}

} // namespace semel::sim
