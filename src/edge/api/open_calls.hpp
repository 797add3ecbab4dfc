// Calls under way, for a destructor that waits until they have ended. Thread-safe.
#pragma once

#include <cstddef>

#include "semel/base/mutex.hpp"

namespace semel::edge {

class open_calls {
public:
    // Each call that has entered leaves later. False after close().
    bool enter() {
        const detail::guard lock{mutex_};
        ++count_;
        return !closed_;
    }

    void leave() {
        const detail::guard lock{mutex_};
        if (--count_ == 0) none_.notify_all();
    }

    void close() {
        detail::guard lock{mutex_};
        closed_ = true;
        none_.wait(lock, [this]() SEMEL_REQUIRES(mutex_) { return count_ == 0; });
    }

private:
    detail::mutex mutex_;
    bool closed_ SEMEL_GUARDED_BY(mutex_) = false;
    std::size_t count_ SEMEL_GUARDED_BY(mutex_) = 0;
    detail::condition none_;
};

} // namespace semel::edge
