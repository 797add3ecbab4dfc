#include <algorithm>

#include "base/nearest.hpp"
#include "net/shown_url.hpp"
#include "net/url.hpp"

namespace semel {

namespace {

struct form {
    std::string_view scheme;
    std::string_view rest;
};

constexpr form forms[]{
    {"memory", ""},
    {"sqlite", "path"},
    {"tiered", "?front=URL&truth=URL"},
    {"redis", "//host:port/database"},
    {"rediss", "//host:port/database"},
    {"postgres", "//user@host/database"},
    {"postgresql", "//user@host/database"},
    {"mysql", "//user@host/database"},
    {"mariadb", "//user@host/database"},
};

// Text without a scheme is most likely a file.
std::string advice(std::string_view url) {
    const std::size_t colon = std::min(url.find(':'), url.size());
    std::vector<std::string> schemes;
    for (const form& one : forms) schemes.emplace_back(one.scheme);
    const std::string meant = nearest(url.substr(0, colon), schemes);
    if (!meant.empty()) return "; did you mean '" + meant + ":'?";
    // It may hold a password.
    const bool is_shown = net::shown_url(url) == url;
    if (url.empty() || colon < url.size() || !is_shown) return {};
    return "; did you mean 'sqlite:" + std::string{url} + "'?";
}

} // namespace

failure unknown_store(std::string_view url) {
    std::string known;
    for (const form& one : forms) {
        known += known.empty() ? "" : ", ";
        known += std::string{one.scheme} + ":" + std::string{one.rest};
    }
    return {.code = errc::unknown_store,
            .possible = effect::none,
            .detail = "no store answers to '" + net::shown_url(url) + "'" + advice(url) +
                      "; known: " + known};
}

} // namespace semel
