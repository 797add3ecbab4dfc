// Searching where records lie in the order of their ids: what the SQL drivers have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "semel/search.hpp"

namespace semel {

// Rows to be read, the lowest ids first. The driver need not know the rest of the query: what it
// reads is judged by `matches`.
struct row_request {
    // A driver without an index for one of them may read by ids instead.
    enum class path : std::uint8_t {
        ids,        // all between the bounds
        failed,     // those in a failed state, by its index
        result_ref, // those with the query's reference, by its index
        stuck,      // those that have lapsed for longer than stuck_for, by theirs
    };

    path by = path::ids;
    record_id from = {};
    record_id until = {}; // not itself
    std::size_t most = 0;
};

struct rows_read {
    std::vector<found_record> rows = {};
    time_point now = {}; // of the store; any, where there are no rows
};

using row_reading = std::function<result<rows_read>(const row_request&)>;

// Reads until the page is full, the rows are at their end, or a bounded number has been read.
[[nodiscard]] result<record_page> search_rows(const record_query& query, const row_reading& read);

} // namespace semel
