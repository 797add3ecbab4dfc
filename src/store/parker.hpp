// Parks the calling thread until somebody unparks it.
//
// Parkers are pooled and never freed, so that the one who wakes a thread may touch the parker after
// that thread has gone on, returned and ended. Wake-ups may be spurious: callers re-check.
//
// A futex of our own: std::atomic::wait yields the processor several times before it sleeps, which
// with many parked callers costs more than the batches they wait for.
#pragma once

#include <atomic>

namespace semel {

class parker {
public:
    // This thread's own.
    static parker& mine();

    [[nodiscard]] int ticket() const { return word_.load(); }
    // Returns when unpark() has been called since that ticket was taken, or before.
    void park(int ticket);
    void unpark();

private:
    std::atomic<int> word_ = 0;
    std::atomic<bool> asleep_ = false; // or about to be: spares the awake a system call
};

} // namespace semel
