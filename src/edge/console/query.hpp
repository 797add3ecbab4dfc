// The parameters of a console request, and what they ask for. Pure.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "semel/core/search.hpp"

namespace semel::edge {

using parameters = std::map<std::string, std::string, std::less<>>;

// Nothing but these, each once, not empty where given; else a sentence that says so.
[[nodiscard]] std::variant<parameters, std::string>
read_parameters(std::string_view query, std::initializer_list<std::string_view> known);

// tenant, operation, key, state (names, commas between them), result_ref, older, newer, lapsed_for,
// cursor, limit.
[[nodiscard]] std::variant<record_query, std::string> read_search(std::string_view query,
                                                                  time_point now);

// tenant, operation and key, all of them.
[[nodiscard]] std::variant<record_id, std::string> read_record_id(std::string_view query);
// The same the other way: what a link to the record's page holds. Bytes stay what they are.
[[nodiscard]] std::string to_query(const record_id& id);

} // namespace semel::edge
