#include "net/in_folder.hpp"

#include <algorithm>
#include <cstdio>

#include "net/shown_url.hpp"
#include "net/url_text.hpp"

namespace semel::net {

namespace {

// Parameters that name a file, also those of libpq.
constexpr std::string_view file_parameters[]{
    "ca_file", "cert_file",   "key_file", "secret_file", "old_secret_file", "socket",
    "sslcert", "sslrootcert", "sslkey",   "sslcrl",      "sslcrldir",       "passfile"};

bool is_file_parameter(std::string_view name) {
    return std::find(std::begin(file_parameters), std::end(file_parameters), name) !=
           std::end(file_parameters);
}

// What ends a path in a URL, or stands for another byte there.
std::string escaped(std::string_view path) {
    std::string made;
    for (const char one : path) {
        if (std::string_view{"%?&#@"}.find(one) == std::string_view::npos) {
            made += one;
            continue;
        }
        char code[4];
        std::snprintf(code, sizeof code, "%%%02X", static_cast<unsigned>(one));
        made += code;
    }
    return made;
}

// `text` is escaped already.
std::string escaped_path(std::string_view text, std::string_view folder) {
    const bool special = text.empty() || text == ":memory:"; // the driver says what is wrong
    if (special || decoded_url_text(text.substr(0, 3)).starts_with('/')) return std::string{text};
    return escaped(path_in_folder("", folder)) + std::string{text};
}

std::string parameter(std::string_view scheme, std::string_view name, std::string_view value,
                      std::string_view folder) {
    if (scheme == "tiered" && (name == "front" || name == "truth")) {
        return nested_url(url_in_folder(decoded_url_text(value), folder));
    }
    const bool is_word = name == "sslrootcert" && value == "system"; // libpq's own
    if (!is_file_parameter(name) || is_word) return std::string{value};
    return escaped_path(value, folder);
}

std::string parameters(std::string_view scheme, std::string_view query, std::string_view folder) {
    std::string made;
    while (true) {
        const std::string_view one = query.substr(0, query.find('&'));
        const std::size_t equals = std::min(one.find('='), one.size());
        made += one.substr(0, equals);
        if (equals < one.size()) {
            made += "=";
            made += parameter(scheme, one.substr(0, equals), one.substr(equals + 1), folder);
        }
        if (one.size() == query.size()) return made;
        made += '&';
        query.remove_prefix(one.size() + 1);
    }
}

} // namespace

std::string path_in_folder(std::string_view path, std::string_view folder) {
    if (folder.empty() || path.starts_with('/')) return std::string{path};
    std::string made{folder};
    if (!made.ends_with('/')) made += '/';
    return made.append(path);
}

std::string url_in_folder(std::string_view url, std::string_view folder) {
    const std::string_view scheme = url_scheme(url);
    if (folder.empty() || scheme.empty()) return std::string{url};
    const bool webhook = scheme == "http" || scheme == "https";
    const std::size_t mark = std::min(url.find(webhook ? '#' : '?'), url.size());
    std::string made{url.substr(0, mark)};
    if (scheme == "sqlite" || scheme == "file") {
        std::size_t path = scheme.size() + 1;
        // A sink reads file://out.jsonl as file:out.jsonl.
        const std::string_view target = std::string_view{made}.substr(path);
        if (scheme == "file" && target.starts_with("//") && !target.starts_with("///")) path += 2;
        made = made.substr(0, path) + escaped_path(std::string_view{made}.substr(path), folder);
    }
    if (mark == url.size()) return made;
    return made + url[mark] + parameters(scheme, url.substr(mark + 1), folder);
}

} // namespace semel::net
