// Time, threads and randomness as the engine sees them: real in production, simulated in tests.
#pragma once

#include <cstdint>
#include <memory>

#include "semel/function.hpp"
#include "semel/time.hpp"

namespace semel {

// Thread-safe.
class runtime {
public:
    using task = unique_function<void()>;

    runtime() = default;
    runtime(const runtime&) = delete;
    runtime& operator=(const runtime&) = delete;
    virtual ~runtime() = default;

    [[nodiscard]] virtual local_time now() const = 0;

    // Runs `what` on the timer thread, not before `when`. Short, engine-internal work only.
    virtual void at(local_time when, task what) = 0;

    // Runs `what` soon on the callback thread: everything that may end in code of the user.
    virtual void post(task what) = 0;

    // Runs `what` on the chores thread: slow, blocking housekeeping that nobody waits for.
    virtual void chore(task what) = 0;

    [[nodiscard]] virtual std::uint64_t random() = 0;
};

// One thread each for timers, callbacks and chores. Destruction runs what was posted, drops pending
// timers.
[[nodiscard]] std::shared_ptr<runtime> make_system_runtime();

} // namespace semel
