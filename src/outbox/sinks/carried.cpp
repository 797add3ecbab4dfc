#include "outbox/sinks/carried.hpp"

#include <algorithm>

namespace semel::outbox::carried {

namespace {

int hex_value(char digit) {
    if (digit >= '0' && digit <= '9') return digit - '0';
    if (digit >= 'a' && digit <= 'f') return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F') return digit - 'A' + 10;
    return -1;
}

// The byte that the `%XX` at this place stands for, or -1.
int escaped_at(std::string_view text, std::size_t at) {
    if (text[at] != '%' || at + 2 >= text.size()) return -1;
    const int high = hex_value(text[at + 1]);
    const int low = hex_value(text[at + 2]);
    return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void append_escaped(std::string& to, char one) {
    constexpr std::string_view hex = "0123456789ABCDEF";
    const auto code = static_cast<unsigned char>(one);
    to += '%';
    to += hex[code >> 4U];
    to += hex[code & 0x0FU];
}

template <class Plain> std::string escaped(std::string_view text, Plain plain) {
    std::string made;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (plain(at) && escaped_at(text, at) < 0) {
            made += text[at];
        } else {
            append_escaped(made, text[at]);
        }
    }
    return made;
}

bool is_token(char one) {
    constexpr std::string_view signs = "!#$%&'*+-.^_`|~";
    return (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z') || (one >= 'A' && one <= 'Z') ||
           signs.find(one) != std::string_view::npos;
}

char lower(char one) {
    return one >= 'A' && one <= 'Z' ? static_cast<char>(one - 'A' + 'a') : one;
}

bool same_name(std::string_view left, std::string_view right) {
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

bool is_trace(std::string_view name) {
    return same_name(name, header_traceparent) || same_name(name, header_tracestate);
}

} // namespace

std::string safe_name(const event_header& one) {
    if (is_trace(one.name)) return one.name;
    return std::string{header_prefix} +
           escaped(one.name, [&](std::size_t at) { return is_token(one.name[at]); });
}

// Blanks at either end would be taken for the line's own.
std::string safe_value(std::string_view value) {
    return escaped(value, [&](std::size_t at) {
        const char one = value[at];
        if (one == ' ') return at > 0 && at + 1 < value.size();
        return one > ' ' && one < '\x7F';
    });
}

std::string value_behind(std::string_view value) {
    std::string made;
    for (std::size_t at = 0; at < value.size(); ++at) {
        const int code = escaped_at(value, at);
        made += code < 0 ? value[at] : static_cast<char>(code);
        if (code >= 0) at += 2;
    }
    return made;
}

std::optional<event_header> header_behind(std::string_view name, std::string_view value) {
    if (is_trace(name)) return event_header{std::string{name}, value_behind(value)};
    if (!same_name(name.substr(0, header_prefix.size()), header_prefix)) return std::nullopt;
    return event_header{value_behind(name.substr(header_prefix.size())), value_behind(value)};
}

} // namespace semel::outbox::carried
