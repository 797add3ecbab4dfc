#include <iostream>
#include <memory>

#include "commands.hpp"
#include "configuration.hpp"
#include "start_advice.hpp"

namespace semel::app {
namespace {

struct check_config_arguments {
    std::string file = "semel.toml";
    bool reference = false;
};

void run(const check_config_arguments& with) {
    if (with.reference) {
        std::cout << config::reference();
    } else {
        const config::config read = load_config(with.file);
        for (const std::string& one : start_advice(read)) {
            std::cerr << "semel: warning: " << one << '\n';
        }
        std::cout << config::show(read);
    }
}

} // namespace

void add_check_config_command(CLI::App& tool) {
    const auto with = std::make_shared<check_config_arguments>();
    CLI::App* const command = tool.add_subcommand(
        "check-config", "Check a configuration file and print what is in effect");
    command->add_option("file", with->file, "the file")->capture_default_str();
    command->add_flag("--reference", with->reference, "print what can be configured, as Markdown");
    command->callback([with] { run(*with); });
}

} // namespace semel::app
