// TOML text as values. The only part that knows the parser.
#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "config/value.hpp"

namespace semel::config {

struct syntax_error {
    std::string text; // "semel.toml:3: …"
};

[[nodiscard]] std::variant<value::table, syntax_error> read_toml(std::string_view text,
                                                                 const std::string& name);

} // namespace semel::config
