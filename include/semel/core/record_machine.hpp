// The one specification of a record. Pure: no clock, no randomness, no I/O.
//
// The memory driver is this function behind striped locks; every other driver is compared with it,
// command by command, by the conformance suite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "semel/base/time.hpp"
#include "semel/core/command.hpp"
#include "semel/core/record.hpp"

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

// When a command is applied: the store's time, and the highest fence that the store has removed.
struct instant {
    time_point now = {};
    std::uint64_t fence_floor = 0;
};

enum class change : std::uint8_t {
    none,  // nothing is written: replays, refusals, reads
    put,   // write `after`
    erase, // remove the record; the store raises its fence floor to the record's fence first
};

struct applied {
    change what = change::none;
    std::optional<record> after = {}; // with change::put
    answer said = {};
    std::optional<audit_entry> audit = {};
};

// `before` is the stored record, expired or not, or null. `what` is consumed: large bodies are
// moved into the record, not copied.
[[nodiscard]] applied apply(const record* before, command&& what, const instant& at);
[[nodiscard]] inline applied apply(const record* before, const command& what, const instant& at) {
    return apply(before, command{what}, at);
}

// apply() for the usual completion, whose claim is the record's own, but without a second record.
// Returns nothing in every other case: then call apply(). Neither argument has changed then.
[[nodiscard]] std::optional<answers::stored> complete_in_place(record& it, commands::complete& what,
                                                               const instant& at);

// The record as callers may see it: null if there is none, or if it is finished and has expired.
[[nodiscard]] const record* visible(const record* stored, time_point now);

// The record is processing, and its lease and grace are over.
[[nodiscard]] bool lapsed(const record& it, time_point now);

// The record has lapsed and runs again only after a verdict: its policy is hold or probe, or its
// attempts are used up.
[[nodiscard]] bool in_doubt(const record& it, time_point now);

// Finished by the verdict of an operator or a reconciler, which alone another verdict may correct.
[[nodiscard]] bool ended_by_verdict(const record& it);

} // namespace semel
