// What goes wrong in the world, and how often.
#include <algorithm>
#include <utility>

#include "sim/world.hpp"

namespace semel::sim {

using std::chrono::milliseconds;

void world::plan_troubles() {
    const fault_plan& plan = scene_.plan;
    every(plan.crash_every, &world::trouble_crash);
    every(plan.pause_every, &world::trouble_pause);
    every(plan.outage_every, &world::trouble_outage);
    every(plan.clock_step_every, &world::trouble_clock);
    every(plan.corrupt_every, &world::trouble_corruption);
    every(plan.operator_every, &world::trouble_operator);
}

void world::every(duration mean, void (world::*trouble)()) {
    if (mean == duration::zero()) return;
    const duration next = scene_.random.between(mean / 2, mean * 3 / 2);
    scene_.loop.after(next, world_process, [this, mean, trouble] {
        if (healed_) return;
        (this->*trouble)();
        every(mean, trouble);
    });
}

void world::trouble_crash() {
    process& one = *processes_[scene_.random.below(processes_.size())];
    if (!one.up) return;
    scene_.seen.saw(rare::crash);
    crash(one);
    const duration down = scene_.random.between(milliseconds{1}, milliseconds{1000});
    scene_.loop.after(down, world_process, [this, &one] {
        if (!one.up) start(one);
    });
}

void world::trouble_pause() {
    const process& one = *processes_[scene_.random.below(processes_.size())];
    if (!one.up) return;
    const duration length = scene_.random.between(milliseconds{1}, scene_.plan.pause_max);
    if (length > usual_.lease) scene_.seen.saw(rare::pause);
    scene_.say("process ", std::uint64_t{one.id}, " pauses for ", length);
    scene_.loop.pause(one.id, scene_.loop.now() + length);
}

void world::trouble_outage() {
    network_.outage_until =
        scene_.loop.now() + scene_.random.between(milliseconds{1}, scene_.plan.outage_max);
    scene_.say("the store is away until ", network_.outage_until);
}

void world::trouble_clock() {
    const bool back = scene_.random.hit(500);
    const duration by = scene_.random.between(milliseconds{1}, scene_.plan.clock_step_max);
    scene_.seen.saw(back ? rare::clock_back : rare::clock_forward);
    scene_.say("the store's clock steps ", back ? "back " : "forward ", by);
    const time_point before = database_.now();
    database_.step_clock(back ? -by : by);
    records_.on_clock_step(before, database_.now());
}

void world::trouble_corruption() {
    for (const auto& [id, it] : database_.records()) {
        if (it.state != record_state::succeeded || it.result.body.empty()) continue;
        if (scene_.random.hit(500)) continue;
        scene_.say("damage ", text_of(id));
        ghost_.keys[id].results[it.holder.fence].damaged = true;
        return database_.damage(id, scene_.random.below(1000));
    }
}

void world::trouble_operator() {
    if (database_.records().empty()) return;
    auto at = database_.records().begin();
    std::advance(at, static_cast<std::ptrdiff_t>(scene_.random.below(database_.records().size())));
    const record_id id = at->first;
    const std::uint64_t fence = at->second.holder.fence;
    const std::string actor = record_checker::operator_name;
    if (scene_.random.hit(150)) {
        static_cast<void>(database_.apply(id, commands::remove{.actor = actor}, std::nullopt));
        return;
    }
    commands::resolve what{.expected_fence = fence, .retention = usual_.retention, .actor = actor};
    stored_result settled{.body = text_of(id) + "|operator " + std::to_string(fence)};
    seal(settled);
    auto& errors = ghost_.keys[id].errors;
    switch (scene_.random.below(3)) {
    case 0: what.verdict = commands::resolve::committed{std::move(settled)}; break;
    case 1: errors.insert("resolved: not executed"); break;
    default: what.verdict = commands::resolve::failed{settled.body}; errors.insert(settled.body);
    }
    static_cast<void>(database_.apply(id, what, std::nullopt));
}

} // namespace semel::sim
