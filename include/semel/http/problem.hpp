// Every "no" of the HTTP edge, as application/problem+json (RFC 9457) with a stable type.
// Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "semel/base/time.hpp"
#include "semel/http/message.hpp"
#include "semel/http/response.hpp"

namespace semel::http {

enum class problem_kind : std::uint8_t {
    // The request is not acceptable; no record was looked up.
    request_malformed, // 400 or as the framing check says
    key_missing,       // 400
    key_malformed,     // 400
    key_too_long,      // 400
    key_reserved,      // 400: it has the form of a key that is derived from a request
    tenant_missing,    // 401 or 403: no authenticated tenant
    principal_missing, // 401: nothing says whose answer it would be
    body_too_large,    // 413
    // The record says no.
    in_progress,     // 409, Retry-After
    in_doubt,        // 409: the effect is not known; an operator or a probe decides
    mismatch,        // 422; stripe: 400
    failed,          // the stored failure's status, else 500
    result_not_kept, // 409: executed, but the answer was too large to keep
    // The store or the upstream gave no usable answer.
    unavailable,          // 503, Retry-After
    unconfirmed,          // 503, Retry-After: done, not yet on record
    result_unreadable,    // 500: the stored bytes are damaged
    upstream_unreachable, // 503, Retry-After: not executed
    outcome_unknown,      // 504: sent upstream, no full answer came
    // The center's and the admin pages' own.
    forbidden,         // 403: the token may not do that
    not_found,         // 404
    fenced_off,        // 409: the attempt is no longer the record's
    not_renewed,       // 409: past processing_max
    limit_exceeded,    // 409: a checkpoint too many
    overloaded,        // 503, Retry-After: no room for the body; nothing was looked up
    operation_unknown, // 400: the center is configured to refuse operations it does not know
};

struct problem_options {
    // The type of a problem is this and its slug: "urn:semel:problem:key-missing".
    std::string type_base = "urn:semel:problem:";
    // Not empty: every problem links to it: Link: <…#key-missing>; rel="describedby".
    std::string documentation = {};
    // The Retry-After of problems that have no time of their own.
    duration retry_after = std::chrono::seconds{1};
};

struct problem {
    problem_kind kind = problem_kind::request_malformed;
    std::optional<int> status = {}; // none: the kind's own
    std::string detail = {};        // for the client: no secrets, no internals; none: the kind's
    std::optional<duration> retry_after = {};
    std::optional<int> original_status = {}; // result_not_kept, failed
    std::uint32_t attempts = 0;              // failed
};

// "key-missing" and so on: part of the wire contract, never changed.
[[nodiscard]] std::string_view slug(problem_kind kind);
[[nodiscard]] int status_of(problem_kind kind, profile style = profile::only_2xx);

// Under a stripe profile the body also has Stripe's own member: error.type is idempotency_error.
[[nodiscard]] response to_response(const problem& what, const problem_options& options = {},
                                   profile style = profile::only_2xx);

// Whole seconds, rounded up, at least one.
[[nodiscard]] std::string retry_after_text(duration after);

// "Sun, 06 Nov 1994 08:49:37 GMT", rounded down.
[[nodiscard]] std::string http_date(time_point when);

} // namespace semel::http
