// How long to wait: for the next look at an empty table, and for the next try of a row. Pure.
#pragma once

#include <cstdint>

#include "core/backoff.hpp"
#include "semel/outbox/relay.hpp"

namespace semel::outbox {

// From `poll_first` up to `poll_last`, doubling while nothing is found.
class poll_pace {
public:
    poll_pace(const relay_options& options, std::uint64_t seed)
        : pauses_({.first = options.poll_first, .last = options.poll_last}, seed) {}

    [[nodiscard]] duration next() { return pauses_.next(); }
    void found() { pauses_.reset(); }

private:
    backoff pauses_;
};

// Between a half and the whole of first * 2^(attempts - 1), at most `last`.
[[nodiscard]] duration retry_delay(const retry_policy& policy, std::int32_t attempts,
                                   std::uint64_t random);

} // namespace semel::outbox
