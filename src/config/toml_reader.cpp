#include "config/toml_reader.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace semel::config {
namespace {

std::string place(const std::string& name, const toml::source_position& at) {
    return name + ":" + std::to_string(at.line);
}

value converted(const toml::node& from, const std::string& name);

// In the order of the file, so that messages come in that order too.
value::table converted_table(const toml::table& from, const std::string& name) {
    std::vector<std::pair<toml::source_position, member>> found;
    for (const auto& [key, node] : from) {
        found.push_back({key.source().begin, {std::string{key.str()}, converted(node, name)}});
        found.back().second.is.where = place(name, key.source().begin);
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::pair{a.first.line, a.first.column} < std::pair{b.first.line, b.first.column};
    });
    value::table made;
    for (auto& one : found) made.push_back(std::move(one.second));
    return made;
}

value::list converted_list(const toml::array& from, const std::string& name) {
    value::list made;
    for (const toml::node& node : from) made.push_back(converted(node, name));
    return made;
}

value converted(const toml::node& from, const std::string& name) {
    value made;
    made.where = place(name, from.source().begin);
    if (const auto* table = from.as_table()) {
        made.is = converted_table(*table, name);
    } else if (const auto* list = from.as_array()) {
        made.is = converted_list(*list, name);
    } else if (const auto* text = from.as_string()) {
        made.is = text->get();
    } else if (const auto* whole = from.as_integer()) {
        made.is = whole->get();
    } else if (const auto* truth = from.as_boolean()) {
        made.is = truth->get();
    } else {
        // Fractions; dates and times have no use here either and are refused as such.
        made.is = from.value<double>().value_or(0.0);
    }
    return made;
}

} // namespace

std::variant<value::table, syntax_error> read_toml(std::string_view text, const std::string& name) {
    try {
        return converted_table(toml::parse(text), name);
    } catch (const toml::parse_error& wrong) {
        std::string why{wrong.description()};
        std::replace(why.begin(), why.end(), '\n', ' ');
        return syntax_error{place(name, wrong.source().begin) + ": " + why};
    }
}

} // namespace semel::config
