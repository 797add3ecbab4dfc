// A response as the bytes of a stored result, and which of its headers go there. Pure; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "semel/codec.hpp"
#include "semel/http/message.hpp"
#include "semel/record.hpp"
#include "semel/result.hpp"

namespace semel::http {

struct replay_options {
    // Beside Content-Type, Content-Encoding, Content-Language, Content-Location,
    // Content-Disposition, Location, ETag, Last-Modified, Link, Cache-Control, Vary, the headers
    // that tell a browser what it may do with an answer (Content-Security-Policy,
    // X-Content-Type-Options, X-Frame-Options, Referrer-Policy, Strict-Transport-Security,
    // Cross-Origin-…) and Access-Control-….
    std::vector<std::string> headers = {};
};

// Never kept, whatever the options say: hop-by-hop headers, Date, cookies, credentials and
// challenges, request and trace ids, rate limits, and the headers semel itself adds.
[[nodiscard]] bool never_replayed(std::string_view name);

// Every name is a token and none is never_replayed; else invalid_argument names it.
[[nodiscard]] result<void> check(const replay_options& options);

// What is kept of the headers: those allowed, not named by Connection, and fit for the wire.
[[nodiscard]] header_list kept_headers(const header_list& headers, const replay_options& options);

// True if the name is a token and the value has no control byte except the tab. Otherwise the
// header could end its line and begin another one.
[[nodiscard]] bool fit_for_wire(const header& line);

// The status is part of the result's type, so that it is known even if the bytes were not kept.
[[nodiscard]] std::string type_of(int status);
// 0 if that is not the type of a stored response.
[[nodiscard]] int status_of_type(std::string_view type);

// Version, status, kept headers, body. A body over `bytes_max` leaves a tombstone that still has
// the status and headers.
[[nodiscard]] stored_result encode(const response& what, const replay_options& options,
                                   std::size_t bytes_max);

// corrupt: the bytes are cut short, have an unknown version or lengths that do not fit, or a header
// is not fit for the wire: such a header never leaves, however it came into the store. Headers that
// are no longer allowed are left out.
[[nodiscard]] result<response> decode(const stored_result& from, const replay_options& options);

// Removes what concerns one connection only: hop-by-hop headers and those that Connection names.
void remove_hop_by_hop(header_list& headers);

} // namespace semel::http

namespace semel {

// For handlers that run under the engine's typed calls, such as transact<http::response>.
template <> struct codec<http::response> {
    static constexpr std::string_view type = "application/vnd.semel.response";
    static std::string encode(const http::response& value);
    static http::response decode(std::string_view bytes); // throws failure_error
};

} // namespace semel
