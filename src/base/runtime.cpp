#include "semel/runtime.hpp"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/process_random.hpp"
#include "base/stretch.hpp"

namespace semel {

namespace {

// A thread that runs tasks in order, and all that are left when it is told to end.
class worker {
public:
    worker() : thread_([this] { run(); }) {}

    ~worker() {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    void post(runtime::task what) {
        {
            const std::lock_guard lock{mutex_};
            tasks_.push_back(std::move(what));
        }
        changed_.notify_one();
    }

private:
    void run() {
        std::unique_lock lock{mutex_};
        while (true) {
            changed_.wait(lock, [&] { return !tasks_.empty() || stopping_; });
            if (tasks_.empty()) return;
            runtime::task next = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            next();
            next = {};
            lock.lock();
        }
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<runtime::task> tasks_; // guarded by mutex_
    bool stopping_ = false;           // guarded by mutex_
    std::thread thread_;
};

// A thread that runs tasks at their time; those not due when it ends are dropped.
class timer {
public:
    timer() : thread_([this] { run(); }) {}

    ~timer() {
        {
            const std::lock_guard lock{mutex_};
            stopping_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    void at(local_time when, runtime::task what) {
        bool first = false;
        {
            const std::lock_guard lock{mutex_};
            first = due_.empty() || when < due_.front().when;
            due_.push_back({when, serial_++, std::move(what)});
            std::push_heap(due_.begin(), due_.end(), later);
        }
        if (first) changed_.notify_one();
    }

private:
    struct entry {
        local_time when;
        std::uint64_t serial; // equal times run in the order they were asked for
        runtime::task what;
    };
    static bool later(const entry& a, const entry& b) {
        return a.when != b.when ? a.when > b.when : a.serial > b.serial;
    }

    void run() {
        std::unique_lock lock{mutex_};
        while (!stopping_) {
            if (due_.empty()) {
                changed_.wait(lock);
            } else if (const auto left = due_.front().when - local_clock::now();
                       left > duration::zero()) {
                changed_.wait_for(lock, stretch(left));
            } else {
                run_first(lock);
            }
        }
    }

    void run_first(std::unique_lock<std::mutex>& lock) {
        std::pop_heap(due_.begin(), due_.end(), later);
        runtime::task next = std::move(due_.back().what);
        due_.pop_back();
        lock.unlock();
        next();
        next = {};
        lock.lock();
    }

    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<entry> due_;   // guarded by mutex_; a heap, the earliest first
    std::uint64_t serial_ = 0; // guarded by mutex_
    bool stopping_ = false;    // guarded by mutex_
    std::thread thread_;
};

class system_runtime final : public runtime {
public:
    local_time now() const override { return local_clock::now(); }
    void at(local_time when, task what) override { timer_.at(when, std::move(what)); }
    void post(task what) override { callbacks_.post(std::move(what)); }
    void chore(task what) override { chores_.post(std::move(what)); }

    std::uint64_t random() override { return process_random(); }

private:
    // Outlive the timer, whose tasks may post to them.
    worker callbacks_;
    worker chores_;
    timer timer_;
};

} // namespace

std::shared_ptr<runtime> make_system_runtime() {
    return std::make_shared<system_runtime>();
}

} // namespace semel
