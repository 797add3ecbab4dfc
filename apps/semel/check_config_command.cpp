#include <algorithm>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "configuration.hpp"
#include "connect_trial.hpp"
#include "start_advice.hpp"

namespace semel::app {
namespace {

struct check_config_arguments {
    std::string file = "semel.toml";
    bool reference = false;
    bool connect = false;
};

void connect(const config::config& with) {
    const auto all = try_connections(with);
    for (const trial& one : all) {
        std::string text = (one.got ? "ok      " : "failed  ") + one.what;
        if (!one.got) text += ": " + describe(one.got.error());
        if (one.got && !one.note.empty()) text += ": " + one.note;
        std::replace(text.begin(), text.end(), '\n', ' ');
        std::cout << text << std::endl;
    }
    const auto fine = [](const trial& one) { return one.got.has_value(); };
    if (!std::all_of(all.begin(), all.end(), fine)) throw CLI::RuntimeError{1};
}

void run(const check_config_arguments& with) {
    if (with.reference) {
        std::cout << config::reference();
        return;
    }
    const config::config sound = load_service(with.file);
    for (const std::string& one : start_advice(sound)) {
        std::cerr << "semel: warning: " << one << '\n';
    }
    with.connect ? connect(sound) : void(std::cout << config::show(sound));
}

} // namespace

void add_check_config_command(CLI::App& tool) {
    const auto with = std::make_shared<check_config_arguments>();
    CLI::App* const command = tool.add_subcommand(
        "check-config", "Check a configuration file and print what is in effect");
    command->add_option("file", with->file, "the file")->capture_default_str();
    auto* const reference = command->add_flag("--reference", with->reference,
                                              "print what can be configured, as Markdown");
    command
        ->add_flag("--connect", with->connect,
                   "also try stores, outboxes, sinks and tokens, and print what came of each; "
                   "nothing is created or written. Exit code 1: one of them failed")
        ->excludes(reference);
    command->footer("Refuses what `semel serve` refuses before it listens: exit code 2.");
    command->callback([with] { run(*with); });
}

} // namespace semel::app
