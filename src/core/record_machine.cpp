#include "semel/record_machine.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/mutant.hpp"
#include "semel/assert.hpp"

namespace semel {

namespace {

// Released records stay, already expired, to carry their fence until the sweeper raises the floor.
constexpr time_point always_expired{};

std::uint64_t next_fence(const record* before, const instant& at) {
    const auto clock =
        static_cast<std::uint64_t>(std::max<duration::rep>(0, at.now.time_since_epoch().count()));
    const auto floor = mutant(bug::fence_restarts) ? 0 : at.fence_floor;
    const auto previous = before == nullptr ? 0 : before->holder.fence;
    return std::max({clock, previous + 1, floor + 1});
}

bool finished(const record& it) {
    return it.state != record_state::processing;
}

bool held_by(const record* it, const claim& by) {
    if (it == nullptr) return false;
    if (mutant(bug::owner_not_checked)) return true;
    return it->holder == by;
}

bool working(const record* it, const claim& by) {
    return it != nullptr && !finished(*it) && held_by(it, by);
}

// Given up by its owner: absent, whatever the time.
bool released(const record& it) {
    return it.state == record_state::failed_retryable && it.expires_at == always_expired;
}

applied unchanged(answer&& said) {
    return {.what = change::none, .after = {}, .said = std::move(said), .audit = {}};
}

// A record to be written, which the caller fills or changes in place: it is too large to be handed
// around.
applied created(const instant& at) {
    applied made{.what = change::put, .after = std::optional<record>{std::in_place}};
    made.after->created_at = at.now;
    made.after->updated_at = at.now;
    return made;
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

// The row is finished with this attempt: nothing of a running record remains in it.
void settle_as(record& it, record_state state, time_point expires_at) {
    it.state = state;
    it.expires_at = expires_at;
    if (state != record_state::failed_retryable) it.checkpoints.clear();
}

applied settled(const record& before, const instant& at, record_state state,
                time_point expires_at) {
    applied made = rewritten(before, at);
    settle_as(*made.after, state, expires_at);
    made.said = answers::stored{.expires_at = expires_at};
    return made;
}

// ---- begin
// ---------------------------------------------------------------------------------------

applied start(const record* before, commands::begin&& what, const instant& at,
              answers::start_kind kind) {
    // A retry or take-over continues the record; a first or overwriting start makes it anew.
    const bool continues =
        kind == answers::start_kind::retried || kind == answers::start_kind::taken_over;
    applied made = continues ? rewritten(*before, at) : created(at);
    record& after = *made.after;
    if (what.content) after.content = what.content;
    if (!what.attributes.empty()) after.attributes = std::move(what.attributes);
    after.state = record_state::processing;
    after.policy = what.policy;
    after.holder = {.fence = next_fence(before, at), .owner = what.owner};
    after.attempts += 1;
    after.begun_at = at.now;
    after.lease_until = at.now + what.lease;
    after.retry_after = {};
    after.expires_at = {};
    after.error.clear();
    made.said = answers::started{.by = after.holder,
                                 .kind = kind,
                                 .attempt = after.attempts,
                                 .lease_until = after.lease_until,
                                 .content = after.content,
                                 .checkpoints = after.checkpoints};
    if (mutant(bug::claim_without_write)) made.what = change::none;
    return made;
}

answers::in_progress busy(const record& shown, time_point retry_at) {
    return {.retry_at = retry_at, .holder = shown.holder, .attempt = shown.attempts};
}

answers::in_doubt doubtful(const record& shown) {
    return {.fence = shown.holder.fence, .since = shown.lease_until};
}

// The stored policy decides, not the caller's: a differently configured peer must not take over.
bool may_rerun(const record& shown) {
    if (mutant(bug::takeover_ignores_policy)) return true;
    return shown.policy.on_lease_expiry == lease_expiry::retry;
}

applied begin_over_processing(const record& shown, commands::begin&& what, const instant& at) {
    if (!lapsed(shown, at.now)) {
        return unchanged(busy(shown, shown.lease_until + shown.policy.grace));
    }
    if (!may_rerun(shown) || shown.attempts >= shown.policy.attempts_max) {
        return unchanged(doubtful(shown));
    }
    return start(&shown, std::move(what), at, answers::start_kind::taken_over);
}

applied begin_over_failed(const record& shown, commands::begin&& what, const instant& at) {
    const bool used_up = shown.attempts >= shown.policy.attempts_max;
    if (shown.state == record_state::failed_final || used_up) {
        return unchanged(answers::failed{.state = shown.state,
                                         .error = shown.error,
                                         .attempts = shown.attempts,
                                         .expires_at = shown.expires_at});
    }
    if (at.now < shown.retry_after) return unchanged(busy(shown, shown.retry_after));
    return start(&shown, std::move(what), at, answers::start_kind::retried);
}

// Last writer wins, but never over somebody at work, and never over what an operator must settle.
applied overwrite(const record& shown, commands::begin&& what, const instant& at) {
    if (!finished(shown)) {
        if (!lapsed(shown, at.now)) {
            return unchanged(busy(shown, shown.lease_until + shown.policy.grace));
        }
        if (!may_rerun(shown)) return unchanged(doubtful(shown));
    }
    return start(&shown, std::move(what), at, answers::start_kind::overwritten);
}

bool differs(const record& shown, const commands::begin& what) {
    if (mutant(bug::mismatch_ignored)) return false;
    return shown.content && what.content && *shown.content != *what.content;
}

applied on(commands::begin&& what, const record* before, const record* shown, const instant& at) {
    if (shown == nullptr) return start(before, std::move(what), at, answers::start_kind::first);
    if (differs(*shown, what)) {
        if (what.mismatch == on_mismatch::overwrite) return overwrite(*shown, std::move(what), at);
        return unchanged(answers::mismatch{.stored = *shown->content});
    }
    if (mutant(bug::takeover_ignores_state) && shown->lease_until < at.now) {
        return start(shown, std::move(what), at, answers::start_kind::taken_over);
    }
    switch (shown->state) {
    case record_state::processing: return begin_over_processing(*shown, std::move(what), at);
    case record_state::succeeded:
        return unchanged(answers::replay{.result = shown->result,
                                         .fence = shown->holder.fence,
                                         .expires_at = shown->expires_at});
    case record_state::failed_retryable:
    case record_state::failed_final: return begin_over_failed(*shown, std::move(what), at);
    }
    SEMEL_ASSERT(false);
}

// ---- the owner's commands
// ------------------------------------------------------------------------

answers::stored complete(record& it, commands::complete&& what, const instant& at) {
    settle_as(it, record_state::succeeded, at.now + what.retention);
    it.result = std::move(what.result);
    it.updated_at = at.now;
    return {.expires_at = it.expires_at};
}

applied completed(const record& before, commands::complete&& what, const instant& at) {
    applied made = rewritten(before, at);
    made.said = complete(*made.after, std::move(what), at);
    return made;
}

applied on(commands::complete&& what, const record* before, const record* shown,
           const instant& at) {
    // No lease check: if nobody took over, a late completion is right.
    if (working(before, what.by)) return completed(*before, std::move(what), at);
    // Already stored by this very attempt: its acknowledgement was lost on the way.
    if (held_by(before, what.by) && before->state == record_state::succeeded) {
        return unchanged(answers::stored{.expires_at = before->expires_at});
    }
    return fenced(shown);
}

record_state state_of(commands::failure_kind kind) {
    return kind == commands::failure_kind::final ? record_state::failed_final
                                                 : record_state::failed_retryable;
}

applied on(commands::fail&& what, const record* before, const record* shown, const instant& at) {
    const record_state state = state_of(what.kind);
    if (working(before, what.by)) {
        auto made = settled(*before, at, state, at.now + what.retention);
        made.after->error = std::move(what.error);
        if (what.kind == commands::failure_kind::retryable) {
            made.after->retry_after = at.now + what.retry_after;
        }
        return made;
    }
    if (held_by(before, what.by) && before->state == state && !released(*before)) {
        return unchanged(answers::stored{.expires_at = before->expires_at});
    }
    return fenced(shown);
}

applied on(commands::release&& what, const record* before, const record* shown, const instant& at) {
    if (working(before, what.by)) {
        auto made = settled(*before, at, record_state::failed_retryable, always_expired);
        made.after->checkpoints.clear();
        return made;
    }
    if (held_by(before, what.by) && released(*before)) return unchanged(answers::stored{});
    return fenced(shown);
}

applied on(commands::abandon&& what, const record* before, const record* shown, const instant& at) {
    if (!working(before, what.by)) return fenced(shown);
    auto made = rewritten(*before, at);
    // One tick past the grace, so that the policy decides at once.
    const time_point over = at.now - before->policy.grace - duration{1};
    made.after->lease_until = std::min(before->lease_until, over);
    made.said = answers::stored{};
    return made;
}

applied on(commands::renew&& what, const record* before, const record* shown, const instant& at) {
    if (!working(before, what.by)) return fenced(shown);
    const time_point last = before->begun_at + before->policy.processing_max;
    if (at.now >= last) return unchanged(answers::not_renewed{});
    auto made = rewritten(*before, at);
    made.after->lease_until = std::max(before->lease_until, std::min(at.now + what.lease, last));
    made.said = answers::renewed{.lease_until = made.after->lease_until};
    return made;
}

applied on(commands::checkpoint&& what, const record* before, const record* shown,
           const instant& at) {
    if (!working(before, what.by)) return fenced(shown);
    const auto& steps = before->checkpoints;
    const auto same_name = [&](const checkpoint& it) { return it.name == what.step.name; };
    // Recorded once: the first data under a name stays.
    if (std::any_of(steps.begin(), steps.end(), same_name)) return unchanged(answers::stored{});
    if (steps.size() >= limits{}.checkpoints_max) return unchanged(answers::over_limit{});
    auto made = rewritten(*before, at);
    made.after->checkpoints.push_back(std::move(what.step));
    made.said = answers::stored{};
    return made;
}

// ---- operators and sweeper
// -----------------------------------------------------------------------

audit_entry audited(std::string_view act, std::string actor, std::string reason,
                    const record& before, const instant& at) {
    return {.at = at.now,
            .act = std::string{act},
            .actor = std::move(actor),
            .reason = std::move(reason),
            .fence = before.holder.fence,
            .from = before.state};
}

void settle(record& after, commands::resolve::committed&& verdict) {
    after.state = record_state::succeeded;
    after.result = std::move(verdict.result);
    after.checkpoints.clear();
}

void settle(record& after, commands::resolve::not_executed&&) {
    after.state = record_state::failed_retryable;
    after.error = "resolved: not executed";
    after.retry_after = {};
}

void settle(record& after, commands::resolve::failed&& verdict) {
    after.state = record_state::failed_final;
    after.error = std::move(verdict.error);
    after.checkpoints.clear();
}

std::string_view act_of(const commands::resolve& what) {
    static constexpr std::string_view acts[]{"resolve: committed", "resolve: not executed",
                                             "resolve: failed"};
    return acts[what.verdict.index()];
}

applied on(commands::resolve&& what, const record* before, const record* shown, const instant& at) {
    const bool open =
        before != nullptr && !finished(*before) && before->holder.fence == what.expected_fence;
    if (!open) return fenced(shown);
    if (!lapsed(*before, at.now)) {
        return unchanged(busy(*before, before->lease_until + before->policy.grace));
    }
    auto made = rewritten(*before, at);
    record& after = *made.after;
    // A fence of its own and nobody as owner: a paused owner that wakes up later is fenced off.
    after.holder = {.fence = next_fence(before, at), .owner = {}};
    after.expires_at = at.now + what.retention;
    made.said = answers::resolved{.fence = after.holder.fence};
    made.audit = audited(act_of(what), std::move(what.actor), std::move(what.reason), *before, at);
    std::visit([&](auto&& verdict) { settle(after, std::forward<decltype(verdict)>(verdict)); },
               std::move(what.verdict));
    made.audit->to = after.state;
    return made;
}

applied erased(answer&& said) {
    return {.what = change::erase, .after = {}, .said = std::move(said), .audit = {}};
}

applied on(commands::remove&& what, const record* before, const record* shown, const instant& at) {
    if (shown == nullptr) return unchanged(answers::kept{});
    auto made = erased(answers::removed{});
    made.audit = audited("remove", std::move(what.actor), std::move(what.reason), *before, at);
    return made;
}

// A lapsed record that may be run again, whose client never came back.
bool forsaken(const record& it, time_point now) {
    return lapsed(it, now) && it.policy.on_lease_expiry == lease_expiry::retry &&
           now >= it.begun_at + it.policy.processing_max;
}

bool purgeable(const record& it, time_point now) {
    if (mutant(bug::purge_takes_live)) return true;
    return finished(it) ? now >= it.expires_at : forsaken(it, now);
}

applied on(commands::purge&&, const record* before, const record*, const instant& at) {
    if (before != nullptr && purgeable(*before, at.now)) return erased(answers::removed{});
    return unchanged(answers::kept{});
}

applied on(commands::lookup&&, const record*, const record* shown, const instant&) {
    return unchanged(
        answers::found{.current = shown == nullptr ? std::nullopt : std::optional<record>{*shown}});
}

} // namespace

const record* visible(const record* stored, time_point now) {
    if (stored == nullptr || mutant(bug::expired_is_replayed)) return stored;
    return finished(*stored) && now >= stored->expires_at ? nullptr : stored;
}

bool lapsed(const record& it, time_point now) {
    return !finished(it) && now > it.lease_until + it.policy.grace;
}

std::optional<answers::stored> complete_in_place(record& it, commands::complete& what,
                                                 const instant& at) {
    if (!working(&it, what.by)) return std::nullopt;
    return complete(it, std::move(what), at);
}

applied apply(const record* before, command&& what, const instant& at) {
    const record* shown = visible(before, at.now);
    return std::visit([&](auto&& one) { return on(std::move(one), before, shown, at); },
                      std::move(what));
}

} // namespace semel
