#include "store_arguments.hpp"

#include "configuration.hpp"
#include "opened.hpp"
#include "url_argument.hpp"

namespace semel::app {

void add_store_options(CLI::App& command, store_arguments& with) {
    const std::string group = "Store";
    auto* const config =
        command.add_option("--config", with.config, "the file of `semel serve`, for its store");
    config->capture_default_str()->type_name("FILE")->group(group);
    auto* const store = command.add_option(
        "--store", with.store, std::string{"as in postgres://host/database"} + or_reference);
    store->type_name("URL")->group(group)->excludes(config);
    command.add_option("--prefix", with.prefix, "of the tables")
        ->capture_default_str()
        ->needs(store)
        ->group(group);
}

std::unique_ptr<opened_store> open_records(const store_arguments& with) {
    auto made = std::make_unique<opened_store>();
    if (with.store.empty()) {
        made->config = load_config(with.config);
    } else {
        made->config.store.url = {.written = with.store, .text = given_url("--store", with.store)};
        made->config.store.table_prefix = with.prefix;
    }
    made->config.store.cache_bytes = 0;
    made->records = opened(open_store(made->config.store, made->meters));
    return made;
}

time_point time_of(store& records) {
    const record_id nobody{.tenant = "semel", .operation = "ready", .key = "ready"};
    return opened(records.call(nobody, commands::lookup{})).now;
}

} // namespace semel::app
