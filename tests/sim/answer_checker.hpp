// Judges what callers are told against what really happened: S4, S5, S6, S7, S8, S15, L1 and L4.
#pragma once

#include <vector>

#include "sim/call.hpp"
#include "sim/ghost.hpp"
#include "sim/scene.hpp"

namespace semel::sim {

class answer_checker {
public:
    answer_checker(scene& with, ghost& truth) : scene_(with), ghost_(truth) {}

    // `call` is not marked as ended yet.
    void on_answer(const call& of, const raw_outcome& with);

    // From here on there are no faults: waiting must be short.
    void expect_calm(duration from) { calm_from_ = from; }

private:
    void on_in_progress(const call& of);
    void on_executed(const call& of, const raw_outcome& with);
    void on_replayed(const call& of, const raw_outcome& with);
    void check_wait(const call& of, std::uint64_t fence, const result_seen& known);
    void fail(const char* property, const call& of, const std::string& text);

    scene& scene_;
    ghost& ghost_;
    std::optional<duration> calm_from_;
};

} // namespace semel::sim
