// One key of the configuration, bound to the place its value goes to. Everything about a key (type,
// default, meaning, how it is read and shown) is said once, here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/surroundings.hpp"
#include "config/value.hpp"
#include "semel/base/time.hpp"

namespace semel::config {

// What is wrong with a value and what is allowed, or nothing.
using complaint = std::optional<std::string>;

struct field {
    std::string name;
    std::string type;
    std::string meaning;
    std::function<complaint(const value& from, const surroundings& around)> take;
    std::function<std::string()> shown; // as TOML, without secrets
};

using fields = std::vector<field>;

// A name, and what to say about it.
struct key {
    std::string name;
    std::string meaning;
};

// Whether a number or time may be zero; what zero means is in the key's meaning.
enum class zero : std::uint8_t { refused, allowed };

[[nodiscard]] field text_field(key about, std::string& to);
// The path of a file, of which a relative one begins at the folder of the configuration.
[[nodiscard]] field path_field(key about, std::string& to);
[[nodiscard]] field texts_field(key about, std::vector<std::string>& to);
[[nodiscard]] field flag_field(key about, bool& to);
// A number of percent, kept as a share of one.
[[nodiscard]] field percent_field(key about, double& to);
[[nodiscard]] field duration_field(key about, duration& to, zero none = zero::refused);
[[nodiscard]] field size_field(key about, std::size_t& to, zero none = zero::refused);
// A text that may be written as "file:/path" or "env:NAME"; shown as written, a password in a URL
// left out.
[[nodiscard]] field url_field(key about, secret& to);

namespace detail {
[[nodiscard]] std::variant<std::int64_t, std::string> whole_number(const value& from);
[[nodiscard]] std::variant<std::string, complaint> one_text(const value& from);
[[nodiscard]] complaint take_flag(const value& from, bool& to);
[[nodiscard]] std::string quoted(std::string_view text);
[[nodiscard]] std::string listed(const std::vector<std::string>& texts);
} // namespace detail

template <class Number>
[[nodiscard]] field count_field(key about, Number& to, zero none = zero::refused) {
    auto take = [&to, none](const value& from, const surroundings&) -> complaint {
        const auto got = detail::whole_number(from);
        if (const auto* wrong = std::get_if<std::string>(&got)) return *wrong;
        const auto number = std::get<std::int64_t>(got);
        const auto most = static_cast<std::int64_t>(std::numeric_limits<std::int32_t>::max());
        if (number < (none == zero::allowed ? 0 : 1) || number > most) {
            return "must be a number from " + std::to_string(none == zero::allowed ? 0 : 1) +
                   " to " + std::to_string(most);
        }
        to = static_cast<Number>(number);
        return std::nullopt;
    };
    return {std::move(about.name), "number", std::move(about.meaning), std::move(take),
            [&to] { return std::to_string(to); }};
}

// A flag for one of two values.
template <class Enum> [[nodiscard]] field flag_field(key about, Enum& to, Enum no, Enum yes) {
    bool ignored = false;
    field made = flag_field(std::move(about), ignored);
    made.take = [&to, no, yes](const value& from, const surroundings&) -> complaint {
        bool truth = false;
        if (auto wrong = detail::take_flag(from, truth)) return wrong;
        return to = truth ? yes : no, std::nullopt;
    };
    made.shown = [&to, yes] { return std::string{to == yes ? "true" : "false"}; };
    return made;
}

template <class Enum> struct choice {
    std::string_view name;
    Enum is;
};

template <class Enum>
[[nodiscard]] field choice_field(key about, Enum& to, std::vector<choice<Enum>> choices) {
    std::vector<std::string> names;
    for (const auto& one : choices) names.push_back(detail::quoted(one.name));
    std::string type;
    for (const auto& one : names) type += (type.empty() ? "" : ", ") + one;
    auto shown = [&to, choices]() -> std::string {
        for (const auto& one : choices) {
            if (one.is == to) return detail::quoted(one.name);
        }
        return detail::quoted("");
    };
    auto take = [&to, choices, type](const value& from, const surroundings&) -> complaint {
        const auto got = detail::one_text(from);
        if (const auto* text = std::get_if<std::string>(&got)) {
            for (const auto& one : choices) {
                if (one.name == *text) return to = one.is, std::nullopt;
            }
        }
        return "must be one of " + type;
    };
    return {std::move(about.name), std::move(type), std::move(about.meaning), std::move(take),
            std::move(shown)};
}

} // namespace semel::config
