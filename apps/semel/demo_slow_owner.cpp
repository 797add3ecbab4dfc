// An owner that stands still for longer than its lease, and wakes up when another owner is done.
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>
#include <thread>

#include "demo_child.hpp"
#include "demo_scenes.hpp"

namespace semel::app::demo {

namespace {

// A process that is paused while it writes keeps the file's write lock, and all others wait for it.
// This scene is about a process that is paused while it works.
void pause_at_work(child_process& owner, database& file) {
    for (int tries = 0; tries < 1'000; ++tries) {
        owner.pause();
        if (file.write_lock() == lock_state::free) return;
        owner.resume();
        std::this_thread::sleep_for(std::chrono::milliseconds{2});
    }
    throw std::runtime_error{"the second instance writes all the time"};
}

// Pauses the second instance between its claim and its charge, lets `meanwhile` go first, and
// returns what the second instance has to say in the end.
template <class Meanwhile>
std::string outrun(const stage& on, child_options options, Meanwhile meanwhile) {
    options.folder = on.in.folder;
    options.stop_at = "before";
    child_process owner{arguments_of(options)};
    if (owner.read_line() != "reached") throw std::runtime_error{"the second instance is lost"};
    pause_at_work(owner, on.in.shop.data());
    meanwhile();
    owner.write_line("go");
    owner.resume();
    return owner.read_line();
}

} // namespace

scene_report slow_owner(const stage& on) {
    scene_report report{.name = "a slow owner loses its lease",
                        .key = "slow",
                        .promise = "lease, downstream deduplicates on child_key(): exactly once at "
                                   "that downstream"};
    on.tell.scene("The owner is paused past its lease, and goes on when somebody else is done");
    outrun(on, {.service = "naive-payment", .key = "naive-slow"},
           [&] { naive_payment(on.in, {.key = "naive-slow"}); });
    report.naive_effects = on.in.provider.charges("naive-slow");
    on.tell.naive("both found the key new: " + counted(report.naive_effects, "charge"));

    std::string winners;
    const std::string owners = outrun(on, {.service = "payment", .key = report.key}, [&] {
        const auto won = semel_payment(on.with, on.in, {.key = report.key}, "the second owner");
        winners = won.value();
        on.tell.semel(fmt::format("the second owner took over as attempt {}: \"{}\"", won.attempt(),
                                  winners));
    });
    report.semel_effects = on.in.provider.charges(report.key);
    on.tell.semel(
        fmt::format("the first one woke up, worked on, and gets the winner's answer: {}", owners));
    on.tell.semel(fmt::format("the provider was called {}, under one child key: {}",
                              times(on.in.provider.calls(report.key)),
                              counted(report.semel_effects, "charge")));
    on.tell.promise(report.promise);
    if (owners != "replayed \"" + winners + "\", 1 completion fenced off") {
        report.problems.push_back("the slow owner should have had the winner's answer");
    }
    return report;
}

} // namespace semel::app::demo
