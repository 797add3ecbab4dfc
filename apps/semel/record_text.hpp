// Records as people and programs read them.
#pragma once

#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "semel/core/record_machine.hpp"
#include "semel/core/search.hpp"

namespace semel::app {

// Bytes that are no printable ASCII become \xNN: a key may hold anything, a terminal must not.
[[nodiscard]] std::string printable(std::string_view bytes);

// "2026-01-31T12:00:00.123456Z"; "" for none.
[[nodiscard]] std::string time_text(time_point when);
// "350ms", "12s", "5m", "3h", "2d": the largest unit that fits.
[[nodiscard]] std::string age_text(duration length);

// Texts that are not UTF-8 go under "<name>_base64".
[[nodiscard]] nlohmann::ordered_json to_json(const found_record& one, time_point now,
                                             result_bodies bodies);
[[nodiscard]] nlohmann::ordered_json to_json(const audit_entry& one);

// Columns as wide as their widest cell; the first row is the head.
void print_table(std::ostream& to, const std::vector<std::vector<std::string>>& rows);
[[nodiscard]] std::vector<std::vector<std::string>> table_of(const std::vector<found_record>& all,
                                                             time_point now);
void print_details(std::ostream& to, const found_record& one, const std::vector<audit_entry>& audit,
                   time_point now);

} // namespace semel::app
