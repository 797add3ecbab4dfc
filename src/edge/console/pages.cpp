#include "edge/console/pages.hpp"

#include <algorithm>

#include "http/text.hpp"

namespace semel::edge {
namespace {

bool takes_gzip(const http::header_list& headers) {
    const auto codings = http::list_members(headers, "Accept-Encoding");
    return std::any_of(codings.begin(), codings.end(), [](std::string_view one) {
        std::string_view rest = one;
        const auto name = http::trimmed(http::take_until_unquoted(rest, ';'));
        const auto weight = http::trimmed(rest);
        const bool refused = weight == "q=0" || weight == "q=0.0" || weight == "q=0.00";
        return http::equal_ignoring_case(name, "gzip") && !refused;
    });
}

bool is_known(const http::header_list& headers, std::string_view etag) {
    const auto tags = http::list_members(headers, "If-None-Match");
    return std::find(tags.begin(), tags.end(), etag) != tags.end();
}

} // namespace

std::optional<http::response> page_at(const http::request_head& asked) {
    const auto all = console_assets();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const asset& one) { return one.path == asked.path(); });
    if (found == all.end()) return std::nullopt;
    // The names of assets change with their contents; that of the page does not.
    const bool fixed = found->path.starts_with("/assets/");
    http::response made{
        .headers = {{"Content-Type", std::string{found->type}},
                    {"ETag", std::string{found->etag}},
                    {"Vary", "Accept-Encoding"},
                    {"Cache-Control", fixed ? "public, max-age=31536000, immutable" : "no-cache"}}};
    if (is_known(asked.headers, found->etag)) {
        made.status = 304;
        return made;
    }
    const bool packed = !found->gzip.empty() && takes_gzip(asked.headers);
    if (packed) made.headers.add("Content-Encoding", "gzip");
    made.body = packed ? found->gzip : found->bytes;
    return made;
}

void harden(http::response& answer) {
    answer.headers.set("Content-Security-Policy",
                       "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
                       "connect-src 'self'; form-action 'none'; base-uri 'none'; "
                       "frame-ancestors 'none'; require-trusted-types-for 'script'; "
                       "trusted-types 'none'");
    answer.headers.set("X-Content-Type-Options", "nosniff");
    answer.headers.set("X-Frame-Options", "DENY");
    answer.headers.set("Referrer-Policy", "no-referrer");
    answer.headers.set("Cross-Origin-Opener-Policy", "same-origin");
    answer.headers.set("Cross-Origin-Resource-Policy", "same-origin");
    if (!answer.headers.contains("Cache-Control")) {
        answer.headers.set("Cache-Control", "no-store");
    }
}

} // namespace semel::edge
