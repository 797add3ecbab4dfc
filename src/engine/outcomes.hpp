// Outcomes for callers, made from answers of the store and from ends of the work. Pure.
#pragma once

#include <exception>
#include <string>

#include "engine/plan.hpp"
#include "semel/core/command.hpp"
#include "semel/engine/detail/work.hpp"
#include "semel/engine/request.hpp"

namespace semel {

// For a begin that was answered without running. A result that fails its checksum is never
// replayed.
[[nodiscard]] raw_outcome outcome_of(reply&& with);

// The text of an exception, cut to the size that a record may hold.
[[nodiscard]] std::string text_of(const std::exception_ptr& thrown);

// For a call that could not even begin.
[[nodiscard]] raw_outcome unavailable(failure why);

// The end of an attempt that has run nothing: the record becomes what the begin has replaced.
[[nodiscard]] command end_of_unrun(const answers::started& of);

// For an attempt that was fenced off: the winner's outcome, never its own. The winner may have come
// with other content (after an expiry, a removal or an overwrite): then it is a mismatch.
[[nodiscard]] raw_outcome winners(const answers::fenced_off& said, const plan& what,
                                  time_point now);

// What the end of the work means for the record, the caller and the waiting repeats.
struct ending {
    command what;    // for the store
    raw_outcome own; // for the caller, once the store has acknowledged; without the body
    enum class next : std::uint8_t { settled, open } then; // open: another attempt may run now
};
// Throws nothing: if there is no memory to say how the work ended, its end is unknown.
[[nodiscard]] ending ending_of(work_end&& end, const plan& what, const answers::started& started,
                               std::string result_ref);

} // namespace semel
