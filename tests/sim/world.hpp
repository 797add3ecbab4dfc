// A simulated company: a few processes with an engine each, one database, clients that retry, an
// operator, and faults. First anything may break (safety), then it heals (liveness).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "semel/engine.hpp"
#include "sim/answer_checker.hpp"
#include "sim/call.hpp"
#include "sim/database.hpp"
#include "sim/ghost.hpp"
#include "sim/record_checker.hpp"
#include "sim/scene.hpp"
#include "sim/sim_store.hpp"
#include "sim/sim_work.hpp"

namespace semel::sim {

struct run_result {
    std::optional<violation> broken;
    tally seen;
    std::vector<std::string> trace; // if it was asked for
    std::uint64_t steps = 0;
};

// One run. The same seed gives the same run, byte for byte.
[[nodiscard]] run_result run(std::uint64_t seed, journal::mode how);

// One client with one request, who asks until it knows.
struct session {
    record_id id = {};
    std::optional<fingerprint> content = {};
    bool in_transaction = false;
    unsigned calls_left = 0;
    bool settled = false; // knows, or has given up
};

class world {
public:
    world(std::uint64_t seed, journal::mode how);
    ~world();
    world(const world&) = delete;
    world& operator=(const world&) = delete;

    [[nodiscard]] run_result run();

private:
    struct process {
        process_id id = world_process;
        sim_store* records = nullptr; // owned by the engine
        std::unique_ptr<engine> runs;
        bool up = false;
    };

    // world.cpp: the phases.
    void safety_phase();
    void liveness_phase();
    void removal_phase();
    void heal();
    [[nodiscard]] bool all_settled() const;
    void check_all_answered();
    void check_nothing_stuck();
    void check_not_orphaned(const record_id& id, const record& it);
    bool run_until(duration limit);

    // processes.cpp
    void start(process& one);
    void crash(process& one);
    [[nodiscard]] engine_options options_of(process& one);
    [[nodiscard]] operation_policy policy_of(std::string_view operation);

    // clients.cpp
    void draw_requests();
    void add_session(unsigned calls_max);
    void add_last_sessions();
    void ask(session& who);
    void ask_again(session& who, duration delay);
    void begin_call(process& at, session& who, const std::shared_ptr<call>& made);
    void begin_transaction(process& at, session& who, const std::shared_ptr<call>& made);
    void on_answer(session& who, const std::shared_ptr<call>& of, const raw_outcome& with);
    void on_crashed_call(const std::shared_ptr<call>& of);
    void plan_cancel(const std::shared_ptr<call>& of);

    // troubles.cpp
    void plan_troubles();
    void every(duration mean, void (world::*trouble)());
    void trouble_crash();
    void trouble_pause();
    void trouble_outage();
    void trouble_clock();
    void trouble_corruption();
    void trouble_operator();

    scene scene_;
    ghost ghost_;
    database database_;
    network network_;
    record_checker records_;
    answer_checker answers_;
    operation_policy usual_;
    bool peers_differ_ = false;
    bool healed_ = false;
    process_id last_process_ = world_process;
    std::uint64_t last_call_ = 0;
    std::vector<std::unique_ptr<process>> processes_;
    std::vector<std::unique_ptr<session>> sessions_;
    std::vector<record_id> ids_;
    struct open_call {
        session* who;
        std::shared_ptr<call> it;
    };
    std::vector<open_call> calls_;
    workplace work_{scene_, ghost_, records_};
};

} // namespace semel::sim
