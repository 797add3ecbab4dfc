// Searching a keyspace that has no order: SCAN, and a look at what it finds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "databases/redis/store/backend.hpp"
#include "semel/core/search.hpp"

namespace semel::redis {

// The record ids of one SCAN, and where the next one goes on; "0": nowhere.
struct scanned {
    std::string cursor = {};
    std::vector<record_id> ids = {};
};

[[nodiscard]] result<scanned> scan(shared_link& on, std::string_view prefix,
                                   std::string_view cursor);

struct search_tools {
    shared_link& on;
    std::string_view prefix;
    backend& lookups;
};

// A bounded number of SCANs. A cursor is "<from>-<to>-<id>": the SCAN that the page ended in the
// middle of, where that one ended, and the last id of it that was looked at.
[[nodiscard]] result<record_page> search(const search_tools& with, const record_query& query);

} // namespace semel::redis
