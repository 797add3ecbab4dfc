// Which records a subcommand is about.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "semel/search.hpp"
#include "semel/store.hpp"

namespace semel::app {

struct query_arguments {
    std::string tenant = {}, operation = {}, key = {};
    std::string key_prefix = {};
    std::string state = {}; // "", processing, succeeded, failed, stuck
    std::string ref = {};
    std::string stuck_for = {}; // a time
    std::string older = {}, newer = {};
};

void add_query_options(CLI::App& command, query_arguments& with);

// usage_error names the option. `now` is the store's.
[[nodiscard]] record_query query_of(const query_arguments& with, time_point now);

// Page after page, as many as there are or until `take` is false, of records whose keys begin so.
// Stores search for whole keys only, so all that fits the query is read. Throws as opened() does.
void for_each_page(store& records, record_query query, const std::string& key_prefix,
                   const std::function<bool(const record_page&)>& take);

struct id_arguments {
    std::string tenant, operation, key;

    [[nodiscard]] record_id id() const {
        return {.tenant = tenant, .operation = operation, .key = key};
    }
};
void add_id_options(CLI::App& command, id_arguments& with);

} // namespace semel::app
