// The user's work: takes its time, records steps, has its effect, and ends in one of many ways.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "semel/engine.hpp"
#include "sim/call.hpp"
#include "sim/record_checker.hpp"
#include "sim/scene.hpp"

namespace semel::sim {

struct final_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};
struct release_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class sim_work;

// What all work of a run shares.
struct workplace {
    scene& with;
    ghost& truth;
    record_checker& checker;
    // Since when no faults happen; a holder that began later must keep its lease (L5).
    std::optional<duration> calm_from = {};
    duration lease = {};
    // No pauses and no clock steps: then nobody is taken over before it was told to stop.
    bool steady = false;
    std::map<std::pair<record_id, std::uint64_t>, sim_work*> running = {};
    void on_taken_over(const record_id& id, std::uint64_t fence);
};

// What a piece of work will do, drawn when it begins.
struct work_script {
    enum class end : std::uint8_t {
        value,
        rejection,
        tombstone,
        retry_later,
        retryable,
        final,
        release,
        unknown,
        dropped,
    };
    end how = end::value;
    unsigned steps = 0;
    duration before_effect = {};
    duration after_effect = {};
    bool has_effect = true;
    bool heeds_stop = false;
};

[[nodiscard]] work_script draw_script(scene& with, duration lease, bool calm);
[[nodiscard]] std::string body_of(const call& by, std::uint64_t fence, std::size_t bytes);

class sim_work : public std::enable_shared_from_this<sim_work> {
public:
    using ender = unique_function<void(work_end)>;

    sim_work(workplace& at, std::shared_ptr<call> of, execution& run, ender done);

    ~sim_work();

    void start();
    // Has been told to stop, or will be in a moment.
    [[nodiscard]] bool warned() const;

private:
    void next_step();
    void record_step(const std::string& name);
    void on_effect();
    void finish();
    void mark_ended();
    void end(work_end how);
    [[nodiscard]] work_end made_end();
    [[nodiscard]] bool told_to_stop();
    [[nodiscard]] bool calm() const;
    void later(duration delay, void (sim_work::*then)());

    workplace& at_;
    std::shared_ptr<call> call_;
    execution& run_; // lives as long as done_
    ender done_;
    work_script script_;
    unsigned step_ = 0;
};

} // namespace semel::sim
