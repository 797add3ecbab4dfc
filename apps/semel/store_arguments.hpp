// Which store a subcommand works on: that of a configuration file, or a URL.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "config/config.hpp"
#include "semel/store.hpp"
#include "wiring.hpp"

namespace semel::app {

struct store_arguments {
    std::string config = "semel.toml";
    std::vector<std::string> stores = {}; // empty: the configuration's
    std::string prefix = "semel_";
};

// Returns --store, which may be given once. For commands that take several it can be changed.
CLI::Option* add_store_options(CLI::App& command, store_arguments& with);

// The configuration, or one of the URL alone. Throws as load_config() does.
[[nodiscard]] config::config config_of(const store_arguments& with);

struct opened_store {
    config::config config = {};
    store_meters meters = {};
    std::unique_ptr<semel::store> records = {}; // never cached: operators want what is there
};

// The store must be there already: a mistyped name makes none. Throws as load_config() and
// opened() do.
[[nodiscard]] std::unique_ptr<opened_store> open_records(const store_arguments& with,
                                                         open_mode mode = open_mode::existing);

// Where the tables of an outbox are.
struct outbox_place {
    std::string url;
    std::string prefix;
};

// Every --store, or the outbox of the configuration's first relay, as in the console; without a
// relay that of its store. Throws as load_config() does.
[[nodiscard]] std::vector<outbox_place> outboxes_of(const store_arguments& with);

// The store's own clock.
[[nodiscard]] time_point time_of(store& records);

} // namespace semel::app
