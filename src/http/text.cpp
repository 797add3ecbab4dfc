#include "http/text.hpp"

#include <algorithm>
#include <charconv>

namespace semel::http {

bool is_token(std::string_view text) {
    return !text.empty() &&
           std::all_of(text.begin(), text.end(), [](char c) { return is_token_char(c); });
}

bool is_value(std::string_view text) {
    return std::all_of(text.begin(), text.end(), [](char c) { return is_value_char(c); });
}

std::string lowered(std::string_view text) {
    std::string low{text};
    std::transform(low.begin(), low.end(), low.begin(), to_lower);
    return low;
}

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view blanks = " \t";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::uint64_t> to_number(std::string_view digits) {
    std::uint64_t number = 0;
    const char* const end = digits.data() + digits.size();
    // from_chars takes a sign only for signed types.
    const auto [stopped, error] = std::from_chars(digits.data(), end, number);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return number;
}

std::string_view take_until_unquoted(std::string_view& rest, char separator) {
    bool quoted = false;
    std::size_t at = 0;
    for (; at < rest.size() && (quoted || rest[at] != separator); ++at) {
        if (rest[at] == '"') quoted = !quoted;
        if (quoted && rest[at] == '\\') ++at;
    }
    at = std::min(at, rest.size());
    const std::string_view taken = rest.substr(0, at);
    rest.remove_prefix(std::min(at + 1, rest.size()));
    return taken;
}

} // namespace semel::http
