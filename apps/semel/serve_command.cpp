#include <filesystem>
#include <iostream>
#include <memory>

#include "commands.hpp"
#include "configuration.hpp"
#include "demo/shop.hpp"
#include "free_address.hpp"
#include "last_exit.hpp"
#include "opened.hpp"
#include "service.hpp"
#include "signals.hpp"

namespace semel::app {
namespace {

struct arguments {
    std::string file = "semel.toml";
    std::string demo_file = {};
    std::string listen = {}; // of the demo
};

constexpr std::uint16_t demo_port = 7070;

void run(service& all, signals& asked) {
    for (int what = 0; what == 0 || what == SIGHUP; what = asked.next(token_look)) {
        what == SIGHUP ? all.reload_tokens() : all.look_at_tokens();
    }
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
    if (!std::filesystem::exists(file)) {
        throw usage_error("there is no " + file + " here; make one with `semel config init " +
                          file + "`, or try `semel serve --demo`");
    }
    config::config with = load_service(file);
    signals asked{SIGTERM, SIGINT, SIGHUP};
    service all{std::move(with)};
    std::cout << all.about() << std::flush;
    run(all, asked);
}

// A first try does not end at a port that something else has.
config::config demo_config_at(const demo::shop& shop, const arguments& given) {
    config::config with = demo::gateway_config(shop.url(), given.demo_file);
    const net::host_port listen =
        given.listen.empty() ? free_address(demo_port) : opened(net::parse_host_port(given.listen));
    const bool is_own_port = listen.port != 0 && listen.port < 65'535;
    with.server.listen = listen.text();
    with.server.admin_listen =
        free_address(static_cast<std::uint16_t>((is_own_port ? listen.port : demo_port) + 1))
            .text();
    return with;
}

// Another process may take a port between the look at it and its use.
std::unique_ptr<service> demo_service(const demo::shop& shop, const arguments& given) {
    constexpr int tries_max = 5;
    for (int tries = 1;; ++tries) {
        try {
            return std::make_unique<service>(demo_config_at(shop, given));
        } catch (const failure_error& no) {
            if (no.why().code != errc::address_in_use || tries == tries_max) throw;
        }
    }
}

void serve_demo(const arguments& given) {
    signals asked{SIGTERM, SIGINT, SIGHUP};
    const demo::shop shop;
    const auto made = demo_service(shop, given);
    service& all = *made;
    if (given.listen.empty() && !all.gateway_address().ends_with(":" + std::to_string(demo_port))) {
        std::cout << "semel serve: another process listens on port " << demo_port << "; this is "
                  << all.gateway_address() << '\n';
    }
    const std::string token = config::new_token();
    all.allow(token, {.tenant = "demo", .may = http::scope_set{http::scope::admin}});
    std::cout << all.about() << demo::guide(all.gateway_address()) << "The console is at "
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
    auto* const demo = command->add_option_function<std::string>(
        "--demo",
        [with](const std::string& file) {
            with->demo_file = file.empty() ? "semel-demo.db" : file;
        },
        "no configuration: the gateway before a small shop, and what to try; records are kept "
        "in this SQLite file");
    demo->expected(0, 1)->excludes(config)->type_name("[FILE]");
    command
        ->add_option("--listen", with->listen,
                     "of --demo; default 127.0.0.1:7070, or the next port that is free")
        ->needs(demo)
        ->type_name("HOST:PORT");
    command->footer("The tokens are read again when their file changes, and on SIGHUP. SIGTERM and "
                    "SIGINT drain: exit code 0 when all "
                    "is done.");
    command->callback([with] {
        if (with->demo_file.empty()) return serve(with->file);
        serve_demo(*with);
    });
}

} // namespace semel::app
