// What operators and reconcilers did to a record, and why. The store writes an entry in the same
// atomic step as the act itself, and keeps it longer than the record. store::audit(id) returns the
// entries of one record.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "semel/record.hpp"
#include "semel/time.hpp"

namespace semel {

struct audit_entry {
    time_point at = {};
    // "resolve: committed", "resolve: not executed", "resolve: failed", "remove"; "correct: …"
    // where the verdict replaces an earlier one.
    std::string act = {};
    std::string actor = {}; // who: a name an operator gave, "reconciler", "gateway"
    std::string reason = {};
    std::uint64_t fence = 0;               // of the attempt that was judged
    std::optional<record_state> from = {}; // none: written before this was kept
    std::optional<record_state> to = {};   // none: the record is gone

    friend bool operator==(const audit_entry&, const audit_entry&) = default;
};

} // namespace semel
