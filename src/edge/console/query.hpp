// The parameters of a console request, and what they ask for. Pure.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "semel/core/record.hpp"
#include "semel/core/search.hpp"

namespace semel::edge {

// tenant, operation, key, state (names, commas between them), result_ref, older, newer, lapsed_for,
// cursor, limit.
[[nodiscard]] std::variant<record_query, std::string> read_search(std::string_view query,
                                                                  time_point now);

// tenant, operation and key, all of them.
[[nodiscard]] std::variant<record_id, std::string> read_record_id(std::string_view query);
// The same the other way: what a link to the record's page holds. Bytes stay what they are.
[[nodiscard]] std::string to_query(const record_id& id);

} // namespace semel::edge
