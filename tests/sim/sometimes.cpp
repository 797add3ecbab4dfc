#include "sim/sometimes.hpp"

namespace semel::sim {

std::string_view title(rare what) {
    static constexpr std::array<std::string_view, rare_count> names{
        "take-over",
        "fenced completion",
        "in-doubt answer",
        "begin in doubt resolved by a lookup",
        "expired, then reclaimed",
        "mismatch",
        "result of another process found by polling",
        "follower promoted",
        "unconfirmed",
        "lease lost, stop token fired",
        "queue refusal",
        "tombstone",
        "checkpoint replayed after a take-over",
        "purge raced with a claim",
        "command applied late",
        "reply lost after apply",
        "crash",
        "pause past the lease",
        "store clock stepped back",
        "store clock stepped forward",
        "corrupt result refused",
        "operator resolved",
        "operator removed",
        "overwritten",
        "attempts used up",
        "waiting cancelled",
        "retried after a failure",
        "released",
        "failure shared with waiters",
        "transaction's commit in doubt",
        "woken by news",
        "news lost",
        "attempt undone that was never run",
        "attempt undone whose begin was found by reading",
        "result given back",
        "in doubt with its attempts used up",
        "used up, run again after a verdict",
        "orphaned claim given back",
        "verdict corrected"};
    return names[static_cast<std::size_t>(what)];
}

} // namespace semel::sim
