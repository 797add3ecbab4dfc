#include "semel/http/message.hpp"

#include <algorithm>

namespace semel::http {
namespace {

constexpr std::size_t trace_digits = 32;
constexpr std::size_t parent_digits = 16;

bool is_hex(std::string_view text) {
    return std::all_of(text.begin(), text.end(),
                       [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) {
    return is_hex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

} // namespace

// version "-" trace "-" parent "-" flags; a version after 00 may say more.
std::string_view trace_of(const header_list& headers) {
    constexpr std::size_t length = 2 + 1 + trace_digits + 1 + parent_digits + 1 + 2;
    const std::string* const found = headers.find("traceparent");
    // If there are two lines, an untrusted client may have sent one of them.
    if (found == nullptr || headers.count("traceparent") != 1) return {};
    const std::string_view text = *found;
    if (text.size() < length || (text.size() > length && text[length] != '-')) return {};
    const std::string_view version = text.substr(0, 2);
    if (!is_hex(version) || version == "ff") return {};
    if (version == "00" && text.size() != length) return {};
    const std::string_view trace = text.substr(3, trace_digits);
    const std::string_view parent = text.substr(4 + trace_digits, parent_digits);
    const bool dashes = text[2] == '-' && text[3 + trace_digits] == '-' &&
                        text[4 + trace_digits + parent_digits] == '-';
    const bool flags = is_hex(text.substr(length - 2, 2));
    return dashes && flags && is_id(trace) && is_id(parent) ? trace : std::string_view{};
}

} // namespace semel::http
