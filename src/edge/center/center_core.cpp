#include "edge/center/center_core.hpp"

#include <utility>
#include <vector>

#include "edge/center/center_call.hpp"
#include "semel/base/mutex.hpp"

namespace semel::edge {

center_core::center_core(store& all, semel::runtime& timers, center_options with)
    : records(all), runtime(timers), options(std::move(with)) {}

bool center_core::add_waiter(const std::shared_ptr<center_call>& who) {
    const detail::guard lock{mutex_};
    const bool room = waiters_.size() < options.waiters_max &&
                      waiters_.count(who->hash()) < options.limits.waiters_per_key_max;
    if (stopping_) return false;
    if (!room) {
        counts.waiters_refused.add();
        return false;
    }
    waiters_.emplace(who->hash(), who);
    return true;
}

void center_core::remove_waiter(const center_call& who) {
    std::shared_ptr<center_call> gone; // goes outside the lock
    const detail::guard lock{mutex_};
    const auto [first, last] = waiters_.equal_range(who.hash());
    for (auto at = first; at != last; ++at) {
        if (at->second.get() != &who) continue;
        gone = std::move(at->second);
        waiters_.erase(at);
        return;
    }
}

void center_core::wake(std::uint64_t hash) {
    std::vector<std::shared_ptr<center_call>> woken;
    {
        const detail::guard lock{mutex_};
        const auto [first, last] = waiters_.equal_range(hash);
        for (auto at = first; at != last; ++at) woken.push_back(at->second);
    }
    for (const auto& one : woken) runtime.post([one] { one->wake_now(); });
}

void center_core::stop_waiting() {
    std::vector<std::shared_ptr<center_call>> woken;
    {
        const detail::guard lock{mutex_};
        stopping_ = true;
        for (const auto& [hash, one] : waiters_) woken.push_back(one);
    }
    for (const auto& one : woken) one->wake_now();
}

bool center_core::stopping() const {
    const detail::guard lock{mutex_};
    return stopping_;
}

std::size_t center_core::waiters() const {
    const detail::guard lock{mutex_};
    return waiters_.size();
}

} // namespace semel::edge
