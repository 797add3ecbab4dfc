#include "engine/strand.hpp"

#include <utility>

#include "base/stretch.hpp"

namespace semel {

void strand::post(task what) {
    std::unique_lock lock{mutex_};
    if (!busy_) {
        // No task is before it, so it need not be queued.
        busy_ = true;
        return run_all(lock, run_one(what, lock));
    }
    tasks_.push_back(std::move(what));
    // Under the lock: the serving frame may be gone once it has seen the task.
    if (served_) posted_.notify_one();
}

std::exception_ptr strand::run_one(task& what, std::unique_lock<std::mutex>& lock) {
    std::exception_ptr thrown;
    lock.unlock();
    try {
        what();
    } catch (...) {
        thrown = std::current_exception();
    }
    what = {};
    lock.lock();
    return thrown;
}

// Until none is left; then the strand is free, whatever was thrown.
void strand::run_all(std::unique_lock<std::mutex>& lock, std::exception_ptr thrown) {
    while (!tasks_.empty()) {
        task next = std::move(tasks_.front());
        tasks_.pop_front();
        auto also = run_one(next, lock);
        if (!thrown) thrown = std::move(also);
    }
    busy_ = false;
    if (thrown) std::rethrow_exception(thrown);
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
        posted_.wait_for(lock, stretch(left));
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
    run_all(lock, nullptr);
}

} // namespace semel
