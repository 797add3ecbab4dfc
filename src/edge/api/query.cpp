#include "edge/api/query.hpp"

#include <algorithm>

#include "edge/api/encoding.hpp"

namespace semel::edge {

std::variant<parameters, std::string> read_parameters(std::string_view query,
                                                      std::initializer_list<std::string_view> known,
                                                      query_style style) {
    const bool is_form = style == query_style::form;
    parameters found;
    while (!query.empty()) {
        const std::string_view one = query.substr(0, query.find('&'));
        query.remove_prefix(std::min(one.size() + 1, query.size()));
        const std::string name{one.substr(0, one.find('='))};
        if (std::find(known.begin(), known.end(), name) == known.end()) {
            return "the query has a parameter that is not known here";
        }
        if (is_form && one.size() <= name.size() + 1) continue;
        if (one.size() == name.size()) return name + " has no value";
        std::string text{one.substr(name.size() + 1)};
        if (is_form) std::replace(text.begin(), text.end(), '+', ' ');
        auto value = percent_decoded(text);
        if (!value) return name + " has a malformed escape";
        if (!found.emplace(name, *std::move(value)).second) return name + " is there twice";
    }
    return found;
}

std::optional<std::string> take(parameters& from, std::string_view name) {
    const auto at = from.find(name);
    if (at == from.end()) return std::nullopt;
    return std::move(at->second);
}

} // namespace semel::edge
