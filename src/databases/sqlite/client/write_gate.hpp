// One writer at a time, first come first served, among the connections of one store.
//
// SQLite itself lets waiting connections poll, and a busy lane would starve the keeper's renewals.
#pragma once

#include <deque>

#include "semel/base/mutex.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"

namespace semel::sqlite {

// Thread-safe.
class write_gate {
public:
    // Leaves the gate when it goes out of scope.
    class pass {
    public:
        explicit pass(write_gate& gate) : gate_(&gate) {}
        pass(pass&& other) noexcept : gate_(std::exchange(other.gate_, nullptr)) {}
        pass& operator=(pass&&) = delete;
        ~pass() {
            if (gate_ != nullptr) gate_->leave();
        }

    private:
        write_gate* gate_;
    };

    // Waits for the caller's turn, at most `patience`. Then errc::timed_out.
    [[nodiscard]] result<pass> enter(duration patience);

private:
    struct waiter {
        detail::condition turn;
        bool admitted = false;
    };

    void leave();

    detail::mutex mutex_;
    bool taken_ SEMEL_GUARDED_BY(mutex_) = false;
    std::deque<waiter*> waiting_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel::sqlite
