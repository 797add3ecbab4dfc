// A process's time, threads and randomness, all from the scene.
#pragma once

#include <utility>

#include "semel/base/runtime.hpp"
#include "sim/scene.hpp"

namespace semel::sim {

class sim_runtime final : public runtime {
public:
    // `booted` is what the process's own clock showed when the run began: no two agree.
    sim_runtime(scene& with, process_id who, duration booted)
        : scene_(with), who_(who), booted_(booted) {}

    local_time now() const override { return local_time{booted_ + scene_.loop.now()}; }

    void at(local_time when, task what) override {
        const duration due = when.time_since_epoch() - booted_;
        scene_.loop.at(due + late(), who_, std::move(what));
    }
    void post(task what) override { scene_.loop.after(late(), who_, std::move(what)); }
    void chore(task what) override { scene_.loop.after(late(), who_, std::move(what)); }
    std::uint64_t random() override { return scene_.random.next(); }

private:
    // Threads never run exactly on time, nor in the order in which they were woken.
    duration late() { return scene_.random.between(duration{0}, std::chrono::milliseconds{2}); }

    scene& scene_;
    const process_id who_;
    const duration booted_;
};

} // namespace semel::sim
