// Records as the console's pages get them. Pure. Everything a client or an application has put into
// a record is given as text or bytes, never as anything that a page could take for its own.
#pragma once

#include <vector>

#include <nlohmann/json.hpp>

#include "edge/console/console.hpp"
#include "semel/core/record_machine.hpp"

namespace semel::edge {

using json = nlohmann::json;

// What a person wants to know first: "running", "lapsed" (the next caller runs it again),
// "in_doubt" (no caller does), else the state.
[[nodiscard]] std::string_view standing(const record& it, time_point now);

// One line of a list.
[[nodiscard]] json line_json(const found_record& from, time_point now);

struct record_details {
    const record_id& id;
    const record& it;
    const std::vector<audit_entry>& audit;
    http::result_form holds = http::result_form::unknown;
    time_point now = {};
};
[[nodiscard]] json details_json(const record_details& of);
[[nodiscard]] json audit_json(const std::vector<audit_entry>& all);

// {"text": …} where the bytes are UTF-8, else {"base64": …}; and how many there are.
[[nodiscard]] json bytes_json(std::string_view bytes);

} // namespace semel::edge
