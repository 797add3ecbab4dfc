#include "databases/postgres/store/batch_rows.hpp"

#include <algorithm>
#include <cctype>

namespace semel::postgres {

namespace {

constexpr std::string_view table = "rows q";
constexpr std::string_view qualifier = "q.";

bool has_fixed_size(type what) {
    return what != type::bytea && what != type::text;
}

std::string array(const batch_columns& columns, std::size_t at) {
    return "$" + std::to_string(at + 1) + "::" + std::string{name(columns[at].of)} + "[]";
}

// "unnest($1::bytea[], …) WITH ORDINALITY AS q (tenant, …, row)"
std::string source(const batch_columns& columns) {
    std::string arrays;
    std::string names;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (has_fixed_size(columns[i].of)) continue;
        arrays += (arrays.empty() ? "" : ", ") + array(columns, i);
        names += std::string{columns[i].name} + ", ";
    }
    return "unnest(" + arrays + ") WITH ORDINALITY AS q (" + names + "row)";
}

// What stands for `q.name`.
std::string value(const batch_columns& columns, std::string_view name) {
    const auto at = std::find_if(columns.begin(), columns.end(),
                                 [&](const auto& one) { return one.name == name; });
    if (at == columns.end() || !has_fixed_size(at->of)) return "q." + std::string{name};
    return "(" + array(columns, static_cast<std::size_t>(at - columns.begin())) + ")[q.row]";
}

bool in_a_name(char one) {
    return std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '_';
}

} // namespace

std::string with_rows(std::string_view text, const batch_columns& columns) {
    std::string made;
    for (std::size_t at = 0; at < text.size();) {
        const std::string_view rest = text.substr(at);
        const bool starts = at == 0 || !in_a_name(text[at - 1]);
        if (starts && rest.starts_with(table)) {
            made += source(columns);
            at += table.size();
        } else if (starts && rest.starts_with(qualifier)) {
            const auto end =
                std::find_if_not(rest.begin() + qualifier.size(), rest.end(), in_a_name);
            const auto size = static_cast<std::size_t>(end - rest.begin());
            made += value(columns, rest.substr(qualifier.size(), size - qualifier.size()));
            at += size;
        } else {
            made += text[at++];
        }
    }
    return made;
}

} // namespace semel::postgres
