// The parameters of a request. Pure.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace semel::edge {

using parameters = std::map<std::string, std::string, std::less<>>;

// In a query that a form has made, a '+' is a blank and an empty field was left out.
enum class query_style : std::uint8_t { plain, form };

// The parameters, if all of them are known and each is there once; else a sentence that says what
// is wrong.
[[nodiscard]] std::variant<parameters, std::string>
read_parameters(std::string_view query, std::initializer_list<std::string_view> known,
                query_style style);

// Moves the value out. None if the parameter was not given.
[[nodiscard]] std::optional<std::string> take(parameters& from, std::string_view name);

} // namespace semel::edge
