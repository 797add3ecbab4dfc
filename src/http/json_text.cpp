#include "http/json_text.hpp"

namespace semel::http {
namespace {

// Bytes of the UTF-8 character at the front, or 0 if there is none. Overlong forms, surrogates and
// values past U+10FFFF are none.
std::size_t character_size(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned first = byte(0);
    if (first < 0x80) return 1;
    const std::size_t size = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
    if (first < 0xC2 || first > 0xF4 || text.size() < size) return 0;
    for (std::size_t i = 1; i < size; ++i) {
        if ((byte(i) & 0xC0U) != 0x80) return 0;
    }
    const unsigned second = byte(1);
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F)) return 0;
    if ((first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F)) return 0;
    return size;
}

void append_control(std::string& json, char c) {
    constexpr std::string_view hex = "0123456789abcdef";
    const auto code = static_cast<unsigned char>(c);
    json.append("\\u00");
    json += hex[code >> 4U];
    json += hex[code & 0x0FU];
}

} // namespace

std::string json_quoted(std::string_view text) {
    std::string json = "\"";
    while (!text.empty()) {
        const std::size_t size = character_size(text);
        if (size == 0) {
            json.append("\xEF\xBF\xBD");
        } else if (text.front() == '"' || text.front() == '\\') {
            json.append(1, '\\').append(1, text.front());
        } else if (static_cast<unsigned char>(text.front()) < 0x20) {
            append_control(json, text.front());
        } else {
            json.append(text.substr(0, size));
        }
        text.remove_prefix(size == 0 ? 1 : size);
    }
    return json += '"';
}

} // namespace semel::http
