#include "config/field.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

#include "base/units.hpp"
#include "net/in_folder.hpp"
#include "net/shown_url.hpp"
#include "semel/core/policy.hpp"

namespace semel::config {

std::string_view kind_of(const value& what) {
    static constexpr std::string_view kinds[] = {
        "a truth value", "an integer", "a fraction or date", "a text", "a list", "a table"};
    return kinds[what.is.index()];
}

namespace detail {

std::variant<std::int64_t, std::string> whole_number(const value& from) {
    if (const auto* number = std::get_if<std::int64_t>(&from.is)) return *number;
    if (const auto* text = std::get_if<std::string>(&from.is);
        text != nullptr && from.how == value::form::text) {
        if (const auto number = parse_count(*text)) return *number;
    }
    return "must be a whole number, not " + std::string{kind_of(from)};
}

std::variant<std::string, complaint> one_text(const value& from) {
    if (const auto* text = std::get_if<std::string>(&from.is)) return *text;
    return complaint{"must be a text, not " + std::string{kind_of(from)}};
}

complaint take_flag(const value& from, bool& to) {
    if (const auto* truth = std::get_if<bool>(&from.is)) return to = *truth, std::nullopt;
    const auto* text = std::get_if<std::string>(&from.is);
    const bool loose = text != nullptr && from.how == value::form::text;
    if (loose && (*text == "true" || *text == "false")) return to = *text == "true", std::nullopt;
    return "must be true or false, not " + std::string{kind_of(from)};
}

std::string quoted(std::string_view text) {
    std::string made = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            made += '\\';
            made += c;
        } else if (static_cast<unsigned char>(c) < ' ' || c == '\x7F') {
            char escape[8];
            std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(c) & 0xFFU);
            made += escape;
        } else {
            made += c;
        }
    }
    return made + "\"";
}

std::string listed(const std::vector<std::string>& texts) {
    std::string made;
    for (const auto& one : texts) made += (made.empty() ? "" : ", ") + quoted(one);
    return "[" + made + "]";
}

} // namespace detail

namespace {

std::vector<std::string> split_at_commas(std::string_view text) {
    std::vector<std::string> parts;
    while (!text.empty()) {
        const auto comma = std::min(text.find(','), text.size());
        auto part = text.substr(0, comma);
        while (part.starts_with(' ')) part.remove_prefix(1);
        while (part.ends_with(' ')) part.remove_suffix(1);
        if (!part.empty()) parts.emplace_back(part);
        text.remove_prefix(std::min(comma + 1, text.size()));
    }
    return parts;
}

complaint take_texts(const value& from, std::vector<std::string>& to) {
    if (const auto* text = std::get_if<std::string>(&from.is);
        text != nullptr && from.how == value::form::text) {
        return to = split_at_commas(*text), std::nullopt;
    }
    const auto* list = std::get_if<value::list>(&from.is);
    if (list == nullptr) return "must be a list of texts, not " + std::string{kind_of(from)};
    std::vector<std::string> texts;
    for (const value& one : *list) {
        const auto* text = std::get_if<std::string>(&one.is);
        if (text == nullptr) return "must be a list of texts; one is " + std::string{kind_of(one)};
        texts.push_back(*text);
    }
    return to = std::move(texts), std::nullopt;
}

complaint take_duration(const value& from, duration& to, zero none) {
    const auto* text = std::get_if<std::string>(&from.is);
    const auto parsed = text != nullptr ? parse_duration(*text) : std::nullopt;
    if (!parsed) return R"(must be a duration such as "500ms", "30s", "1h30m" or "7d")";
    if (none == zero::refused && *parsed == duration::zero()) return "must be more than zero";
    if (*parsed > limits{}.duration_max) return "must be at most 3660d";
    return to = *parsed, std::nullopt;
}

complaint take_size(const value& from, std::size_t& to, zero none) {
    std::optional<std::size_t> parsed;
    if (const auto* text = std::get_if<std::string>(&from.is)) parsed = parse_size(*text);
    if (const auto number = detail::whole_number(from); !parsed && number.index() == 0) {
        const auto bytes = std::get<0>(number);
        if (bytes >= 0) parsed = static_cast<std::size_t>(bytes);
    }
    if (!parsed) return R"(must be a size such as 4096, "64KiB", "8MiB" or "1GiB")";
    if (none == zero::refused && *parsed == 0) return "must be more than zero";
    return to = *parsed, std::nullopt;
}

complaint take_url(const value& from, secret& to, const surroundings& around) {
    const auto got = detail::one_text(from);
    if (const auto* wrong = std::get_if<complaint>(&got)) return *wrong;
    std::string written = in_folder(std::get<std::string>(got), around);
    auto text = is_reference(written) ? look_up(written, around) : result<std::string>{written};
    if (!text) return text.error().detail;
    const std::string url = net::url_in_folder(*text, around.folder);
    if (!is_reference(written)) written = url;
    return to = {written, url}, std::nullopt;
}

} // namespace

field text_field(key about, std::string& to) {
    auto take = [&to](const value& from, const surroundings&) -> complaint {
        const auto got = detail::one_text(from);
        if (const auto* wrong = std::get_if<complaint>(&got)) return *wrong;
        return to = std::get<std::string>(got), std::nullopt;
    };
    return {std::move(about.name), "text", std::move(about.meaning), std::move(take),
            [&to] { return detail::quoted(to); }};
}

field path_field(key about, std::string& to) {
    field made = text_field(std::move(about), to);
    made.type = "path";
    made.take = [&to, read = made.take](const value& from, const surroundings& around) {
        auto wrong = read(from, around);
        if (!wrong && !to.empty()) to = net::path_in_folder(to, around.folder);
        return wrong;
    };
    return made;
}

field texts_field(key about, std::vector<std::string>& to) {
    return {std::move(about.name), "list of texts", std::move(about.meaning),
            [&to](const value& from, const surroundings&) { return take_texts(from, to); },
            [&to] { return detail::listed(to); }};
}

field flag_field(key about, bool& to) {
    return {std::move(about.name), "true or false", std::move(about.meaning),
            [&to](const value& from, const surroundings&) { return detail::take_flag(from, to); },
            [&to] { return std::string{to ? "true" : "false"}; }};
}

field percent_field(key about, double& to) {
    auto percent = std::make_shared<std::size_t>(); // shared by the copies of the field
    field made = count_field(std::move(about), *percent);
    made.take = [&to, percent, read = made.take](const value& from, const surroundings& around) {
        auto wrong = read(from, around);
        if (!wrong) to = static_cast<double>(*percent) / 100;
        return wrong;
    };
    made.shown = [&to] { return std::to_string(std::lround(to * 100)); };
    return made;
}

field duration_field(key about, duration& to, zero none) {
    return {std::move(about.name), "duration", std::move(about.meaning),
            [&to, none](const value& from, const surroundings&) {
                return take_duration(from, to, none);
            },
            [&to] { return detail::quoted(show_duration(to)); }};
}

field size_field(key about, std::size_t& to, zero none) {
    return {
        std::move(about.name), "size", std::move(about.meaning),
        [&to, none](const value& from, const surroundings&) { return take_size(from, to, none); },
        [&to] { return detail::quoted(show_size(to)); }};
}

field url_field(key about, secret& to) {
    return {
        std::move(about.name), "URL", std::move(about.meaning),
        [&to](const value& from, const surroundings& around) { return take_url(from, to, around); },
        [&to] {
            const bool reference = is_reference(to.written) && to.written != to.text;
            return detail::quoted(reference ? to.written : net::shown_url(to.written));
        }};
}

} // namespace semel::config
