#include "sim/world.hpp"

#include <algorithm>
#include <utility>

#include "sim/sim_runtime.hpp"

namespace semel::sim {

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr duration safety_length = seconds{6};
constexpr duration liveness_max = seconds{40};
constexpr std::uint64_t steps_max = 200'000;

operation_policy draw_policy(dice& random) {
    return {.lease = random.between(milliseconds{200}, milliseconds{800}),
            .retention = random.between(milliseconds{200}, milliseconds{3000}),
            .failure_retention = random.between(milliseconds{200}, milliseconds{1500}),
            .wait_max = random.between(milliseconds{50}, milliseconds{1500}),
            .grace = random.between(milliseconds{0}, milliseconds{60}),
            .processing_max = random.between(milliseconds{4500}, milliseconds{7000}),
            .result_bytes_max = 500,
            .failures = {when<final_error>(exception_class::final),
                         when<release_error>(exception_class::release)}};
}

} // namespace

run_result run(std::uint64_t seed, journal::mode how) {
    return world{seed, how}.run();
}

world::world(std::uint64_t seed, journal::mode how)
    : scene_(seed, how),
      database_(scene_),
      records_(scene_, ghost_),
      answers_(scene_, ghost_),
      usual_(draw_policy(scene_.random)),
      peers_differ_(scene_.random.hit(300)) {
    work_.lease = usual_.lease;
    work_.steady = scene_.plan.pause_every == duration::zero() &&
                   scene_.plan.clock_step_every == duration::zero();
    records_.watch(
        [this](const record_id& id, std::uint64_t fence) { work_.on_taken_over(id, fence); });
    database_.watch([this](const database_step& step) { records_.on_step(step); },
                    [this](const transaction_step& step) { records_.on_transaction(step); });
    const std::size_t count = 1 + scene_.random.below(3);
    for (std::size_t i = 0; i < count; ++i) {
        processes_.push_back(std::make_unique<process>());
        start(*processes_.back());
    }
}

world::~world() {
    for (auto& one : processes_) {
        if (one->up) crash(*one);
    }
}

run_result world::run() {
    safety_phase();
    if (!scene_.broken) liveness_phase();
    if (!scene_.broken) removal_phase();
    if (scene_.broken) {
        scene_.say("BROKEN ", scene_.broken->property, ": ", scene_.broken->what);
    }
    return {.broken = scene_.broken,
            .seen = scene_.seen,
            .trace = scene_.trace.take(),
            .steps = scene_.loop.steps()};
}

// True: came as far as `limit` (or to where nothing is left to do) without a violation.
bool world::run_until(duration limit) {
    while (!scene_.broken && scene_.loop.run_next(limit)) {
        if (scene_.loop.steps() > steps_max) scene_.fail("L1", "the run does not come to an end");
    }
    return !scene_.broken;
}

void world::safety_phase() {
    draw_requests();
    plan_troubles();
    run_until(safety_length);
}

void world::heal() {
    scene_.say("the world heals");
    healed_ = true;
    scene_.plan = healed(scene_.plan);
    network_.outage_until = {};
    for (auto& one : processes_) {
        if (!one->up) start(*one);
    }
}

// L1 and L2: with everything well again, every call ends and every record gets somewhere.
void world::liveness_phase() {
    // Commands that were delayed before may still arrive, and pauses that began before may go on.
    const duration aftermath = std::max(scene_.plan.late_max, scene_.plan.pause_max);
    heal();
    if (!run_until(scene_.loop.now() + aftermath + milliseconds{300})) return;
    answers_.expect_calm(scene_.loop.now());
    work_.calm_from = scene_.loop.now();
    add_last_sessions();
    const duration deadline = scene_.loop.now() + liveness_max + database_.set_back();
    while (!all_settled()) {
        if (!scene_.loop.run_next(deadline)) break;
        if (scene_.broken) return;
        if (scene_.loop.steps() > steps_max) scene_.fail("L1", "the run does not come to an end");
    }
    check_all_answered();
}

bool world::all_settled() const {
    return std::all_of(sessions_.begin(), sessions_.end(),
                       [](const auto& one) { return one->settled; }) &&
           std::all_of(calls_.begin(), calls_.end(),
                       [](const open_call& one) { return one.it->ended || one.it->crashed; });
}

void world::check_all_answered() {
    for (const auto& [who, it] : calls_) {
        if (it->ended || it->crashed) continue;
        return scene_.fail("L1", text_of(it->id) + " call " + std::to_string(it->serial) +
                                     ": never answered");
    }
    for (const auto& one : sessions_) {
        if (!one->settled) scene_.fail("L2", text_of(one->id) + ": never got anywhere");
    }
}

// L3 and L6: nobody asks any more; leases lapse and what has expired goes away.
void world::removal_phase() {
    const time_point now = database_.now();
    duration longest = usual_.lease + usual_.grace + usual_.processing_max;
    for (const auto& [id, it] : database_.records()) {
        longest = std::max({longest, it.expires_at - now, it.lease_until + it.policy.grace - now,
                            it.begun_at + it.policy.processing_max - now});
    }
    if (run_until(scene_.loop.now() + longest + usual_.retention + seconds{3})) {
        check_nothing_stuck();
    }
}

void world::check_nothing_stuck() {
    for (const auto& one : processes_) {
        const engine_counters counted = one->runs->counters();
        if (counted.orphans_released > 0) scene_.seen.saw(rare::orphan_released);
        if (counted.running == 0 && counted.waiting == 0 && counted.orphans == 0) continue;
        return scene_.fail("L1", "process " + std::to_string(one->id) + ": " +
                                     std::to_string(counted.running) + " calls never ended, " +
                                     std::to_string(counted.waiting) + " wait for ever, " +
                                     std::to_string(counted.orphans) + " claims are looked for");
    }
    const time_point now = database_.now();
    for (const auto& [id, it] : database_.records()) {
        if (it.state != record_state::processing) {
            return scene_.fail("L6", text_of(id) + ": expired and still there");
        }
        if (now <= it.lease_until + it.policy.grace) {
            return scene_.fail("L3", text_of(id) + ": still leased, and nobody works on it");
        }
        const bool used_up = it.attempts >= it.policy.attempts_max;
        if (it.policy.on_lease_expiry == lease_expiry::retry && !used_up) {
            return scene_.fail("L6", text_of(id) + ": forsaken and still there");
        }
        check_not_orphaned(id, it);
    }
}

// L7: what is in doubt may have been run, or its process has crashed, or has counted that it could
// neither ask for it nor give it back to the end.
void world::check_not_orphaned(const record_id& id, const record& it) {
    const auto& key = ghost_.keys[id];
    const auto claim = key.claims.find(it.holder.fence);
    if (claim == key.claims.end() || claim->second.ran) return;
    const auto asker = key.askers.find({it.holder.owner.high, it.holder.owner.low});
    for (const auto& one : processes_) {
        if (asker == key.askers.end() || one->id != asker->second) continue;
        const engine_counters counted = one->runs->counters();
        if (counted.orphans_left > 0 || counted.lost_completions > 0) continue;
        scene_.fail("L7", text_of(id) + ": in doubt, though its owner lives and has run nothing");
    }
}

} // namespace semel::sim
