#include "engine/strand.hpp"

#include <utility>

namespace semel {

void strand::post(task what) {
    std::unique_lock lock{mutex_};
    if (!busy_) {
        // Nobody is before it, so it need not be queued.
        busy_ = true;
        run_one(what, lock);
        run_all(lock);
        busy_ = false;
        return;
    }
    tasks_.push_back(std::move(what));
    // Under the lock: the serving frame may be gone once it has seen the task.
    if (served_) posted_.notify_one();
}

void strand::run_one(task& what, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    what();
    what = {};
    lock.lock();
}

void strand::run_all(std::unique_lock<std::mutex>& lock) {
    while (!tasks_.empty()) {
        task next = std::move(tasks_.front());
        tasks_.pop_front();
        run_one(next, lock);
    }
}

bool strand::serve(std::optional<local_time> until) {
    std::unique_lock lock{mutex_};
    while (tasks_.empty()) {
        if (!until) {
            posted_.wait(lock);
            continue;
        }
        const duration left = *until - local_clock::now();
        if (left <= duration::zero()) return false;
        posted_.wait_for(lock, left);
    }
    task next = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    next();
    return true;
}

void strand::leave() {
    std::unique_lock lock{mutex_};
    served_ = false;
    run_all(lock);
    busy_ = false;
}

} // namespace semel
