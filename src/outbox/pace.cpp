#include "outbox/pace.hpp"

#include <algorithm>

namespace semel::outbox {

duration retry_delay(const retry_policy& policy, std::int32_t attempts, std::uint64_t random) {
    duration step = policy.first;
    for (std::int32_t i = 1; i < attempts && step < policy.last; ++i) step *= 2;
    step = std::min(step, policy.last);
    const auto half = step.count() / 2;
    const auto spread = static_cast<std::uint64_t>(step.count() - half + 1);
    return duration{half + static_cast<duration::rep>(random % spread)};
}

} // namespace semel::outbox
