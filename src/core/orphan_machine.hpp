// Looks for the claim of a begin that never got its answer: it may have been applied, or may be
// applied yet, and nothing will run under it. Decides; performs nothing.
#pragma once

#include <cstdint>
#include <variant>

#include "core/backoff.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/command.hpp"

namespace semel {

struct orphan_options {
    owner_id owner = {};
    std::uint64_t ran = 0; // the fence of this owner's claim that its work ran under; 0: none
    // Until when the claim is looked for. The search goes on after a look that did not find the
    // claim, and ends with a look that was sent at this time or later: an earlier one may have
    // been answered late, after a pause of the process, and says nothing about the time between.
    local_time look_until = {};
    backoff_options looks = {};
    std::uint64_t seed = 0;
};

namespace orphan_steps {

// Send this to the store; report with on_reply or on_failure.
struct ask {
    command what;
};
// Wake up by on_timer.
struct wait {
    local_time until = {};
};
// The claim is there: give it back, and report with on_given_back.
struct found {
    answers::started claim;
};
struct gave_up {
    // Has the store said at the end that the claim is not there? Else it may still be.
    enum class last_seen : std::uint8_t { absent, unknown } as;
};

} // namespace orphan_steps

using orphan_step =
    std::variant<orphan_steps::ask, orphan_steps::wait, orphan_steps::found, orphan_steps::gave_up>;

class orphan_machine {
public:
    explicit orphan_machine(const orphan_options& options)
        : options_(options), settled_(options.ran), looks_(options.looks, options.seed) {}

    [[nodiscard]] orphan_step start(local_time now);
    [[nodiscard]] orphan_step on_reply(const reply& got, local_time now);
    [[nodiscard]] orphan_step on_failure(local_time now);
    // A begin that was sent again may leave a second claim.
    [[nodiscard]] orphan_step on_given_back(local_time now);
    [[nodiscard]] orphan_step on_timer(local_time now);
    // There is no more time: the next answer that the store gives decides.
    void hurry(local_time look_until);

private:
    [[nodiscard]] orphan_step later(local_time now, orphan_steps::gave_up::last_seen as);

    orphan_options options_;
    // Claims up to this fence were run or given back. A record that is given back keeps its holder,
    // so the owner alone does not show whether the claim is still there.
    std::uint64_t settled_;
    backoff looks_;
    local_time asked_at_ = {}; // when the last look was sent
    bool hurries_ = false;
};

} // namespace semel
