// Signals as something that is waited for, instead of something that interrupts.
#pragma once

#include <algorithm>
#include <chrono>
#include <csignal>
#include <initializer_list>

namespace semel::app {

// Made before any thread begins, so that all inherit the mask and only next() sees the signals.
class signals {
public:
    explicit signals(std::initializer_list<int> which) {
        sigemptyset(&set_);
        for (const int one : which) sigaddset(&set_, one);
        pthread_sigmask(SIG_BLOCK, &set_, nullptr);
    }

    [[nodiscard]] int next() {
        int got = 0;
        sigwait(&set_, &got);
        return got;
    }

    // The same, or 0 after `up_to` without one.
    [[nodiscard]] int next(std::chrono::milliseconds up_to) {
        const timespec patience{.tv_sec = up_to.count() / 1'000,
                                .tv_nsec = up_to.count() % 1'000 * 1'000'000};
        return std::max(0, sigtimedwait(&set_, nullptr, &patience));
    }

    // From here on they do what they usually do: a second one ends the process at once. SIGHUP only
    // asks to read tokens again, and must not: it stays blocked.
    void release() {
        sigset_t ends = set_;
        sigdelset(&ends, SIGHUP);
        pthread_sigmask(SIG_UNBLOCK, &ends, nullptr);
    }

private:
    sigset_t set_ = {};
};

} // namespace semel::app
