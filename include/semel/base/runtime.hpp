// Time, threads and randomness as the engine sees them: real in production, simulated in tests.
#pragma once

#include <cstdint>
#include <memory>

#include "semel/base/function.hpp"
#include "semel/base/time.hpp"

namespace semel {

// Thread-safe.
class runtime {
public:
    using task = unique_function<void()>; // must not throw

    runtime() = default;
    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;
    virtual ~runtime() = default;

    [[nodiscard]] virtual local_time now() const = 0;

    // Runs `what` on the timer thread, not before `when`. Short, engine-internal work only.
    virtual void at(local_time when, task what) = 0;

    // Runs `what` soon on a callback thread: everything that may end in code of the user. If that
    // code blocks, what is posted behind it runs elsewhere.
    virtual void post(task what) = 0;

    // Runs `what` on the chores thread: for slow, blocking housekeeping without a waiting caller.
    virtual void chore(task what) = 0;

    [[nodiscard]] virtual std::uint64_t random() = 0;
};

// One thread each for timers, callbacks and chores. While callbacks block, further threads run
// those behind them, one more every 10 ms and 64 at most. Destruction runs what was posted, drops
// pending timers.
[[nodiscard]] std::shared_ptr<runtime> open_system_runtime();

} // namespace semel
