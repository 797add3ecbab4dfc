// Where a search goes on, as text that can stand in a URL.
#pragma once

#include <string>
#include <string_view>

#include "semel/record.hpp"
#include "semel/result.hpp"

namespace semel {

[[nodiscard]] std::string cursor_of(const record_id& id);
[[nodiscard]] result<record_id> id_in_cursor(std::string_view cursor);

// errc::invalid_argument
[[nodiscard]] failure not_a_cursor();

} // namespace semel
