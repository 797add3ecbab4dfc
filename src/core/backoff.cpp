#include "core/backoff.hpp"

#include <algorithm>

namespace semel {

namespace {

// splitmix64: tiny, and good enough to spread retries.
std::uint64_t mix(std::uint64_t& state) {
    state += 0x9e3779b97f4a7c15;
    std::uint64_t z = state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

} // namespace

duration backoff::next() {
    step_ = step_ == duration::zero() ? options_.first : std::min(step_ * 2, options_.last);
    const auto half = step_.count() / 2;
    const auto spread = static_cast<std::uint64_t>(step_.count() - half + 1);
    return duration{half + static_cast<duration::rep>(mix(seed_) % spread)};
}

} // namespace semel
