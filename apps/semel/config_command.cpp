#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>

#include "commands.hpp"

namespace semel::app {
namespace {

constexpr std::string_view example =
    R"(# The configuration of `semel serve`. `semel check-config` checks it, and with --reference it
# prints everything that can be set. Relative paths begin at the folder of this file.

[server]
listen = "127.0.0.1:7070"       # clients connect here
admin_listen = "127.0.0.1:7071" # health, metrics and the console; keep it away from clients

[store]
# On one machine. On several: "postgres://user@host/database", mysql:// or redis://.
url = "sqlite:semel.db"
# url = "env:DATABASE_URL" # a URL with a password is better kept in a variable or a file

[tenants]
source = "single" # all clients are one tenant; "tokens" or "header" tell tenants apart
name = "main"
# tokens = "tokens.txt" # made by `semel token new`; for the center and the console

[gateway]
upstream = "http://127.0.0.1:3000" # your service

[[route]] # one for each kind of request that must take effect once
operation = "ORDER_CREATE"
path = "/orders"
methods = ["POST"]
key = "required"     # clients send an Idempotency-Key
principal = "shared" # who knows a key gets its answer; ["Authorization"]: who sends the same login
retention = "3d"     # how long a repeat gets the first answer

# [center]                       # for services that run the work themselves: docs/center.md
# enabled = true
# listen = "127.0.0.1:7072"

# [[operation]]                  # of the center
# name = "PAYMENT_CREATE"
# on_lease_expiry = "hold"       # after a crash an operator decides

# [[relay]]                      # carries events of the outbox on: docs/outbox.md
# sink = "https://warehouse.example.com/events"
)";

void init(const std::string& file) {
    if (file == "-") {
        std::cout << example;
        return;
    }
    if (std::filesystem::exists(file)) {
        throw usage_error(file + " exists already and stays as it is; name another file, or - for "
                                 "standard output");
    }
    std::ofstream to{file};
    to << example;
    if (!to.flush()) throw std::runtime_error(file + ": cannot be written");
    std::cout << "wrote " << file << "; edit it, then run `semel check-config " << file
              << "` and `semel serve --config " << file << "`\n";
}

} // namespace

void add_config_commands(CLI::App& tool) {
    const auto file = std::make_shared<std::string>("semel.toml");
    CLI::App& command = *tool.add_subcommand("config", "Begin a configuration file");
    command.require_subcommand(1);
    CLI::App* const make =
        command.add_subcommand("init", "Write an example with comments, for `semel serve`");
    make->add_option("file", *file, "the file, which must not exist; -: standard output")
        ->capture_default_str();
    make->callback([file] { init(*file); });
}

} // namespace semel::app
