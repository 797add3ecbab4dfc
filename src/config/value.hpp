// A configuration file as plain values, each with the place it came from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace semel::config {

struct member;

struct value {
    using list = std::vector<value>;
    using table = std::vector<member>;

    // Without an initialiser: a member holds a value and is not known yet.
    std::variant<bool, std::int64_t, double, std::string, list, table> is;
    std::string where = {}; // "semel.toml:12", "SEMEL_SERVER_LISTEN"
    // Variables hold text only: numbers, truth values and lists are then read from it.
    enum class form : std::uint8_t { typed, text } how = form::typed;
};

struct member {
    std::string name;
    value is;
};

// "an integer", "a table" …: what the value is, for messages.
[[nodiscard]] std::string_view kind_of(const value& what);

} // namespace semel::config
