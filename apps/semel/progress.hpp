// How far long work has come, on a terminal only: a pipe or a file sees nothing of it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <string>
#include <thread>

#include "semel/base/mutex.hpp"

namespace semel::app {

// "sweep  [=====>    ]  52 %  1,040,000 of 2,000,000 records  24,300/s  43 s"
[[nodiscard]] std::string progress_line(const std::string& label, std::uint64_t done,
                                        std::uint64_t total, std::chrono::duration<double> since);

// Draws on standard error a few times a second from a thread of its own until it goes.
class progress {
public:
    // `total` 0: not known.
    explicit progress(std::string label, std::uint64_t total = 0);
    ~progress(); // takes the line away
    progress(const progress&) = delete;
    progress& operator=(const progress&) = delete;

    void add(std::uint64_t more) { done_.fetch_add(more, std::memory_order_relaxed); }

private:
    void draw();

    const std::string label_;
    const std::uint64_t total_;
    const std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
    std::atomic<std::uint64_t> done_ = 0;
    detail::mutex mutex_;
    std::condition_variable_any changed_;
    std::jthread thread_; // not started if the output is no terminal
};

} // namespace semel::app
