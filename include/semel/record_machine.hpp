// The one specification of a record. Pure: no clock, no randomness, no I/O.
//
// The memory driver is this function behind striped locks; every other driver is compared with it,
// command by command, by the conformance suite.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "semel/audit.hpp"
#include "semel/command.hpp"
#include "semel/record.hpp"

namespace semel {

// Where a command meets the record: the store's time, and the highest fence the store has removed.
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

// What apply() does with a completion that finds its own claim, the usual one, but without a second
// record. Nothing: it is another case, for apply(), and neither argument has changed.
[[nodiscard]] std::optional<answers::stored> complete_in_place(record& it, commands::complete& what,
                                                               const instant& at);

// The record as anybody may see it: null if there is none, or if it is finished and past its time.
[[nodiscard]] const record* visible(const record* stored, time_point now);

// Processing, and its owner's time and grace are over.
[[nodiscard]] bool lapsed(const record& it, time_point now);

// Lapsed, and run again only after a verdict: it is held or probed, or its attempts are used up.
[[nodiscard]] bool in_doubt(const record& it, time_point now);

} // namespace semel
