// Where a search goes on, as text that can stand in a URL.
#pragma once

#include <string>
#include <string_view>

#include "semel/base/result.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel {

[[nodiscard]] std::string cursor_of(const record_id& id);
[[nodiscard]] result<record_id> id_in_cursor(std::string_view cursor);

// Among records in the order of their leases: those that end at the same time by their ids.
struct lease_place {
    time_point lease_until = time_point::min();
    record_id id = {};

    friend auto operator<=>(const lease_place&, const lease_place&) = default;
};

[[nodiscard]] std::string cursor_of(const lease_place& place);
[[nodiscard]] result<lease_place> place_in_cursor(std::string_view cursor);

// errc::invalid_argument
[[nodiscard]] failure not_a_cursor();

} // namespace semel
