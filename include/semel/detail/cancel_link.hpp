// Cancelling what has not begun yet. Not for direct use.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "semel/detail/work.hpp"

namespace semel::detail {

// Connects a cancellation slot to an attempt that is made a moment later. Thread-safe.
class cancel_link {
public:
    void connect(std::shared_ptr<cancellable> attempt) {
        const std::lock_guard lock{mutex_};
        attempt_ = std::move(attempt);
        if (asked_ && attempt_) attempt_->cancel();
    }
    void cancel() {
        const std::lock_guard lock{mutex_};
        asked_ = true;
        if (attempt_) attempt_->cancel();
    }

private:
    std::mutex mutex_;
    std::shared_ptr<cancellable> attempt_; // guarded by mutex_
    bool asked_ = false;                   // guarded by mutex_
};

} // namespace semel::detail
