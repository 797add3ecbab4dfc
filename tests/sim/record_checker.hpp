// Watches every step of the database and knows the invariants, not the code: S1, S2, S3, S5, S7,
// S9, S10, S11, S12 and S16 are stated here once more, on what was there before and after.
#pragma once

#include <functional>
#include <utility>

#include "sim/database.hpp"
#include "sim/ghost.hpp"

namespace semel::sim {

class record_checker {
public:
    // The only one who may remove or resolve records by hand.
    static constexpr const char* operator_name = "operator";

    record_checker(scene& with, ghost& truth) : scene_(with), ghost_(truth) {}

    // Called when the holder of `fence` has lost its record to a new attempt.
    using taken_over = std::function<void(const record_id& id, std::uint64_t fence)>;
    void watch(taken_over then) { taken_over_ = std::move(then); }

    void on_step(const database_step& step);
    void on_transaction(const transaction_step& step);
    // Brings up to date when the record was in progress, before a step, a look or a clock's step.
    void note(const record_id& id, time_point now);
    void on_clock_step(time_point before, time_point after);
    // The work's effect took place, now.
    void on_effect(const record_id& id, std::uint64_t fence);

private:
    void on(const commands::begin& what, const database_step& step);
    void on(const commands::resolve& what, const database_step& step);
    void on(const commands::remove& what, const database_step& step);
    void on(const commands::purge& what, const database_step& step);
    void on(const commands::lookup& what, const database_step& step);
    template <class Owners> void on(const Owners& what, const database_step& step);
    template <class Owners> void check_end(const Owners& what, const database_step& step);
    void check_undone(const claim_seen& of, const database_step& step);

    void check_refusal(const commands::begin& what, const database_step& step);
    void on_started(const commands::begin& what, const answers::started& said,
                    const database_step& step);
    void check_right_to_claim(const commands::begin& what, const database_step& step);
    void check_right_to_rerun(const commands::begin& what, const database_step& step,
                              bool other_content);
    void check_finished_stays(const database_step& step);
    void on_finished(const database_step& step);
    void on_given_back(claim_seen& of, const database_step& step);
    void new_fence(const record_id& id, std::uint64_t fence);
    void fail(const char* property, const database_step& step, const char* text);

    scene& scene_;
    ghost& ghost_;
    taken_over taken_over_;
};

} // namespace semel::sim
