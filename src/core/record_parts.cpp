// What the parts of the record machine share, and the commands of operators and of the sweeper.
#include "core/record_parts.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"

namespace semel::record_parts {

std::uint64_t next_fence(const record* before, const instant& at) {
    const auto clock =
        static_cast<std::uint64_t>(std::max<duration::rep>(0, at.now.time_since_epoch().count()));
    const auto floor = mutant(bug::fence_restarts) ? 0 : at.fence_floor;
    const auto previous = before == nullptr ? 0 : before->holder.fence;
    return std::max({clock, previous + 1, floor + 1});
}

applied unchanged(answer&& said) {
    return {.what = change::none, .after = {}, .said = std::move(said), .audit = {}};
}

applied rewritten(const record& before, const instant& at) {
    applied made{.what = change::put, .after = before};
    made.after->updated_at = at.now;
    return made;
}

applied fenced(const record* shown) {
    return unchanged(answers::fenced_off{
        .current = shown == nullptr ? std::nullopt : std::optional<record>{*shown}});
}

answers::in_progress busy(const record& shown, time_point retry_at) {
    return {.retry_at = retry_at, .holder = shown.holder, .attempt = shown.attempts};
}

bool needs_verdict(const record& it) {
    const bool held = it.policy.on_lease_expiry != lease_expiry::retry;
    return (held && !mutant(bug::takeover_ignores_policy)) || used_up(it);
}

namespace {

audit_entry audited(std::string act, std::string actor, std::string reason, const record& before,
                    const instant& at) {
    return {.at = at.now,
            .act = std::move(act),
            .actor = std::move(actor),
            .reason = std::move(reason),
            .fence = before.holder.fence,
            .from = before.state};
}

// Nothing of an earlier verdict remains.
void clear_end(record& it) {
    it.result = {};
    it.error.clear();
    it.retry_after = {};
}

void settle(record& after, commands::resolve::committed&& verdict) {
    after.state = record_state::succeeded;
    after.result = *std::move(verdict.result);
    after.checkpoints.clear();
}

void settle(record& after, commands::resolve::not_executed&&) {
    after.state = record_state::failed_retryable;
    after.error = "resolved: not executed";
    // The work may be run once more, also where all attempts are used up.
    if (mutant(bug::verdict_grants_nothing)) return;
    after.policy.attempts_max = std::max(after.policy.attempts_max, after.attempts + 1);
}

void settle(record& after, commands::resolve::failed&& verdict) {
    after.state = record_state::failed_final;
    after.error = std::move(verdict.error);
    after.checkpoints.clear();
}

std::string act_of(const commands::resolve& what, const record& before) {
    static constexpr std::string_view verdicts[]{"committed", "not executed", "failed"};
    return (finished(before) ? "correct: " : "resolve: ") +
           std::string{verdicts[what.verdict.index()]};
}

applied erased(answer&& said) {
    return {.what = change::erase, .after = {}, .said = std::move(said), .audit = {}};
}

// A lapsed record that may be run again, whose client never came back. What is in doubt stays: if
// the sweeper removed it, its work would begin again.
bool forsaken(const record& it, time_point now) {
    const bool kept = in_doubt(it, now) && !(mutant(bug::used_up_is_forsaken) && used_up(it));
    return lapsed(it, now) && !kept && now >= it.begun_at + it.policy.processing_max;
}

bool purgeable(const record& it, time_point now) {
    if (mutant(bug::purge_takes_live)) return true;
    return finished(it) ? now >= it.expires_at : forsaken(it, now);
}

} // namespace

applied on(commands::resolve&& what, const record* before, const record* shown, const instant& at) {
    const bool open = shown != nullptr && shown->holder.fence == what.expected_fence &&
                      (!finished(*shown) || ended_by_verdict(*shown));
    if (!open) return fenced(shown);
    if (!finished(*before) && !lapsed(*before, at.now)) {
        return unchanged(busy(*before, before->lease_until + before->policy.grace));
    }
    auto made = rewritten(*before, at);
    record& after = *made.after;
    // A fence of its own and no owner: a paused owner that wakes up later is fenced off.
    after.holder = {.fence = next_fence(before, at), .owner = {}};
    after.expires_at = at.now + what.retention;
    made.said = answers::resolved{.fence = after.holder.fence};
    made.audit =
        audited(act_of(what, *before), std::move(what.actor), std::move(what.reason), *before, at);
    clear_end(after);
    std::visit([&](auto&& verdict) { settle(after, std::forward<decltype(verdict)>(verdict)); },
               std::move(what.verdict));
    made.audit->to = after.state;
    return made;
}

applied on(commands::remove&& what, const record* before, const record* shown, const instant& at) {
    if (shown == nullptr) return unchanged(answers::kept{});
    auto made = erased(answers::removed{});
    made.audit = audited("remove", std::move(what.actor), std::move(what.reason), *before, at);
    return made;
}

applied on(commands::purge&&, const record* before, const record*, const instant& at) {
    if (before != nullptr && purgeable(*before, at.now)) return erased(answers::removed{});
    return unchanged(answers::kept{});
}

} // namespace semel::record_parts
