// Carries the end of an attempt to the store, however often that takes. Decides; performs nothing.
#pragma once

#include <cstdint>
#include <variant>

#include "core/backoff.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/command.hpp"

namespace semel {

struct complete_options {
    command what = {}; // complete, fail, release or abandon, with the attempt's claim
    local_time give_up_at = {};
    backoff_options retries = {.first = std::chrono::milliseconds{5},
                               .last = std::chrono::seconds{1}};
    std::uint64_t seed = 0;
};

namespace complete_steps {

struct ask {
    command what;
};
struct wait {
    local_time until = {};
};
// The store has acknowledged it, or has fenced it off.
struct settled {
    reply with;
};
// Not acknowledged by give_up_at, or the store can never take it.
struct gave_up {
    failure why;
};

} // namespace complete_steps

using complete_step = std::variant<complete_steps::ask, complete_steps::wait,
                                   complete_steps::settled, complete_steps::gave_up>;

// A result that the store can never take becomes a tombstone.
//
// Asking again after an unknown effect is not a blind retry: the command names its fence and owner,
// so that its answer *is* the read, and "already stored by the same attempt" is one of the answers.
class complete_machine {
public:
    explicit complete_machine(complete_options&& options);

    [[nodiscard]] complete_step start();
    [[nodiscard]] complete_step on_reply(reply&& got);
    [[nodiscard]] complete_step on_failure(failure why, local_time now);
    [[nodiscard]] complete_step on_timer();
    [[nodiscard]] const command& what() const { return options_.what; }

private:
    complete_options options_;
    backoff retries_;
};

} // namespace semel
