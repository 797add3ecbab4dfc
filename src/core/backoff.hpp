// How long to wait before the next try: growing, bounded, and spread so that callers do not march
// in step.
#pragma once

#include <cstdint>

#include "semel/base/time.hpp"

namespace semel {

struct backoff_options {
    duration first = std::chrono::milliseconds{5};
    duration last = std::chrono::milliseconds{200};
};

// Pure, apart from its own state. The seed makes it repeatable.
class backoff {
public:
    backoff(backoff_options options, std::uint64_t seed) : options_(options), seed_(seed) {}

    // Between a half and the whole of a step that doubles from `first` up to `last`.
    [[nodiscard]] duration next();
    void reset() { step_ = duration::zero(); }

private:
    backoff_options options_;
    std::uint64_t seed_;
    duration step_ = duration::zero();
};

} // namespace semel
