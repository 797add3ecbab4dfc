// A record as a row, and back.
#pragma once

#include <cstdint>
#include <optional>

#include "databases/postgres/client/binary.hpp"
#include "databases/postgres/client/connection.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record.hpp"

namespace semel::postgres {

void add_id(column_group& to, const record_id& id);

// The columns of record_columns, in their order. To a column_group or a value_row.
template <class Row> void add_record(Row& to, const record& it);

// Whether usual_columns say all of it, and they themselves.
[[nodiscard]] bool is_usual(const record& it);
void add_usual(value_row& to, const record& it);

enum class checkpoint_columns {
    behind, // two arrays behind the columns: names and data
    none,   // the record has as many empty checkpoints as the row says, to be filled in
};

// From the columns of record_columns. errc::corrupt if the row is not one this driver writes.
[[nodiscard]] result<record> read_record(const rows& from, int row, int first,
                                         checkpoint_columns which = checkpoint_columns::behind);

// The same from a whole row of the table as one value, without its checkpoints.
[[nodiscard]] result<record> read_record(std::string_view row);

} // namespace semel::postgres
