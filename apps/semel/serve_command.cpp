#include <iostream>
#include <memory>

#include "commands.hpp"
#include "configuration.hpp"
#include "service.hpp"
#include "signals.hpp"

namespace semel::app {
namespace {

void serve(const std::string& file) {
    config::config with = load_config(file);
    signals asked{SIGTERM, SIGINT, SIGHUP};
    service all{std::move(with)};
    std::cout << all.about() << std::flush;
    while (asked.next() == SIGHUP) all.reload_tokens();
    asked.release();
    if (all.drain() == edge::drained::all) {
        std::cout << "semel serve: drained" << std::endl;
        return;
    }
    std::cerr << "semel: the drain time is over and requests are still under way\n";
    throw CLI::RuntimeError{1};
}

} // namespace

void add_serve_command(CLI::App& tool) {
    const auto file = std::make_shared<std::string>("semel.toml");
    CLI::App* const command = tool.add_subcommand(
        "serve", "Run the gateway, the center and the admin pages as a file says");
    command->add_option("--config", *file, "the file; see docs/configuration.md")
        ->capture_default_str()
        ->type_name("FILE");
    command->footer("SIGHUP reads the tokens again. SIGTERM and SIGINT drain: exit code 0 when all "
                    "is done.");
    command->callback([file] { serve(*file); });
}

} // namespace semel::app
