#include "semel/http/key_header.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "http/structured_field.hpp"
#include "http/text.hpp"
#include "semel/fingerprint.hpp"

namespace semel::http {
namespace {

// See read_key for the comma and the semicolon; a quote or backslash would need unescaping.
constexpr bool is_bare_char(char c) {
    return is_visible(c) && c != '"' && c != '\\' && c != ',' && c != ';';
}

bool is_bare(std::string_view text) {
    return std::all_of(text.begin(), text.end(), is_bare_char);
}

std::optional<std::string> parse_key(std::string_view value, key_form form) {
    const std::string_view text = trimmed(value);
    const bool quoted = !text.empty() && text.front() == '"';
    if (quoted || form == key_form::strict) return parse_sf_string(value);
    if (!is_bare(text)) return std::nullopt;
    return std::string{text};
}

refused_key malformed(key_form form) {
    return {.fault = key_fault::malformed,
            .detail = form == key_form::strict
                          ? "the key must be one string in double quotes, of printable ASCII"
                          : "the key must be one string of printable ASCII, in double quotes if it "
                            "holds blanks, quotes, backslashes, commas or semicolons"};
}

key_reading checked(std::string key, const header& line, const key_options& options) {
    if (key.empty()) return refused_key{key_fault::empty, "the key is empty"};
    if (key.size() < options.bytes_min) {
        return refused_key{key_fault::too_short, "the key must have at least " +
                                                     std::to_string(options.bytes_min) + " bytes"};
    }
    if (key.size() > options.bytes_max) {
        return refused_key{key_fault::too_long, "the key may have at most " +
                                                    std::to_string(options.bytes_max) + " bytes"};
    }
    return sent_key{.key = std::move(key), .header = line.name, .text = line.value};
}

bool names_key(const header& line, const key_options& options) {
    return std::any_of(
        options.headers.begin(), options.headers.end(),
        [&](const std::string& name) { return equal_ignoring_case(line.name, name); });
}

} // namespace

key_reading read_key(const header_list& headers, const key_options& options) {
    const header* found = nullptr;
    for (const header& line : headers) {
        if (!names_key(line, options)) continue;
        if (found != nullptr) return refused_key{key_fault::repeated, "the key was sent twice"};
        found = &line;
    }
    if (found == nullptr) return no_key{};
    if (trimmed(found->value).empty()) return refused_key{key_fault::empty, "the key is empty"};
    std::optional<std::string> key = parse_key(found->value, options.form);
    if (!key) return malformed(options.form);
    return checked(*std::move(key), *found, options);
}

std::string spell_key(std::string_view key, key_form form) {
    const bool printable =
        std::all_of(key.begin(), key.end(), [](char c) { return c == ' ' || is_visible(c); });
    if (!printable) return spell_key("sha256-" + fingerprint::raw(key).hex(), form);
    if (form == key_form::lenient && !key.empty() && is_bare(key)) return std::string{key};
    return spell_sf_string(key);
}

} // namespace semel::http
