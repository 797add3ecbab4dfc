#include "choices.hpp"

#include <algorithm>

namespace semel::app {
namespace {

constexpr char between = '|';

std::string joined(const std::vector<std::string>& words, const std::string& with) {
    std::string made;
    for (const std::string& one : words) made += (made.empty() ? "" : with) + one;
    return made;
}

} // namespace

CLI::Option* one_of(CLI::Option* option, const std::vector<std::string>& words) {
    const auto complain = [words](const std::string& given) {
        const bool known = std::find(words.begin(), words.end(), given) != words.end();
        return known ? std::string{} : "must be one of " + joined(words, ", ");
    };
    return option->type_name(joined(words, std::string{between}))->check(complain);
}

std::vector<std::string> words_of(const CLI::Option& option) {
    const std::string names = option.get_type_name();
    if (names.find(between) == std::string::npos) return {};
    return CLI::detail::split(names, between);
}

} // namespace semel::app
