#include "semel/base/time.hpp"

#include <ctime>

namespace semel {

local_time local_clock::now() noexcept {
    timespec at{};
    ::clock_gettime(CLOCK_BOOTTIME, &at);
    return local_time{std::chrono::seconds{at.tv_sec} +
                      std::chrono::duration_cast<duration>(std::chrono::nanoseconds{at.tv_nsec})};
}

} // namespace semel
