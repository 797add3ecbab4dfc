// What must have happened at least once in a set of runs: a simulator that never gets there proves
// nothing.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace semel::sim {

enum class rare : std::uint8_t {
    take_over,
    fenced_completion,
    in_doubt_answer,
    begin_resolved_by_lookup,
    expired_then_reclaimed,
    mismatch,
    polled_result,
    follower_promoted,
    unconfirmed,
    lease_lost,
    queue_refusal,
    tombstone,
    checkpoint_replayed,
    purge_race,
    late_apply,
    lost_reply,
    crash,
    pause,
    clock_back,
    clock_forward,
    corrupt_answer,
    operator_resolved,
    operator_removed,
    overwritten,
    attempts_used_up,
    waiting_cancelled,
    retried,
    released,
    shared_failure,
    transaction_in_doubt,
    woken_by_news,
    news_lost,
    unrun_undone,
    unrun_undone_by_guess,
    result_given_back,
    used_up_in_doubt,
    used_up_run_by_verdict,
    orphan_released,
    verdict_corrected,
    count_
};

inline constexpr std::size_t rare_count = static_cast<std::size_t>(rare::count_);

[[nodiscard]] std::string_view title(rare what);

struct tally {
    std::array<std::uint64_t, rare_count> counts = {};

    void saw(rare what) { ++counts[static_cast<std::size_t>(what)]; }
    void add(const tally& other) {
        for (std::size_t i = 0; i < rare_count; ++i) counts[i] += other.counts[i];
    }
};

} // namespace semel::sim
