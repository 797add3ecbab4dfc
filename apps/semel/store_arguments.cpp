#include "store_arguments.hpp"

#include <filesystem>

#include "configuration.hpp"
#include "opened.hpp"
#include "url_argument.hpp"

namespace semel::app {

CLI::Option* add_store_options(CLI::App& command, store_arguments& with) {
    const std::string group = "Store";
    auto* const config =
        command.add_option("--config", with.config, "the file of `semel serve`, for its store");
    config->capture_default_str()->type_name("FILE")->group(group);
    auto* const store = command.add_option(
        "--store", with.stores, std::string{"as in postgres://host/database"} + or_reference);
    store->expected(1)->allow_extra_args(false); // a word behind the URL is the command's own
    store->type_name("URL")->group(group)->excludes(config);
    command.add_option("--prefix", with.prefix, "of the tables; the URL's own goes first")
        ->capture_default_str()
        ->needs(store)
        ->group(group);
    return store;
}

config::config config_of(const store_arguments& with) {
    config::config made;
    if (!with.stores.empty()) {
        const std::string& written = with.stores.front();
        made.store.url = {.written = written, .text = given_url("--store", written)};
        made.store.options.table_prefix = with.prefix;
        return made;
    }
    if (with.config == store_arguments{}.config && !std::filesystem::exists(with.config)) {
        throw usage_error("name the store by --store URL, or by --config FILE: there is no " +
                          with.config + " here");
    }
    return load_config(with.config);
}

std::unique_ptr<opened_store> open_records(const store_arguments& with, open_mode mode) {
    auto made = std::make_unique<opened_store>();
    made->config = config_of(with);
    made->config.store.cache.bytes_max = 0;
    made->records = opened(open_store(made->config.store, made->meters, mode));
    return made;
}

std::vector<outbox_place> outboxes_of(const store_arguments& with) {
    std::vector<outbox_place> made;
    for (const std::string& one : with.stores) {
        made.push_back({.url = given_url("--store", one), .prefix = with.prefix});
    }
    if (!made.empty()) return made;
    const config::config from = config_of(with);
    if (!from.relays.empty() && !from.relays.front().store.text.empty()) {
        return {{.url = from.relays.front().store.text, .prefix = with.prefix}};
    }
    return {{.url = from.store.url.text, .prefix = from.store.options.table_prefix}};
}

time_point time_of(store& records) {
    const record_id absent{.tenant = "semel", .operation = "ready", .key = "ready"};
    return opened(records.call(absent, commands::lookup{})).now;
}

} // namespace semel::app
