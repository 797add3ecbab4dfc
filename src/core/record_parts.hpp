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

// If it has lapsed. The stored policy decides, not a caller's: a differently configured peer must
// not take over.
[[nodiscard]] bool needs_verdict(const record& it);

[[nodiscard]] applied unchanged(answer&& said);
// To be written, after the caller has changed it in place: it is too large to be handed around.
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
