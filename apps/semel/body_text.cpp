#include "body_text.hpp"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace semel::app {
namespace {

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_container(std::string_view text) {
    const std::size_t first = text.find_first_not_of(" \t\n\r");
    if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
    return nlohmann::json::accept(text);
}

// The end of the string that begins at `from`.
std::size_t string_end(std::string_view text, std::size_t from) {
    for (std::size_t at = from + 1; at < text.size(); ++at) {
        if (text[at] == '\\') {
            ++at;
        } else if (text[at] == '"') {
            return at + 1;
        }
    }
    return text.size();
}

// How many bytes the UTF-8 character at the front has, and which one it is; 0 bytes: none is there.
struct sign {
    std::size_t bytes = 0;
    std::uint32_t code = 0;
};

sign first_sign(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const auto lead = byte(0);
    if (lead < 0x80) return {1, lead};
    const std::size_t bytes = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || bytes > text.size()) return {};
    std::uint32_t code = lead & (0xffU >> (bytes + 1));
    for (std::size_t at = 1; at < bytes; ++at) {
        if ((byte(at) & 0xc0U) != 0x80U) return {};
        code = code << 6U | (byte(at) & 0x3fU);
    }
    constexpr std::uint32_t least[]{0, 0, 0x80, 0x800, 0x10000};
    const bool fine =
        code >= least[bytes] && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
    return fine ? sign{bytes, code} : sign{};
}

bool steers(std::uint32_t code) {
    if (code == '\n' || code == '\t') return false;
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool turns = code == 0x200e || code == 0x200f || code == 0x061c ||
                       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return control || turns;
}

} // namespace

std::string laid_out(std::string_view text) {
    if (!is_container(text)) return std::string{text};
    std::string made;
    std::size_t depth = 0;
    const auto line = [&] { made += "\n" + std::string(depth * 2, ' '); };
    bool opened = false; // a container, and nothing is in it yet
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (is_blank(c)) continue;
        const bool closes = c == '}' || c == ']';
        if (closes) --depth;
        if (opened != closes) line();
        opened = c == '{' || c == '[';
        if (opened) ++depth;
        if (c == '"') {
            const std::size_t end = string_end(text, at);
            made += text.substr(at, end - at);
            at = end - 1;
            continue;
        }
        made += c;
        if (c == ':') made += ' ';
        if (c == ',') line();
    }
    return made;
}

std::string harmless(std::string_view text) {
    std::string made;
    while (!text.empty()) {
        const auto [bytes, code] = first_sign(text);
        const std::size_t taken = bytes == 0 ? 1 : bytes;
        if (bytes == 0 || steers(code)) {
            for (const char c : text.substr(0, taken)) {
                made += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
            }
        } else {
            made += text.substr(0, taken);
        }
        text.remove_prefix(taken);
    }
    return made;
}

} // namespace semel::app
