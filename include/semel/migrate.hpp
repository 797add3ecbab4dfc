// The report about creating and upgrading the tables of a store. migrate() itself is in open.hpp.
#pragma once

#include <cstdint>
#include <string>

namespace semel {

enum class migrate_mode {
    run,
    dry_run, // reads the present version and writes nothing
};

struct migration_report {
    std::int64_t from = 0; // version of the tables before; 0: there were none
    std::int64_t to = 0;
    std::string sql = {}; // what was run, or would be; empty when everything is up to date
};

} // namespace semel
