// The two clocks of semel. They are different types so that they cannot be mixed by accident.
#pragma once

#include <chrono>
#include <cstdint>

namespace semel {

using duration = std::chrono::microseconds;

// A moment on the *store's* clock, for every lease, retention and retry time. The store reads its
// clock inside its own statement, and it is never compared with a clock of this process.
using time_point = std::chrono::sys_time<duration>;

// A moment on this machine's boot-time clock: it is monotonic and goes on while the machine sleeps,
// so a lease cannot look alive after a suspend. Local timers and deadlines use only this one.
struct local_clock {
    using rep = std::int64_t;
    using period = std::micro;
    using duration = semel::duration;
    using time_point = std::chrono::time_point<local_clock, duration>;
    static constexpr bool is_steady = true;
    static time_point now() noexcept;
};
using local_time = local_clock::time_point;

} // namespace semel
