#include "engine/strand.hpp"

#include <utility>

#include "base/wait_slice.hpp"
#include "semel/base/mutex.hpp"

namespace semel {

void strand::post(task what) {
    const detail::guard lock{mutex_};
    if (!busy_) {
        // No task is before it, so it need not be queued.
        busy_ = true;
        return run_all(run_one(what));
    }
    tasks_.push_back(std::move(what));
    // Under the lock: the serving frame may be gone once it has seen the task.
    if (served_) posted_.notify_one();
}

std::exception_ptr strand::run_one(task& what) {
    const detail::gap unlocked{mutex_};
    std::exception_ptr thrown;
    try {
        what();
    } catch (...) {
        thrown = std::current_exception();
    }
    what = {};
    return thrown;
}

// Until none is left; then the strand is free, whatever was thrown.
void strand::run_all(std::exception_ptr thrown) {
    while (!tasks_.empty()) {
        task next = std::move(tasks_.front());
        tasks_.pop_front();
        auto also = run_one(next);
        if (!thrown) thrown = std::move(also);
    }
    busy_ = false;
    if (thrown) std::rethrow_exception(thrown);
}

bool strand::serve(std::optional<local_time> until) {
    detail::guard lock{mutex_};
    while (tasks_.empty()) {
        if (!until) {
            posted_.wait(lock);
            continue;
        }
        const duration left = *until - local_clock::now();
        if (left <= duration::zero()) return false;
        posted_.wait_for(lock, wait_slice(left));
    }
    task next = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    next();
    return true;
}

void strand::leave() {
    const detail::guard lock{mutex_};
    served_ = false;
    run_all(nullptr);
}

} // namespace semel
