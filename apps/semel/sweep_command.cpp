#include <iostream>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "core/sweep_plan.hpp"
#include "opened.hpp"
#include "progress.hpp"
#include "semel/core/search.hpp"
#include "store_arguments.hpp"

namespace semel::app {
namespace {

struct sweep_arguments {
    store_arguments store = {};
    std::size_t records_max = 0; // 0: the configuration's
    unsigned share_percent = 0;  // the same
    bool json = false;
};

struct swept {
    std::uint64_t records = 0;
    std::uint64_t batches = 0;
    duration longest = {};
};

swept sweep_all(store& records, const sweep_options& options) {
    progress shown{"sweep"};
    sweep_pace pace{options};
    swept sum;
    while (true) {
        const local_time begun = local_clock::now();
        const auto report = records.sweep({.records_max = pace.records_max()});
        const duration took = local_clock::now() - begun;
        const sweep_report did = opened(report);
        sum.records += did.removed;
        ++sum.batches;
        sum.longest = std::max(sum.longest, took);
        shown.add(did.removed);
        if (did.state == sweep_state::done) return sum;
        std::this_thread::sleep_for(pace.next(report, took));
    }
}

void run(const sweep_arguments& with) {
    const auto on = open_records(with.store);
    sweep_options options = on->config.sweep;
    if (with.records_max > 0) options.records_max = with.records_max;
    if (with.share_percent > 0) options.share_percent = with.share_percent;
    if (auto fine = check(options); !fine) throw usage_error(fine.error().detail);
    const swept did = sweep_all(*on->records, options);
    const auto longest = std::chrono::duration<double, std::milli>(did.longest).count();
    if (with.json) {
        const nlohmann::ordered_json made{
            {"removed", did.records}, {"batches", did.batches}, {"longest_batch_ms", longest}};
        std::cout << made.dump() << '\n';
        return;
    }
    std::cout << fmt::format("removed {} records in {} batches, the longest took {:.0f} ms\n",
                             did.records, did.batches, longest);
}

} // namespace

void add_sweep_command(CLI::App& tool) {
    const auto with = std::make_shared<sweep_arguments>();
    CLI::App* const command = tool.add_subcommand(
        "sweep", "Remove records that have expired, until there are none, and end");
    add_store_options(*command, with->store);
    command->add_option("--records-max", with->records_max, "at once; default as configured");
    command->add_option("--share", with->share_percent,
                        "how much of the time it may work, in percent; default as configured");
    command->add_flag("--json", with->json, "for programs");
    command->footer(
        "`semel serve` does this too. Never removes what is running, held or waiting for a probe.");
    command->callback([with] { run(*with); });
}

} // namespace semel::app
