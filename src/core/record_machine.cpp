#include "semel/core/record_machine.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

#include "base/mutant.hpp"
#include "core/record_parts.hpp"
#include "semel/base/result.hpp"

namespace semel {

using namespace record_parts;

namespace {

// Released records stay, already expired, to carry their fence until the sweeper raises the floor.
constexpr time_point always_expired{};

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

// A record to be written, which the caller fills or changes in place: it is too large to be handed
// around.
applied created(const instant& at) {
    applied made{.what = change::put, .after = std::optional<record>{std::in_place}};
    made.after->created_at = at.now;
    made.after->updated_at = at.now;
    return made;
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

// ---- begin --------------------------------------------------------------------------------------

applied start(const record* before, commands::begin&& what, const instant& at,
              answers::start_kind kind) {
    // A retry or take-over continues the record; a first or overwriting start makes a new one.
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
    answers::started said{.by = after.holder,
                          .kind = kind,
                          .attempt = after.attempts,
                          .lease_until = after.lease_until,
                          .content = after.content,
                          .checkpoints = after.checkpoints};
    if (kind != answers::start_kind::first) said.replaced = std::make_shared<record>(*before);
    made.said = std::move(said);
    if (mutant(bug::claim_without_write)) made.what = change::none;
    return made;
}

answers::in_doubt doubtful(const record& shown) {
    return {.fence = shown.holder.fence, .since = shown.lease_until};
}

applied begin_over_processing(const record& shown, commands::begin&& what, const instant& at) {
    if (!lapsed(shown, at.now)) {
        return unchanged(busy(shown, shown.lease_until + shown.policy.grace));
    }
    if (needs_verdict(shown)) return unchanged(doubtful(shown));
    return start(&shown, std::move(what), at, answers::start_kind::taken_over);
}

applied begin_over_failed(const record& shown, commands::begin&& what, const instant& at) {
    if (shown.state == record_state::failed_final || used_up(shown)) {
        return unchanged(answers::failed{.state = shown.state,
                                         .error = shown.error,
                                         .attempts = shown.attempts,
                                         .expires_at = shown.expires_at});
    }
    if (at.now < shown.retry_after) return unchanged(busy(shown, shown.retry_after));
    return start(&shown, std::move(what), at, answers::start_kind::retried);
}

// Last writer wins, but never over a running attempt or a record that an operator must settle.
applied overwrite(const record& shown, commands::begin&& what, const instant& at) {
    if (!finished(shown)) {
        if (!lapsed(shown, at.now)) {
            return unchanged(busy(shown, shown.lease_until + shown.policy.grace));
        }
        if (needs_verdict(shown)) return unchanged(doubtful(shown));
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

// ---- the owner's commands -----------------------------------------------------------------------

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
    // No lease check: if no other attempt took over, a late completion is right.
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

bool same_names(const std::vector<checkpoint>& a, const std::vector<checkpoint>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const auto& x, const auto& y) { return x.name == y.name; });
}

// An attempt that has recorded a step was run.
bool gives_back(const commands::release& what, const record& running) {
    if (what.replaced == nullptr) return false;
    const auto& steps = running.checkpoints;
    return steps.empty() || same_names(steps, what.replaced->checkpoints);
}

// The fence stays, since none may be given out twice. A verdict stays one, without an owner, so
// that it can still be corrected.
claim holder_of(const commands::release& what) {
    const record& was = *what.replaced;
    const bool verdict = finished(was) && was.holder.owner == owner_id{};
    return {.fence = what.by.fence, .owner = verdict ? owner_id{} : what.by.owner};
}

applied given_back(const record& running, const commands::release& what, const instant& at) {
    applied made = rewritten(*what.replaced, at);
    made.after->holder = holder_of(what);
    if (!running.checkpoints.empty()) made.after->checkpoints = running.checkpoints;
    made.said = answers::stored{.expires_at = made.after->expires_at};
    return made;
}

bool was_given_back(const commands::release& what, const record& it) {
    return what.replaced != nullptr && it.holder == holder_of(what) && finished(it) &&
           it.state == what.replaced->state && it.expires_at == what.replaced->expires_at &&
           it.attempts == what.replaced->attempts;
}

applied on(commands::release&& what, const record* before, const record* shown, const instant& at) {
    if (working(before, what.by)) {
        if (gives_back(what, *before)) return given_back(*before, what, at);
        auto made = settled(*before, at, record_state::failed_retryable, always_expired);
        made.after->checkpoints.clear();
        return made;
    }
    const bool repeated = before != nullptr && ((held_by(before, what.by) && released(*before)) ||
                                                was_given_back(what, *before));
    if (repeated) {
        return unchanged(answers::stored{.expires_at = before->expires_at});
    }
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

bool in_doubt(const record& it, time_point now) {
    return lapsed(it, now) && needs_verdict(it);
}

bool ended_by_verdict(const record& it) {
    return finished(it) && (it.holder.owner == owner_id{} || mutant(bug::any_end_is_a_verdict));
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
