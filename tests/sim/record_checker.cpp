#include "sim/record_checker.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

namespace semel::sim {

namespace {

bool processing(const record& it) {
    return it.state == record_state::processing;
}

bool over(const record& it, time_point now) {
    return processing(it) && now > it.lease_until + it.policy.grace;
}

bool gone(const record* it, time_point now) {
    return it == nullptr || (!processing(*it) && now >= it->expires_at);
}

bool rerunnable(const record& it) {
    return it.policy.on_lease_expiry == lease_expiry::retry;
}

bool contents_differ(const record& it, const commands::begin& what) {
    return it.content && what.content && *it.content != *what.content;
}

// Until when a repeat is told to wait.
std::optional<time_point> busy_until(const record* it) {
    if (it == nullptr) return std::nullopt;
    if (processing(*it)) return it->lease_until + it->policy.grace;
    if (it->state == record_state::failed_retryable) return it->retry_after;
    return std::nullopt;
}

bool used_up(const record& it) {
    return it.attempts >= it.policy.attempts_max;
}

// No attempt draws an owner of zero.
bool has_verdict(const record& it) {
    return !processing(it) && it.holder.owner == owner_id{};
}

bool wants_overwrite(const commands::begin& what) {
    return what.mismatch == on_mismatch::overwrite;
}

} // namespace

void record_checker::fail(const char* property, const database_step& step, const char* text) {
    scene_.fail(property, text_of(step.id) + ": " + text + " (" + std::string{name(step.what)} +
                              " -> " + std::string{name(step.said)} + ")");
}

void record_checker::on_step(const database_step& step) {
    note(step.id, step.now);
    check_finished_stays(step);
    std::visit([&](const auto& what) { on(what, step); }, step.what);
    if (step.changed) ghost_.keys[step.id].busy_until = busy_until(step.after);
    if (step.changed && step.after != nullptr) on_finished(step);
}

// Nothing has happened to the record since the last note.
void record_checker::note(const record_id& id, time_point now) {
    auto& key = ghost_.keys[id];
    const duration at = scene_.loop.now();
    if (key.busy_until && *key.busy_until >= key.noted_now) {
        key.busy_at = std::min(at, key.noted_at + (*key.busy_until - key.noted_now));
    }
    key.noted_now = now;
    key.noted_at = at;
}

void record_checker::on_clock_step(time_point before, time_point after) {
    for (auto& [id, key] : ghost_.keys) {
        note(id, before);
        key.noted_now = after;
    }
}

// S2: a finished result changes only by overwrite, an operator's act, or after its time.
void record_checker::check_finished_stays(const database_step& step) {
    if (!step.changed || gone(step.before, step.now)) return;
    const bool final = step.before->state == record_state::succeeded ||
                       step.before->state == record_state::failed_final;
    if (!final) return;
    const auto* begin = std::get_if<commands::begin>(&step.what);
    const bool overwrite =
        begin && wants_overwrite(*begin) && contents_differ(*step.before, *begin);
    const auto* verdict = std::get_if<commands::resolve>(&step.what);
    const bool corrects = verdict && has_verdict(*step.before) &&
                          verdict->expected_fence == step.before->holder.fence;
    const bool by_operator = corrects || std::holds_alternative<commands::remove>(step.what);
    const bool swept = std::holds_alternative<commands::purge>(step.what);
    if (!overwrite && !by_operator && !swept) fail("S2", step, "a finished record was changed");
}

// ---- begin

void record_checker::on(const commands::begin& what, const database_step& step) {
    auto& key = ghost_.keys[step.id];
    if (what.content) key.contents.insert(*what.content);
    if (const auto* started = std::get_if<answers::started>(&step.said)) {
        return on_started(what, *started, step);
    }
    if (step.changed) fail("S2", step, "a refusal or replay wrote something");
    if (const auto* replay = std::get_if<answers::replay>(&step.said)) {
        if (gone(step.before, step.now)) return fail("S5", step, "replayed past its retention");
        if (contents_differ(*step.before, what)) fail("S7", step, "replayed to other content");
        if (replay->result != step.before->result) fail("S5", step, "replayed other bytes");
    }
    check_refusal(what, step);
}

// Each refusal has its one reason; whoever is refused without it waits for nothing.
void record_checker::check_refusal(const commands::begin& what, const database_step& step) {
    const bool absent = gone(step.before, step.now);
    const bool exhausted = !absent && used_up(*step.before);
    const auto in = [&](record_state state) { return !absent && step.before->state == state; };
    if (std::holds_alternative<answers::mismatch>(step.said)) {
        if (absent || !contents_differ(*step.before, what)) fail("S7", step, "nothing differs");
        scene_.seen.saw(rare::mismatch);
    }
    if (std::holds_alternative<answers::in_doubt>(step.said)) {
        const bool doubtful = in(record_state::processing) && over(*step.before, step.now) &&
                              (exhausted || !rerunnable(*step.before));
        if (!doubtful) fail("L2", step, "in doubt without a reason");
        scene_.seen.saw(rare::in_doubt_answer);
        if (exhausted && rerunnable(*step.before)) scene_.seen.saw(rare::used_up_in_doubt);
    }
    if (std::holds_alternative<answers::failed>(step.said)) {
        const bool no_more = in(record_state::failed_retryable) && exhausted;
        if (!no_more && !in(record_state::failed_final)) fail("S5", step, "nothing has failed");
        if (no_more && ghost_.keys[step.id].granted == step.before->holder.fence) {
            fail("L2", step, "the verdict was that it may run once more");
        }
        if (no_more) scene_.seen.saw(rare::attempts_used_up);
    }
    if (std::holds_alternative<answers::in_progress>(step.said)) {
        const bool leased = in(record_state::processing) && !over(*step.before, step.now);
        const bool early =
            in(record_state::failed_retryable) && step.now < step.before->retry_after;
        if (!leased && !early) fail("L3", step, "told to wait for nobody");
    }
}

void record_checker::on_started(const commands::begin& what, const answers::started& said,
                                const database_step& step) {
    const bool written = step.after != nullptr && processing(*step.after) &&
                         step.after->holder == said.by && said.by.owner == what.owner;
    if (!written || !step.changed) return fail("S1", step, "started, but the claim is not stored");
    check_right_to_claim(what, step);
    auto& key = ghost_.keys[step.id];
    new_fence(step.id, said.by.fence);
    const bool absent = gone(step.before, step.now);
    const bool anew = absent || contents_differ(*step.before, what);
    const std::uint32_t epoch_before = key.epoch;
    if (anew) ++key.epoch;
    if (!anew && said.attempt > what.policy.attempts_max) {
        scene_.seen.saw(rare::used_up_run_by_verdict);
    }
    key.claims[said.by.fence] = {.owner = what.owner,
                                 .policy = step.after->policy,
                                 .content = what.content,
                                 .epoch = key.epoch,
                                 .at = scene_.loop.now(),
                                 .replaced = absent ? std::nullopt : std::optional{*step.before},
                                 .epoch_before = epoch_before};
    if (!anew && said.checkpoints != step.before->checkpoints) {
        fail("S10", step, "the steps already taken were not handed on");
    }
}

// S10, first half: nobody runs again without a lost lease or a retryable failure.
void record_checker::check_right_to_claim(const commands::begin& what, const database_step& step) {
    if (gone(step.before, step.now)) {
        const bool lived = step.before != nullptr && step.before->expires_at > time_point{};
        if (lived) scene_.seen.saw(rare::expired_then_reclaimed);
        return;
    }
    const bool other_content = contents_differ(*step.before, what);
    if (other_content && !wants_overwrite(what)) fail("S7", step, "claimed with other content");
    check_right_to_rerun(what, step, other_content);
}

void record_checker::check_right_to_rerun(const commands::begin&, const database_step& step,
                                          bool other_content) {
    const record& before = *step.before;
    if (processing(before)) {
        if (!over(before, step.now)) return fail("S10", step, "claimed over a live lease");
        if (!rerunnable(before)) return fail("S11", step, "claimed over what must be held");
        if (used_up(before)) return fail("S10", step, "claimed over attempts_max");
        scene_.seen.saw(other_content ? rare::overwritten : rare::take_over);
        if (taken_over_) taken_over_(step.id, before.holder.fence);
        return;
    }
    if (other_content) return scene_.seen.saw(rare::overwritten);
    if (before.state != record_state::failed_retryable) {
        return fail("S2", step, "claimed over a finished record");
    }
    if (used_up(before)) fail("S10", step, "retried over attempts_max");
    if (step.now < before.retry_after) fail("S10", step, "retried before its time");
    scene_.seen.saw(rare::retried);
}

// S3: fences grow, over removals and clock steps too.
void record_checker::new_fence(const record_id& id, std::uint64_t fence) {
    auto& key = ghost_.keys[id];
    if (fence <= key.fence_max) {
        scene_.fail("S3", text_of(id) + ": fence " + std::to_string(fence) + " after " +
                              std::to_string(key.fence_max));
    }
    key.fence_max = std::max(key.fence_max, fence);
}

// ---- the owner's commands

// The attempt has given back a verdict, which has no owner and, from then on, its fence.
template <class Owners> bool gave_verdict_back(const Owners& what, const record* now) {
    return std::is_same_v<Owners, commands::release> && now != nullptr && !processing(*now) &&
           now->holder == claim{.fence = what.by.fence, .owner = {}};
}

// S1: only the attempt whose fence and owner are current changes the record, or is told it did.
template <class Owners> void record_checker::on(const Owners& what, const database_step& step) {
    const bool current = step.before != nullptr && step.before->holder == what.by;
    const bool at_work = current && processing(*step.before);
    if (step.changed && !at_work) return fail("S1", step, "changed by an attempt that lost it");
    const bool thanked = std::holds_alternative<answers::stored>(step.said) ||
                         std::holds_alternative<answers::renewed>(step.said);
    if (thanked && !current && !gave_verdict_back(what, step.before))
        return fail("S1", step, "an attempt that lost it was told otherwise");
    if (std::holds_alternative<answers::fenced_off>(step.said) && at_work) {
        fail("S1", step, "the holder was fenced off");
    }
    if constexpr (std::is_same_v<Owners, commands::complete>) {
        if (std::holds_alternative<answers::fenced_off>(step.said)) {
            scene_.seen.saw(rare::fenced_completion);
        }
    }
    if constexpr (std::is_same_v<Owners, commands::checkpoint>) {
        if (step.changed &&
            !std::equal(step.before->checkpoints.begin(), step.before->checkpoints.end(),
                        step.after->checkpoints.begin())) {
            fail("S2", step, "a recorded step was changed");
        }
    }
    if constexpr (std::is_same_v<Owners, commands::release>) {
        if (step.changed) scene_.seen.saw(rare::released);
    }
    if (step.changed) check_end(what, step);
}

// S16: an attempt that was never run leaves the record as it found it.
template <class Owners>
void record_checker::check_end(const Owners& what, const database_step& step) {
    constexpr bool goes_on =
        std::is_same_v<Owners, commands::renew> || std::is_same_v<Owners, commands::checkpoint>;
    auto& claims = ghost_.keys[step.id].claims;
    const auto claim = claims.find(what.by.fence);
    if (goes_on || claim == claims.end() || claim->second.ran) return;
    if (!std::is_same_v<Owners, commands::release>) {
        return fail("S16", step, "an attempt that was never run has ended as if it had been");
    }
    check_undone(claim->second, step);
    on_given_back(claim->second, step);
}

void record_checker::check_undone(const claim_seen& of, const database_step& step) {
    if (!of.replaced) {
        if (!gone(step.after, step.now)) fail("S16", step, "something is there that was not");
        return;
    }
    scene_.seen.saw(rare::unrun_undone);
    const record& after = *step.after;
    record expected = *of.replaced;
    const bool verdict = !processing(expected) && expected.holder.owner == owner_id{};
    expected.holder = {.fence = after.holder.fence, .owner = verdict ? owner_id{} : of.owner};
    expected.updated_at = after.updated_at;
    if (after == expected) return;
    const auto& lost = ghost_.keys[step.id].lost_begins;
    if (!lost.contains({of.owner.high, of.owner.low})) {
        return fail("S16", step, "the record is not what it was");
    }
    // Its owner knows only what it has read; nothing of what was overwritten.
    if (step.before->attempts <= 1) return;
    scene_.seen.saw(rare::unrun_undone_by_guess);
    const bool lapsed = after.lease_until + after.policy.grace < after.begun_at;
    const bool open = processing(after) && lapsed && rerunnable(after) && !used_up(after);
    const bool same =
        after.attempts == of.replaced->attempts && after.checkpoints == of.replaced->checkpoints;
    if (!open || !same) fail("S16", step, "it may not be run as before");
}

void record_checker::on_given_back(claim_seen& of, const database_step& step) {
    if (!of.replaced) return;
    auto& key = ghost_.keys[step.id];
    key.epoch = of.epoch_before;
    if (step.after->state != record_state::succeeded) return;
    key.results[step.after->holder.fence] = key.results[of.replaced->holder.fence];
    key.results[step.after->holder.fence].at = scene_.loop.now();
    scene_.seen.saw(rare::result_given_back);
}

void record_checker::on_finished(const database_step& step) {
    if (step.after->state != record_state::succeeded) return;
    if (std::holds_alternative<commands::release>(step.what)) return; // its result is known
    auto& key = ghost_.keys[step.id];
    const auto fence = step.after->holder.fence;
    const auto claim = key.claims.find(fence);
    key.results[fence] = {.result = step.after->result,
                          .content =
                              claim == key.claims.end() ? std::nullopt : claim->second.content,
                          .at = scene_.loop.now()};
    if (step.after->result.kind == result_kind::tombstone) scene_.seen.saw(rare::tombstone);
}

// ---- operators and sweeper

void record_checker::on(const commands::resolve& what, const database_step& step) {
    if (!step.changed) return;
    const bool corrects = !gone(step.before, step.now) && has_verdict(*step.before);
    const bool open = step.before != nullptr && (corrects || over(*step.before, step.now)) &&
                      step.before->holder.fence == what.expected_fence;
    if (!open) return fail("S2", step, "resolved what was not in doubt");
    if (corrects) scene_.seen.saw(rare::verdict_corrected);
    new_fence(step.id, step.after->holder.fence);
    auto& key = ghost_.keys[step.id];
    ++key.epoch;
    const bool grants = std::holds_alternative<commands::resolve::not_executed>(what.verdict);
    if (grants) key.granted = step.after->holder.fence;
    scene_.seen.saw(rare::operator_resolved);
}

void record_checker::on(const commands::remove& what, const database_step& step) {
    if (what.actor != operator_name) fail("S12", step, "removed by somebody who is no operator");
    if (!step.changed) return;
    ++ghost_.keys[step.id].epoch;
    scene_.seen.saw(rare::operator_removed);
}

// S12: the sweeper takes finished records past their time, and work nobody came back for.
void record_checker::on(const commands::purge&, const database_step& step) {
    if (!step.changed) return;
    const record& before = *step.before;
    const bool forsaken = over(before, step.now) && rerunnable(before) && !used_up(before) &&
                          step.now >= before.begun_at + before.policy.processing_max;
    const bool expired = !processing(before) && step.now >= before.expires_at;
    if (!forsaken && !expired) return fail("S12", step, "purged a record that somebody needs");
    ++ghost_.keys[step.id].epoch;
}

void record_checker::on(const commands::lookup&, const database_step& step) {
    if (step.changed) fail("S2", step, "a read wrote something");
}

// ---- effects

// S10, second half, and S11: every effect has a claim of its own; what must be held has one effect.
void record_checker::on_effect(const record_id& id, std::uint64_t fence) {
    auto& key = ghost_.keys[id];
    const auto claim = key.claims.find(fence);
    if (claim == key.claims.end()) {
        return scene_.fail("S10", text_of(id) + ": an effect without a claim");
    }
    if (++claim->second.effects > 1) {
        return scene_.fail("S10", text_of(id) + ": one claim, two effects");
    }
    for (const auto& [other, seen] : key.claims) {
        if (other == fence || seen.effects == 0 || seen.epoch != claim->second.epoch) continue;
        const auto& earlier = other < fence ? seen : claim->second;
        if (earlier.policy.on_lease_expiry == lease_expiry::retry) continue;
        return scene_.fail("S11", text_of(id) + ": a second effect of what must be held");
    }
}

// S9: inside a transaction, one effect if and only if the record has succeeded.
void record_checker::on_transaction(const transaction_step& step) {
    auto& key = ghost_.keys[step.id];
    const bool anew = gone(step.before, step.now);
    const bool retried = !anew && step.before->state == record_state::failed_retryable;
    if (!anew && !retried) {
        return scene_.fail("S9", text_of(step.id) + ": a transaction wrote over a living record");
    }
    new_fence(step.id, step.after.holder.fence);
    if (anew) ++key.epoch;
    key.transacted[key.epoch] += step.effects;
    const bool succeeded = step.after.state == record_state::succeeded;
    if (key.transacted[key.epoch] != (succeeded ? 1U : 0U)) {
        scene_.fail("S9", text_of(step.id) + ": effects and record disagree");
    }
    if (!succeeded) return;
    key.results[step.after.holder.fence] = {
        .result = step.after.result, .content = step.after.content, .at = scene_.loop.now()};
}

} // namespace semel::sim
