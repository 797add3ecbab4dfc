// Which responses are kept. A profile maps the status of a finished response to the end of the
// record. A route may put rules of its own before the profile. Pure; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "semel/base/result.hpp"
#include "semel/core/record.hpp"
#include "semel/engine/verdict.hpp"
#include "semel/http/message.hpp"

namespace semel::http {

enum class profile : std::uint8_t {
    only_2xx,  // "2xx", the default: success is kept, everything else may be tried again
    ietf,      // success and error are kept, except answers that mean "not executed, try again"
    stripe_v1, // whatever the status: kept once execution began
    stripe_v2, // success is kept, failed work runs again
};

// "2xx", "ietf", "stripe-v1", "stripe-v2".
[[nodiscard]] std::string_view name(profile which);
[[nodiscard]] std::optional<profile> profile_named(std::string_view name);

// What a response makes of its record.
enum class disposition : std::uint8_t {
    keep,    // succeeded: replayed to every repeat
    reject,  // a business "no": kept and replayed as it is
    retry,   // failed, retryable: the same request runs again, another one under the key is refused
    release, // forgotten: the key is free, for a corrected request too
    unknown, // outcome unknown: the operation's on_lease_expiry decides
};

// "keep", "reject", "retry", "release", "unknown".
[[nodiscard]] std::string_view name(disposition which);
[[nodiscard]] std::optional<disposition> disposition_named(std::string_view name);

// Whether the endpoint has begun to execute. For a gateway, a full answer means that it has. A
// handler in the same process may know that it has not.
enum class progress : std::uint8_t { not_begun, begun };

// "Responses with these statuses become that." Both ends belong to it.
struct status_rule {
    int first = 0;
    int last = 0;
    disposition becomes = disposition::keep;

    friend bool operator==(const status_rule&, const status_rule&) = default;
};

// "2xx", "404" or "500-503"; anything else, or a status outside 200…599, is invalid_argument.
[[nodiscard]] result<status_rule> parse_status_rule(std::string_view statuses, disposition becomes);

// | status            | 2xx     | ietf    | stripe-v1 | stripe-v2 |
// | 2xx               | keep    | keep    | keep      | keep      |
// | 3xx               | release | keep    | keep      | keep      |
// | 401, 429          | release | release | release   | release   |
// | 403, 407, 408, 425| release | release | reject    | retry     |
// | 409               | release | reject  | release   | retry     |
// | other 4xx         | release | reject  | reject    | retry     |
// | 503               | retry   | retry   | reject    | retry     |
// | 502, 504          | retry   | unknown | reject    | retry     |
// | other 5xx         | retry   | reject  | reject    | retry     |
//
// Not begun: always release. Outside 200…599 it is no final response: unknown.
[[nodiscard]] disposition dispose(profile which, int status, progress so_far = progress::begun);

// The first rule with this status decides, otherwise the profile. Rules apply to executed requests:
// a request that did not begin is released all the same.
[[nodiscard]] disposition dispose(const std::vector<status_rule>& rules, profile which, int status,
                                  progress so_far = progress::begun);

// A response as the bytes of a stored result, and which of its headers go there. Pure; any thread.

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
