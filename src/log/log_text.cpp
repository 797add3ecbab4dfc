#include "log/log_text.hpp"

#include "base/utf8.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <iterator>
#include <type_traits>
#include <variant>

namespace semel {

namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD"; // U+FFFD

unsigned byte_at(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]);
}

void append_ascii(std::string& line, char one) {
    switch (one) {
    case '"': line += "\\\""; return;
    case '\\': line += "\\\\"; return;
    case '\n': line += "\\n"; return;
    case '\r': line += "\\r"; return;
    case '\t': line += "\\t"; return;
    default: break;
    }
    const auto code = static_cast<unsigned char>(one);
    if (code < 0x20 || code == 0x7F) {
        fmt::format_to(std::back_inserter(line), "\\u{:04x}", code);
    } else {
        line += one;
    }
}

// C1 controls (U+0080–U+009F) can drive a terminal as well as the ASCII ones.
bool is_c1(std::string_view character) {
    return character.size() == 2 && character[0] == '\xC2' && byte_at(character, 1) < 0xA0;
}

void append_escaped(std::string& line, std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = utf8_length(text);
        const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
        if (length == 0) {
            line += replacement;
        } else if (length == 1) {
            append_ascii(line, character[0]);
        } else if (is_c1(character)) {
            fmt::format_to(std::back_inserter(line), "\\u{:04x}", byte_at(character, 1));
        } else {
            line += character;
        }
        text.remove_prefix(character.size());
    }
}

// Without quotes if a reader cannot take the value for something else.
void append_pretty_text(std::string& line, std::string_view text) {
    const auto plain = [](char one) {
        return one > ' ' && one < '\x7F' && one != '"' && one != '=';
    };
    if (!text.empty() && std::all_of(text.begin(), text.end(), plain)) {
        append_escaped(line, text);
    } else {
        append_json_string(line, text);
    }
}

template <class Text> void append_value(std::string& line, const log_value& value, Text as_text) {
    std::visit(
        [&](const auto& one) {
            using type = std::decay_t<decltype(one)>;
            if constexpr (std::same_as<type, std::string_view>) {
                as_text(line, one);
            } else if constexpr (std::same_as<type, double>) {
                // JSON has no number for these.
                if (!std::isfinite(one)) return as_text(line, fmt::format("{}", one));
                fmt::format_to(std::back_inserter(line), "{}", one);
            } else {
                fmt::format_to(std::back_inserter(line), "{}", one);
            }
        },
        value.get());
}

} // namespace

void append_json_string(std::string& line, std::string_view text) {
    line += '"';
    append_escaped(line, text);
    line += '"';
}

std::string json_members(std::string_view message, std::span<const log_field> fields) {
    std::string line = "\"message\":";
    append_json_string(line, message);
    if (fields.empty()) return line;
    line += ",\"fields\":";
    char separator = '{';
    for (const auto& field : fields) {
        line += separator;
        append_json_string(line, field.name);
        line += ':';
        append_value(line, field.value, append_json_string);
        separator = ',';
    }
    line += '}';
    return line;
}

std::string pretty_text(std::string_view message, std::span<const log_field> fields) {
    std::string line;
    append_escaped(line, message);
    for (const auto& field : fields) {
        line += ' ';
        append_pretty_text(line, field.name);
        line += '=';
        append_value(line, field.value, append_pretty_text);
    }
    return line;
}

} // namespace semel
