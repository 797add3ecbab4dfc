// Which records a subcommand is about.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "semel/core/search.hpp"
#include "semel/store.hpp"

namespace semel::app {

struct query_arguments {
    std::string tenant = {}, operation = {}, key = {};
    std::string key_prefix = {};
    std::string state = {}; // "", processing, lapsed, in-doubt, succeeded, failed
    std::string ref = {};
    std::string lapsed_for = {}; // a time
    std::string older = {}, newer = {};
};

void add_query_options(CLI::App& command, query_arguments& with);

// What a store is asked for, and what is then chosen from its answers: stores search for whole keys
// only, and do not tell what is in doubt from what else has lapsed.
struct record_choice {
    record_query query = {};
    std::string key_prefix = {};
    bool in_doubt_only = false;
    time_point now = {};

    [[nodiscard]] bool takes(const found_record& one) const;
};

// usage_error names the option. `now` is the store's.
[[nodiscard]] record_choice choice_of(const query_arguments& with, time_point now);

// Page after page, as many as there are or until `take` is false. Throws as opened() does.
void for_each_page(store& records, record_choice which,
                   const std::function<bool(const record_page&)>& take);

struct id_arguments {
    std::string tenant, operation, key;

    [[nodiscard]] record_id id() const {
        return {.tenant = tenant, .operation = operation, .key = key};
    }
};
void add_id_options(CLI::App& command, id_arguments& with);

} // namespace semel::app
