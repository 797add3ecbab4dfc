// Searching where records have an order: what the SQL drivers have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "semel/core/search.hpp"

namespace semel {

// Rows to be read, the lowest places first. The driver need not know the rest of the query: what it
// reads is judged by `matches`.
struct row_request {
    enum class path : std::uint8_t {
        ids,        // all between the bounds
        failed,     // those in a failed state, by its index; or as `ids`, where there is none
        result_ref, // those with the query's reference, by its index
        // Those that have lapsed for longer than stuck_for, the first that lapsed first. There may
        // be very many, so they are not sorted by their ids; nor are they bounded by them.
        stuck,
    };

    path by = path::ids;
    record_id from = {};
    record_id until = {};                       // not itself; not for `stuck`
    time_point leases_from = time_point::min(); // for `stuck`: `from` is among those of this time
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
