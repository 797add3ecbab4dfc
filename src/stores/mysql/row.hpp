// A record from its row.
#pragma once

#include "semel/record.hpp"
#include "semel/result.hpp"
#include "stores/mysql/connection.hpp"
#include "stores/mysql/literal.hpp"

namespace semel::mysql {

void add_id(row_buffer& to, const record_id& id);

// A record without its checkpoints, and how many it has.
struct record_row {
    record it = {};
    std::size_t checkpoints = 0;
};

// From the columns of record_columns. errc::corrupt if the row is not one this driver writes.
[[nodiscard]] result<record_row> read_record_row(const rows& from, int first);

// The same with its checkpoints, whose text is in the column behind.
[[nodiscard]] result<record> read_record(const rows& from, int first);

// "AB:CD,…": name and data of each in hex, in their order. False if the text is something else.
[[nodiscard]] bool read_checkpoints(std::string_view text, std::vector<checkpoint>& to);

// errc::limit_exceeded where a part of it does not fit its column.
[[nodiscard]] result<void> check_size(const record_id& id);

} // namespace semel::mysql
