// Spares an endpoint that fails: after a few failures in a row the endpoint gets nothing for a
// while, and is then tried with one message. Pure: time is an argument.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "semel/base/time.hpp"

namespace semel::outbox {

struct breaker_options {
    std::uint32_t failures_max = 5; // in a row
    duration pause_first = std::chrono::seconds{1};
    duration pause_max = std::chrono::seconds{30};
};

class breaker {
public:
    enum class state : std::uint8_t {
        closed,    // all may go
        half_open, // one may go, to see
        open,      // none may
    };

    explicit breaker(const breaker_options& options) : options_(options) {}

    [[nodiscard]] state at(local_time now) const {
        if (now < asked_until_) return state::open;
        if (failures_ < options_.failures_max) return state::closed;
        return now < open_until_ ? state::open : state::half_open;
    }
    [[nodiscard]] local_time open_until() const { return std::max(open_until_, asked_until_); }

    void on_success() {
        failures_ = 0;
        pause_ = {};
    }
    // True if this one has opened it.
    bool on_failure(local_time now) {
        if (++failures_ < options_.failures_max || now < open_until_) return false;
        pause_ = std::clamp(2 * pause_, options_.pause_first, options_.pause_max);
        open_until_ = now + pause_;
        return true;
    }
    // The endpoint itself has said when to come again.
    void rest_until(local_time when) { asked_until_ = std::max(asked_until_, when); }

private:
    const breaker_options options_;
    std::uint32_t failures_ = 0;
    duration pause_ = {};
    local_time open_until_ = {};
    local_time asked_until_ = {};
};

} // namespace semel::outbox
