// Calls under way, for a destructor that waits until they have ended. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <mutex>

namespace semel::edge {

class open_calls {
public:
    // Each call that has entered leaves later. False after close().
    bool enter() {
        const std::lock_guard lock{mutex_};
        ++count_;
        return !closed_;
    }

    void leave() {
        const std::lock_guard lock{mutex_};
        if (--count_ == 0) none_.notify_all();
    }

    void close() {
        std::unique_lock lock{mutex_};
        closed_ = true;
        none_.wait(lock, [this] { return count_ == 0; });
    }

private:
    std::mutex mutex_;
    // Guarded by mutex_.
    bool closed_ = false;
    std::size_t count_ = 0;
    std::condition_variable none_;
};

} // namespace semel::edge
