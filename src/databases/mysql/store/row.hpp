// A record from its row.
#pragma once

#include <cstdint>

#include "databases/mysql/client/connection.hpp"
#include "databases/mysql/client/literal.hpp"
#include "semel/base/result.hpp"
#include "semel/core/record.hpp"

namespace semel::mysql {

void add_id(row_buffer& to, const record_id& id);

// The version of a row that is written. No other write of any process draws the same number, so a
// row that carries it was written by this one. The numbers behind it are as good.
[[nodiscard]] std::int64_t new_row_version();

// A record without its checkpoints, and how many it has.
struct record_row {
    record it = {};
    std::size_t checkpoints = 0;
    std::size_t read = 0; // of them
    bool sound = true;    // those that were read have a place
};

// From the columns of record_columns. errc::corrupt if the row is not one this driver writes.
[[nodiscard]] result<record_row> read_record_row(const rows& from, int first);

// One of its checkpoints: position, name and data; or nothing, where there is none.
void read_checkpoint(const rows& from, int first, record_row& to);
// When all have been read. errc::corrupt where one is missing.
[[nodiscard]] result<record> whole_record(record_row from);

// errc::limit_exceeded where a part of it does not fit its column.
[[nodiscard]] result<void> check_size(const record_id& id);

} // namespace semel::mysql
