// The scenes of the demo. Each runs the naive service and semel's through the same trouble.
#pragma once

#include <string>
#include <vector>

#include "demo_report.hpp"
#include "demo_services.hpp"
#include "demo_world.hpp"

namespace semel::app::demo {

struct stage {
    world& in;
    engine& with;
    narrator& tell;
};

scene_report many_repeats(const stage& on);
scene_report changed_payload(const stage& on);
scene_report crash_before_the_charge(const stage& on);
scene_report crash_after_the_charge(const stage& on);
scene_report crash_in_a_transaction(const stage& on);
scene_report slow_owner(const stage& on);

// The second instance: serves one request, and stops at the given moment until it is told to go on.
struct child_options {
    std::string folder = {};
    std::string service = {}; // naive-order, naive-payment, payment, transaction
    std::string stop_at = {}; // before, after
    std::string key = {};
};
void serve_as_child(const child_options& options);
[[nodiscard]] std::vector<std::string> arguments_of(const child_options& options);

// Runs the service in a second process and kills that where it stands.
void crash(const stage& on, child_options where);

} // namespace semel::app::demo
