// What the parts of the record machine share.
#pragma once

#include <cstdint>

#include "semel/core/record_machine.hpp"

namespace semel::record_parts {

// max(now in µs, previous fence + 1, floor + 1)
[[nodiscard]] std::uint64_t next_fence(const record* before, const instant& at);

[[nodiscard]] inline bool finished(const record& it) {
    return it.state != record_state::processing;
}

[[nodiscard]] inline bool used_up(const record& it) {
    return it.attempts >= it.policy.attempts_max;
}

// What follows if the lease has lapsed. The stored policy decides, not the caller's, because a
// process with another configuration must not take over.
[[nodiscard]] bool needs_verdict(const record& it);

[[nodiscard]] applied unchanged(answer&& said);
// The record to write. The caller changes it in place, because it is too large to be copied.
[[nodiscard]] applied rewritten(const record& before, const instant& at);
[[nodiscard]] applied fenced(const record* shown);
[[nodiscard]] answers::in_progress busy(const record& shown, time_point retry_at);

// The commands of operators and of the sweeper. `shown` is what callers may see of `before`.
[[nodiscard]] applied on(commands::resolve&& what, const record* before, const record* shown,
                         const instant& at);
[[nodiscard]] applied on(commands::remove&& what, const record* before, const record* shown,
                         const instant& at);
[[nodiscard]] applied on(commands::purge&& what, const record* before, const record* shown,
                         const instant& at);

} // namespace semel::record_parts
