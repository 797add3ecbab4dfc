// Whether an outcome is the end of this process's own attempt. Shared by the edges that answer with
// the work's own response.
#pragma once

#include "semel/engine/request.hpp"

namespace semel::http {

// "Executed" is only said to the caller that ran it. As for the other ends, an attempt of this
// process knows its owner; what was read from a record does not. Followers are told of a leader's
// attempt but have no response of their own.
[[nodiscard]] inline bool is_own(const raw_outcome& outcome) {
    if (outcome.kind == outcome_kind::executed) return true;
    const bool ended =
        outcome.kind == outcome_kind::failed || outcome.kind == outcome_kind::in_doubt;
    return ended && outcome.by.owner != owner_id{};
}

} // namespace semel::http
