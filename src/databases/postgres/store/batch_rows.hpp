// The rows of a batch as a statement sees them: arrays, one for each column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "databases/postgres/client/binary.hpp"

namespace semel::postgres {

struct column_definition {
    std::string_view name;
    type of;
};

// The statement's parameters, in this order.
using batch_columns = std::vector<column_definition>;

// `text` is written as if there were a table `rows` with these columns, and `row`, which counts
// from 1; it calls that `rows q`, and its columns `q.key`.
//
// Only what has no fixed size goes through unnest(), which copies every single value twice, and
// there must be one such column that is never null. The others are taken out of their arrays by the
// row's number.
[[nodiscard]] std::string with_rows(std::string_view text, const batch_columns& columns);

} // namespace semel::postgres
