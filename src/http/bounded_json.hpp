// JSON from untrusted clients: its depth and its number of values are bounded before a tree is made
// of it.
#pragma once

#include <cstddef>
#include <string_view>

#include <nlohmann/json.hpp>

namespace semel::http {

struct json_bounds {
    // To write, copy or destroy a value may go as deep as it is nested.
    std::size_t depth_max = 100;
    // A value takes up to 160 bytes of memory, and up to three characters of text at the least.
    std::size_t values_max = 100'000;
};

// Discarded if it is not JSON, or beyond the bounds. Takes time in proportion to the text; without
// memory for what is beyond the bounds.
[[nodiscard]] nlohmann::json parse_bounded(std::string_view text, const json_bounds& bounds = {});

// The same bounds alone, of a text that need not be JSON. An empty array or object counts as two
// values.
[[nodiscard]] bool is_within(const json_bounds& bounds, std::string_view text);

} // namespace semel::http
