#include <iostream>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "alert_sender.hpp"
#include "commands.hpp"
#include "http_probe.hpp"
#include "log/key_secret.hpp"
#include "opened.hpp"
#include "semel/operations.hpp"
#include "signals.hpp"
#include "store_arguments.hpp"

namespace semel::app {
namespace {

struct reconcile_arguments {
    store_arguments store = {};
    bool once = false;
    bool json = false;
};

void print(const reconcile_report& did, const reconcile_arguments& with) {
    if (with.json) {
        const nlohmann::ordered_json made{
            {"stuck", did.stuck},         {"asked", did.asked},
            {"committed", did.committed}, {"not_executed", did.not_executed},
            {"unknown", did.unknown},     {"late", did.late},
            {"left", did.left},           {"alerted", did.alerted},
            {"failures", did.failures}};
        std::cout << made.dump() << std::endl;
        return;
    }
    std::cout << fmt::format("{} stuck (lapsed for longer than alert_after); verdicts: "
                             "{} committed, {} not executed, {} not known yet; {} left to an "
                             "operator or their client\n",
                             did.stuck, did.committed, did.not_executed, did.unknown, did.left)
              << std::flush;
}

void run(const reconcile_arguments& with) {
    signals asked{SIGTERM, SIGINT};
    const auto on = open_records(with.store);
    const auto log = open_spdlog_logger(on->config.log.options);
    show_keys(on->config.log.keys);
    hash_keys_with(on->config.log.key_secret.text);
    alert_sender alerts{alert_target_of(on->config), log};
    reconciler_options options = opened(reconciler_options_of(on->config));
    options.log = log;
    options.on_alert = [&](const alert& one) { alerts.send(one); };
    reconciler settles{*on->records, std::move(options)};
    if (with.once) {
        const reconcile_report did = opened(settles.pass());
        print(did, with);
        if (did.failures > 0) throw CLI::RuntimeError{1};
        return;
    }
    settles.start();
    std::cerr << "semel reconcile: running; SIGTERM or SIGINT ends it\n";
    static_cast<void>(asked.next());
    settles.stop();
    print(settles.counts().sum, with);
}

} // namespace

void add_reconcile_command(CLI::App& tool) {
    const auto with = std::make_shared<reconcile_arguments>();
    CLI::App* const command = tool.add_subcommand(
        "reconcile", "Settle work whose owner has gone, by asking the services what happened");
    add_store_options(*command, with->store);
    command->add_flag("--once", with->once, "one look, then end; exit code 0: the store answered");
    command->add_flag("--json", with->json, "for programs");
    command->footer("`semel serve` and `semel gateway` do this too; any number may run at the same "
                    "time. Probes come from the configuration's routes and operations.");
    command->callback([with] { run(*with); });
}

} // namespace semel::app
