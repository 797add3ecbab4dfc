#include <iostream>
#include <memory>

#include "commands.hpp"
#include "configuration.hpp"
#include "demo_shop.hpp"
#include "last_exit.hpp"
#include "service.hpp"
#include "signals.hpp"

namespace semel::app {
namespace {

struct arguments {
    std::string file = "semel.toml";
    std::string demo_file = {};
};

void run(service& all, signals& asked) {
    while (asked.next() == SIGHUP) all.reload_tokens();
    asked.release();
    end_within(all.drain_time() + closing_time);
    if (all.drain() == edge::drained::all) {
        std::cout << "semel serve: drained" << std::endl;
        return;
    }
    std::cerr << "semel: the drain time is over and requests are still under way\n";
    throw CLI::RuntimeError{1};
}

void serve(const std::string& file) {
    config::config with = load_service(file);
    signals asked{SIGTERM, SIGINT, SIGHUP};
    service all{std::move(with)};
    std::cout << all.about() << std::flush;
    run(all, asked);
}

void serve_demo(const std::string& file) {
    signals asked{SIGTERM, SIGINT, SIGHUP};
    const demo_shop shop;
    const config::config with = demo_config(shop.url(), file);
    service all{with};
    const std::string token = config::new_token();
    all.allow(token, {.tenant = "demo", .may = http::scope_set{http::scope::admin}});
    std::cout << all.about() << demo_guide(with.server.listen) << "The console is at "
              << all.console_url() << "; its token, until this process ends, is\n  " << token
              << "\n\n"
              << std::flush;
    run(all, asked);
}

} // namespace

void add_serve_command(CLI::App& tool) {
    const auto with = std::make_shared<arguments>();
    CLI::App* const command = tool.add_subcommand(
        "serve", "Run the gateway, the center and the admin pages as a file says");
    auto* const config =
        command->add_option("--config", with->file, "the file; see docs/configuration.md");
    config->capture_default_str()->type_name("FILE");
    command
        ->add_option_function<std::string>(
            "--demo",
            [with](const std::string& file) {
                with->demo_file = file.empty() ? "semel-demo.db" : file;
            },
            "no configuration: the gateway before a small shop, and what to try; records are kept "
            "in this SQLite file")
        ->expected(0, 1)
        ->excludes(config)
        ->type_name("[FILE]");
    command->footer("SIGHUP reads the tokens again. SIGTERM and SIGINT drain: exit code 0 when all "
                    "is done.");
    command->callback([with] {
        if (with->demo_file.empty()) return serve(with->file);
        serve_demo(with->demo_file);
    });
}

} // namespace semel::app
