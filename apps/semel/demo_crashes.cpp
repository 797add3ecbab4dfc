// A process that dies in the middle of the work, and the retry that follows.
#include <fmt/format.h>

#include <stdexcept>

#include "demo_child.hpp"
#include "demo_scenes.hpp"

namespace semel::app::demo {

void crash(const stage& on, child_options where) {
    where.folder = on.in.folder;
    child_process child{arguments_of(where)};
    if (child.read_line() != "reached") throw std::runtime_error{"the second instance is lost"};
    child.kill();
}

namespace {

scene_report crash_around_the_charge(const stage& on, scene_report report,
                                     const std::string& stop_at) {
    const std::string naive_key = "naive-" + report.key;
    crash(on, {.service = "naive-payment", .stop_at = stop_at, .key = naive_key});
    naive_payment(on.in, {.key = naive_key});
    report.naive_effects = on.in.provider.charges(naive_key);
    on.tell.naive("SIGKILL, then a retry: " + counted(report.naive_effects, "charge"));

    crash(on, {.service = "payment", .stop_at = stop_at, .key = report.key});
    const auto retried = semel_payment(on.with, on.in, {.key = report.key}, "the retry");
    const auto repeat = semel_payment(on.with, on.in, {.key = report.key}, "a repeat");
    report.semel_effects = on.in.provider.charges(report.key);
    on.tell.semel(fmt::format("SIGKILL; the retry waits for the lease, takes over as attempt {} "
                              "and is {}; a repeat is {}",
                              retried.attempt(), name(retried.kind()), name(repeat.kind())));
    on.tell.semel(fmt::format("the provider was called {}, under one child key: {}",
                              times(on.in.provider.calls(report.key)),
                              counted(report.semel_effects, "charge")));
    on.tell.promise(report.promise);
    if (!retried.executed() || retried.attempt() != 2) {
        report.problems.push_back("the retry should have taken over");
    } else if (!repeat.replayed() || repeat.value() != retried.value()) {
        report.problems.push_back("the repeat should have had the retry's answer");
    }
    return report;
}

constexpr const char* dedup_promise =
    "lease, downstream deduplicates on child_key(): exactly once at that downstream";

} // namespace

scene_report crash_before_the_charge(const stage& on) {
    on.tell.scene("The process is killed after it has claimed the key, before it charges");
    return crash_around_the_charge(on,
                                   {.name = "killed after the claim, before the charge",
                                    .key = "crash-before",
                                    .promise = dedup_promise},
                                   "before");
}

scene_report crash_after_the_charge(const stage& on) {
    on.tell.scene("The process is killed after it has charged, before it could say so");
    return crash_around_the_charge(on,
                                   {.name = "killed after the charge, before the answer",
                                    .key = "crash-after",
                                    .promise = dedup_promise},
                                   "after");
}

} // namespace semel::app::demo
