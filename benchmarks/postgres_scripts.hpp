// What pgbench is given: the least that anybody could send for the same promise.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

namespace semel::bench {

struct postgres_scripts {
    // `known`: finished records in `idem`; transact uses the driver's tables.
    postgres_scripts(std::string_view table_prefix, std::size_t known);

    std::string tables;       // SQL that makes `orders` and `idem`,
    std::string records;      // and that fills the latter
    std::string two_commits;  // insert a record, update it
    std::string look_up;      // a finished record by its primary key
    std::string bare_order;   // BEGIN, the application's row, COMMIT
    std::string claim_update; // insert a record, the row, update the record: one transaction
    // The very statements of transact, travelling together as they do, with parameters where they
    // have some.
    std::string same_shape;
    std::string queued_shape; // with work that leaves its statement in the pipeline
    // Of transactions on a pool, several in a row: pgbench knows no others.
    static constexpr std::size_t pooled_together = 8;
    std::string pooled_shape;
    std::string pooled_queued_shape;
    std::map<std::string, std::string> parameters;
};

} // namespace semel::bench
