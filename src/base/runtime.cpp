#include "semel/base/runtime.hpp"

#include <algorithm>
#include <deque>
#include <list>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/home_process.hpp"
#include "base/process_random.hpp"
#include "base/wait_slice.hpp"
#include "semel/base/mutex.hpp"

namespace semel {

namespace {

// A thread that runs tasks in order. At the end it runs all tasks that are left.
class worker {
public:
    worker() : thread_([this] { run(); }) {}

    ~worker() {
        {
            const detail::guard lock{mutex_};
            stopping_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    void post(runtime::task what) {
        {
            const detail::guard lock{mutex_};
            tasks_.push_back(std::move(what));
        }
        changed_.notify_one();
    }

private:
    void run() {
        detail::guard lock{mutex_};
        while (true) {
            changed_.wait(lock,
                          [&]() SEMEL_REQUIRES(mutex_) { return !tasks_.empty() || stopping_; });
            if (tasks_.empty()) return;
            runtime::task next = std::move(tasks_.front());
            tasks_.pop_front();
            lock.unlock();
            next();
            next = {};
            lock.lock();
        }
    }

    detail::mutex mutex_;
    detail::condition changed_;
    std::deque<runtime::task> tasks_ SEMEL_GUARDED_BY(mutex_);
    bool stopping_ SEMEL_GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

// A thread that runs tasks at their time; those not due when it ends are dropped.
class timer {
public:
    timer() : thread_([this] { run(); }) {}

    ~timer() {
        {
            const detail::guard lock{mutex_};
            stopping_ = true;
        }
        changed_.notify_one();
        thread_.join();
    }

    void at(local_time when, runtime::task what) {
        bool first = false;
        {
            const detail::guard lock{mutex_};
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
        detail::guard lock{mutex_};
        while (!stopping_) {
            if (due_.empty()) {
                changed_.wait(lock);
            } else if (const auto left = due_.front().when - local_clock::now();
                       left > duration::zero()) {
                changed_.wait_for(lock, wait_slice(left));
            } else {
                run_first();
            }
        }
    }

    void run_first() SEMEL_REQUIRES(mutex_) {
        std::pop_heap(due_.begin(), due_.end(), later);
        runtime::task next = std::move(due_.back().what);
        due_.pop_back();
        const detail::gap unlocked{mutex_};
        next();
        next = {};
    }

    detail::mutex mutex_;
    detail::condition changed_;
    std::vector<entry> due_ SEMEL_GUARDED_BY(mutex_); // a heap, the earliest first
    std::uint64_t serial_ SEMEL_GUARDED_BY(mutex_) = 0;
    bool stopping_ SEMEL_GUARDED_BY(mutex_) = false;
    std::thread thread_;
};

// A thread for tasks that may end in code of the user. Where that code blocks, further threads run
// what waits behind it, until nothing waits.
class callback_crew {
public:
    // `ask_for_look` has look() called in a moment. It is called under a lock, and not after
    // stop_looking().
    explicit callback_crew(unique_function<void()> ask_for_look)
        : ask_for_look_(std::move(ask_for_look)) {
        const detail::guard lock{mutex_};
        add_thread(stays::always);
    }

    ~callback_crew() {
        std::list<std::thread> all;
        {
            const detail::guard lock{mutex_};
            stopping_ = true;
            all.splice(all.end(), threads_);
            all.splice(all.end(), ended_);
        }
        changed_.notify_all();
        for (auto& one : all) one.join();
    }

    void post(runtime::task what) {
        const detail::guard lock{mutex_};
        tasks_.push_back(std::move(what));
        if (idle_ > 0) changed_.notify_one();
        if (tasks_.size() > idle_ && !watched_) watch();
    }

    // Has nothing been taken since the last look, although something waits?
    void look() {
        const detail::guard lock{mutex_};
        watched_ = false;
        if (tasks_.empty() || stopping_) return;
        if (taken_ == taken_before_ && threads_.size() < threads_max) help();
        watch();
    }

    void stop_looking() {
        const detail::guard lock{mutex_};
        ask_for_look_ = {};
    }

private:
    static constexpr std::size_t threads_max = 64;
    enum class stays : std::uint8_t { always, while_needed };

    void watch() SEMEL_REQUIRES(mutex_) {
        if (!ask_for_look_) return;
        watched_ = true;
        taken_before_ = taken_;
        ask_for_look_();
    }

    void help() SEMEL_REQUIRES(mutex_) {
        for (auto& one : ended_) one.join(); // has let go of the lock, so it is gone in a moment
        ended_.clear();
        try {
            add_thread(stays::while_needed);
        } catch (const std::system_error&) { // there is none to be had: perhaps at the next look
            threads_.pop_back();
        }
    }

    void add_thread(stays how_long) SEMEL_REQUIRES(mutex_) {
        const auto at = threads_.emplace(threads_.end());
        *at = std::thread{[this, at, how_long] { run(at, how_long); }};
    }

    void run(std::list<std::thread>::iterator self, stays how_long) {
        detail::guard lock{mutex_};
        while (true) {
            if (!tasks_.empty()) {
                run_first();
            } else if (stopping_) {
                return;
            } else if (how_long == stays::while_needed) {
                return ended_.splice(ended_.end(), threads_, self);
            } else {
                ++idle_;
                changed_.wait(
                    lock, [&]() SEMEL_REQUIRES(mutex_) { return !tasks_.empty() || stopping_; });
                --idle_;
            }
        }
    }

    void run_first() SEMEL_REQUIRES(mutex_) {
        runtime::task next = std::move(tasks_.front());
        tasks_.pop_front();
        ++taken_;
        const detail::gap unlocked{mutex_};
        next();
        next = {};
    }

    detail::mutex mutex_;
    detail::condition changed_;
    unique_function<void()> ask_for_look_ SEMEL_GUARDED_BY(mutex_);
    std::deque<runtime::task> tasks_ SEMEL_GUARDED_BY(mutex_);
    std::list<std::thread> threads_ SEMEL_GUARDED_BY(mutex_);
    std::list<std::thread> ended_ SEMEL_GUARDED_BY(mutex_);
    std::size_t idle_ SEMEL_GUARDED_BY(mutex_) = 0;
    std::uint64_t taken_ SEMEL_GUARDED_BY(mutex_) = 0;
    std::uint64_t taken_before_ SEMEL_GUARDED_BY(mutex_) = 0; // at the last look
    bool watched_ SEMEL_GUARDED_BY(mutex_) = false;           // look() has been asked for
    bool stopping_ SEMEL_GUARDED_BY(mutex_) = false;
};

class system_runtime final : public runtime {
public:
    ~system_runtime() override { callbacks_.stop_looking(); }

    local_time now() const override { return local_clock::now(); }
    void at(local_time when, task what) override { timer_.at(when, std::move(what)); }
    void post(task what) override { callbacks_.post(std::move(what)); }
    void chore(task what) override { chores_.post(std::move(what)); }

    std::uint64_t random() override { return process_random(); }

private:
    static constexpr duration moment = std::chrono::milliseconds{10};

    // Outlive the timer, whose tasks may post to them.
    callback_crew callbacks_{[this] { timer_.at(now() + moment, [this] { callbacks_.look(); }); }};
    worker chores_;
    timer timer_;
};

} // namespace

std::shared_ptr<runtime> open_system_runtime() {
    return {new system_runtime, delete_at_home{}};
}

} // namespace semel
