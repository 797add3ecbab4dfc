// Runs an attempt's events one after the other: on the caller's thread while a blocking caller
// serves it, otherwise on the thread that brings the event.
#pragma once

#include <exception>
#include <list>
#include <optional>

#include "semel/base/function.hpp"
#include "semel/base/mutex.hpp"
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
    std::exception_ptr run_one(task& what) SEMEL_REQUIRES(mutex_);
    void run_all(std::exception_ptr thrown) SEMEL_REQUIRES(mutex_);

    detail::mutex mutex_;
    detail::condition posted_;
    // Not a deque, which allocates even while it is empty.
    std::list<task> tasks_ SEMEL_GUARDED_BY(mutex_);
    bool busy_ SEMEL_GUARDED_BY(mutex_);   // some thread runs tasks, or serves
    bool served_ SEMEL_GUARDED_BY(mutex_); // that thread is a blocking caller's
};

} // namespace semel
