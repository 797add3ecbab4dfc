// Runs an attempt's events one after the other: on the caller's thread while a blocking caller
// serves it, otherwise on the thread that brings the event.
#pragma once

#include <condition_variable>
#include <exception>
#include <list>
#include <mutex>
#include <optional>

#include "semel/base/function.hpp"
#include "semel/base/time.hpp"

namespace semel {

// Thread-safe.
class strand {
public:
    using task = unique_function<void()>;

    // A strand that is `served` from the start belongs to the constructing thread until leave().
    enum class mode { free, served };
    explicit strand(mode how) : busy_(how == mode::served), served_(how == mode::served) {}

    // What a task throws reaches the thread that ran it, after the tasks behind it have run too.
    void post(task what);

    // Serving thread only: runs one waiting task, or waits for one until `until`. False: timed out.
    bool serve(std::optional<local_time> until);

    // Serving thread only: from now on events run where they come from; those waiting run here.
    void leave();

private:
    static std::exception_ptr run_one(task& what, std::unique_lock<std::mutex>& lock);
    void run_all(std::unique_lock<std::mutex>& lock, std::exception_ptr thrown);

    std::mutex mutex_;
    std::condition_variable posted_;
    // Guarded by mutex_.
    std::list<task> tasks_; // not a deque, which allocates even while it is empty
    bool busy_;             // some thread runs tasks, or serves
    bool served_;           // that thread is a blocking caller's
};

} // namespace semel
