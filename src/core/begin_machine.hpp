// From "may I?" to one of: run the work, or give this answer. Decides; performs nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "core/backoff.hpp"
#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/command.hpp"

namespace semel {

struct begin_options {
    commands::begin what = {};
    // Until when a repeat may wait for another caller's result. If this time is in the past, the
    // repeat does not wait.
    local_time wait_until = {};
    // Until when a store that cannot answer is asked again.
    local_time patience_until = {};
    backoff_options polls = {};
    std::uint64_t seed = 0;
};

namespace begin_steps {

// Send this to the store; report with on_reply or on_failure.
struct ask {
    command what;
};
// Another caller is running the work, or the store is away: call on_timer at `until` or as soon as
// there is news. `hint` is how long a caller that does not wait should stay away.
struct wait {
    local_time until = {};
    duration hint = {};
    std::optional<failure> away = {}; // why the store cannot answer; none: another owner is at work
};
// The claim is ours.
struct run {
    answers::started started;
    time_point now = {};
};
// Over, without running: a replay, in_progress, mismatch, failed or in_doubt.
struct answered {
    reply with;
};
struct refused {
    failure why;
};

} // namespace begin_steps

using begin_step = std::variant<begin_steps::ask, begin_steps::wait, begin_steps::run,
                                begin_steps::answered, begin_steps::refused>;

class begin_machine {
public:
    explicit begin_machine(begin_options&& options);

    [[nodiscard]] begin_step start();
    [[nodiscard]] begin_step on_reply(reply&& got, local_time now);
    [[nodiscard]] begin_step on_failure(failure why, local_time now);
    [[nodiscard]] begin_step on_timer();
    // The caller waits no longer: the next "in progress" is the answer.
    void stop_waiting() { options_.wait_until = {}; }
    // A begin of ours got no definite answer. It may be applied later, whatever the store has
    // answered since.
    [[nodiscard]] bool was_in_doubt() const { return was_in_doubt_; }

private:
    [[nodiscard]] begin_step ask_begin();
    [[nodiscard]] begin_step ask_lookup();
    [[nodiscard]] begin_step on_busy(reply&& got, local_time now);
    [[nodiscard]] begin_step on_found(const answers::found& found, time_point now);

    begin_options options_;
    backoff polls_;
    backoff retries_;
    // A begin of ours got no definite answer: it may have been applied, or may be applied yet.
    bool in_doubt_ = false;
    bool was_in_doubt_ = false;
};

// What a begin would have said, read from the record that it left.
[[nodiscard]] answers::started adopted(const record& it);

} // namespace semel
