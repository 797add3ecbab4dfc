// JSON of somebody who may mean no good.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace semel::http {

// Discarded if it is not JSON, or nested deeper than anybody needs: to write or copy a value goes
// as deep as it is nested.
[[nodiscard]] inline nlohmann::json parse_bounded(std::string_view text) {
    constexpr int depth_max = 100;
    bool too_deep = false;
    const auto look = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
        too_deep = too_deep || depth > depth_max;
        return !too_deep;
    };
    nlohmann::json made = nlohmann::json::parse(text, look, false);
    return too_deep ? nlohmann::json(nlohmann::json::value_t::discarded) : made;
}

} // namespace semel::http
