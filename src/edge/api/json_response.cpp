#include "edge/api/json_response.hpp"

#include <utility>

#include "edge/api/encoding.hpp"

namespace semel::edge {

json_response success(json body) {
    return {.status = 200,
            .body = std::move(body),
            .headers = {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}}};
}

json_response refusal(const http::problem& what, const http::problem_options& options) {
    http::response made = http::to_response(what, options);
    return {
        .status = made.status, .body = json::parse(made.body), .headers = std::move(made.headers)};
}

json_response refusal(const failure& why, http::problem_kind unknown,
                      const http::problem_options& options) {
    using http::problem_kind;
    if (why.code == errc::corrupt)
        return refusal({.kind = problem_kind::result_unreadable}, options);
    const auto kind = why.possible == effect::unknown ? unknown : problem_kind::unavailable;
    return refusal({.kind = kind, .retry_after = options.retry_after}, options);
}

http::response to_response(json_response&& what) {
    // Errors and attributes may have come by other ways than JSON.
    constexpr auto replace = json::error_handler_t::replace;
    return {.status = what.status,
            .headers = std::move(what.headers),
            .body = what.body.dump(-1, ' ', false, replace)};
}

void put_bytes(json& into, std::string_view bytes) {
    if (is_utf8(bytes)) {
        into["text"] = bytes;
    } else {
        into["base64"] = to_base64(bytes);
    }
}

std::string_view name_of(result_kind kind) {
    static constexpr std::string_view names[] = {"value", "rejection", "tombstone"};
    return names[static_cast<std::size_t>(kind)];
}

} // namespace semel::edge
