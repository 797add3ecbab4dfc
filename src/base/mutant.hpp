// Deliberate bugs, to show that the tests catch them. Only the mutant test binary is compiled with
// SEMEL_MUTANTS; everywhere else `mutant()` is the constant false and the bug is not in the object.
#pragma once

#include <cstdint>

namespace semel {

enum class bug : std::uint8_t {
    none,
    claim_without_write,      // begin says "started" and stores nothing: check, then act
    owner_not_checked,        // complete compares neither fence nor owner
    takeover_ignores_state,   // a lapsed lease time is enough, even on a finished record
    takeover_ignores_policy,  // hold and probe are run again like retry
    client_clock,             // the engine sends its own time
    completion_cancelled,     // a caller that gives up takes its completion with it
    waiter_releases_record,   // a waiter that times out removes the record
    completion_refused,       // a full queue refuses completions too
    fence_restarts,           // the fence floor is forgotten after a purge
    waiters_woken_early,      // waiters get the result before the store has acknowledged it
    fenced_returns_own,       // a fenced-off caller answers with its own result
    mismatch_ignored,         // another fingerprint is replayed to
    unknown_begin_is_failure, // a begin in doubt is run without looking
    expired_is_replayed,      // a record past its retention still answers
    purge_takes_live,         // the sweeper does not look at the state
    winner_not_compared,      // a fenced-off caller gets the result of other content
    adopted_lease_is_whole,   // a claim found by reading counts as just granted
    unrun_is_counted,         // an attempt that was never run is abandoned, and counts
    unrun_is_forgotten,       // an attempt that was never run takes what it replaced with it
    adopted_forgets,          // what a claim found by reading has replaced is forgotten
    used_up_is_forsaken,      // the sweeper removes what is in doubt, and the work begins again
    verdict_grants_nothing,   // "not executed" does not let a used-up record run again
    orphan_is_left,           // a begin that was given up in doubt is not looked for
    asking_is_progress,       // waiters call it in progress while the store has not answered
    lease_is_trusted,         // waiters call it in progress although the store was not asked since
    any_end_is_a_verdict,     // what its own attempt has ended can be corrected, too
};

#ifdef SEMEL_MUTANTS
inline bug active_bug = bug::none;
inline bool mutant(bug which) {
    return active_bug == which;
}
#else
constexpr bool mutant(bug) {
    return false;
}
#endif

} // namespace semel
