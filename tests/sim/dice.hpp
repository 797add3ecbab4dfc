// All randomness of a simulated run: one 64-bit seed, the same numbers on every machine.
#pragma once

#include <cstddef>
#include <cstdint>

#include "semel/base/time.hpp"

namespace semel::sim {

// splitmix64. Not the standard library's distributions: theirs differ between implementations.
class dice {
public:
    explicit dice(std::uint64_t seed) : state_(seed) {}

    std::uint64_t next() {
        state_ += 0x9e3779b97f4a7c15;
        std::uint64_t z = state_;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
    // 0 … n-1.
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }
    // True this many times in a thousand.
    bool hit(unsigned per_mille) { return next() % 1000 < per_mille; }
    duration between(duration least, duration most) {
        const auto span = static_cast<std::uint64_t>((most - least).count() + 1);
        return least + duration{static_cast<duration::rep>(next() % span)};
    }

private:
    std::uint64_t state_;
};

} // namespace semel::sim
