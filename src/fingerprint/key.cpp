#include "semel/fingerprint.hpp"

#include "base/hex.hpp"
#include "fingerprint/sha256.hpp"

namespace semel {
namespace {

constexpr std::string_view content_prefix = "fp-";

void append_escaped(std::string& out, std::string_view text, char separator) {
    for (const char c : text) {
        if (c == separator || c == '%') {
            append_escape(out, c);
        } else {
            out += c;
        }
    }
}

// The readable form always holds its separator and this one never does, so the two forms never give
// the same key.
std::string within_limit(std::string readable) {
    if (readable.size() <= derived_key_bytes_max) return readable;
    return "sha256-" + detail::sha256({readable}).hex();
}

} // namespace

std::string derive(std::string_view key, std::string_view suffix) {
    std::string child{key};
    child += ':';
    append_escaped(child, suffix, ':');
    return within_limit(std::move(child));
}

std::string prefix(std::string_view system, std::string_view key) {
    std::string child;
    append_escaped(child, system, '/');
    child += '/';
    child += key;
    return within_limit(std::move(child));
}

std::string key_from(const fingerprint& content) {
    return std::string{content_prefix} + content.hex();
}

bool is_derived_key(std::string_view key) {
    return key.starts_with(content_prefix) &&
           fingerprint::from_hex(key.substr(content_prefix.size())).has_value();
}

} // namespace semel
