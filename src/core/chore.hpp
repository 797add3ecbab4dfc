// Records of semel's own, which it makes, settles and removes itself.
#pragma once

#include <string_view>

#include "semel/core/record.hpp"

namespace semel {

inline constexpr std::string_view chore_tenant = "semel";
inline constexpr std::string_view chore_operation = "reconcile";

// The text for a person who wants to settle or remove such a record.
inline constexpr std::string_view chore_advice =
    "the record is a claim of the reconciler's own; it settles and removes them itself";

// Whether a record is a claim of the reconciler: nothing else reconciles or changes those.
[[nodiscard]] inline bool is_chore(const record_id& id) {
    return id.tenant == chore_tenant && id.operation == chore_operation;
}

} // namespace semel
