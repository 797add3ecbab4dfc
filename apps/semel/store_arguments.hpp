// Which store a subcommand works on: that of a configuration file, or a URL.
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "config/config.hpp"
#include "semel/store.hpp"
#include "wiring.hpp"

namespace semel::app {

struct store_arguments {
    std::string config = "semel.toml";
    std::string store = {}; // empty: the configuration's
    std::string prefix = "semel_";
};

void add_store_options(CLI::App& command, store_arguments& with);

struct opened_store {
    config::config config = {};
    store_meters meters = {};
    std::unique_ptr<semel::store> records = {}; // never cached: operators want what is there
};

// Throws as load_config() and opened() do.
[[nodiscard]] std::unique_ptr<opened_store> open_records(const store_arguments& with);

// The store's own clock.
[[nodiscard]] time_point time_of(store& records);

} // namespace semel::app
