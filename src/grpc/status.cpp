// Problems as statuses with details (google.rpc.Status).
#include <algorithm>
#include <string>

#include "grpc/wire.hpp"
#include "http/problem_title.hpp"
#include "semel/grpc.hpp"

namespace semel::grpc {
namespace {

using code = ::grpc::StatusCode;
using kind = http::problem_kind;

// "key-missing" is KEY_MISSING.
std::string reason_of(kind of) {
    std::string text{http::slug(of)};
    for (char& c : text) c = c == '-' ? '_' : static_cast<char>(c >= 'a' ? c - 'a' + 'A' : c);
    return text;
}

wire_message any_of(std::string_view type, const wire_message& value) {
    return wire_message{}
        .add(1, std::string{"type.googleapis.com/google.rpc."}.append(type))
        .add(2, value);
}

wire_message error_info(const http::problem& what, const std::string& domain) {
    wire_message info;
    info.add(1, reason_of(what.kind)).add(2, domain);
    if (what.attempts > 0) {
        info.add(3, wire_message{}.add(1, "attempts").add(2, std::to_string(what.attempts)));
    }
    return info;
}

wire_message retry_info(duration after) {
    using std::chrono::nanoseconds;
    using std::chrono::seconds;
    after = std::max(after, duration::zero());
    const auto whole = std::chrono::floor<seconds>(after);
    const auto rest = std::chrono::duration_cast<nanoseconds>(after - whole);
    wire_message delay;
    if (whole.count() > 0) delay.add(1, static_cast<std::uint64_t>(whole.count()));
    if (rest.count() > 0) delay.add(2, static_cast<std::uint64_t>(rest.count()));
    return wire_message{}.add(1, delay);
}

code code_of_refused_tenant(int http_status) {
    return http_status == 403 ? code::PERMISSION_DENIED : code::UNAUTHENTICATED;
}

} // namespace

::grpc::StatusCode code_of(http::problem_kind which) {
    switch (which) {
    case kind::request_malformed:
    case kind::key_missing:
    case kind::key_malformed:
    case kind::key_too_long:
    case kind::key_reserved:
    case kind::operation_unknown: return code::INVALID_ARGUMENT;
    case kind::principal_missing:
    case kind::tenant_missing: return code::UNAUTHENTICATED;
    case kind::forbidden: return code::PERMISSION_DENIED;
    case kind::mismatch: return code::FAILED_PRECONDITION;
    case kind::in_progress:
    case kind::in_doubt:
    case kind::fenced_off:
    case kind::not_renewed: return code::ABORTED;
    case kind::result_not_kept: return code::ALREADY_EXISTS;
    case kind::result_unreadable: return code::DATA_LOSS;
    case kind::body_too_large:
    case kind::limit_exceeded:
    case kind::overloaded: return code::RESOURCE_EXHAUSTED;
    case kind::unavailable:
    case kind::unconfirmed:
    case kind::upstream_unreachable: return code::UNAVAILABLE;
    case kind::outcome_unknown: return code::DEADLINE_EXCEEDED;
    case kind::not_found: return code::NOT_FOUND;
    case kind::failed: break;
    }
    return code::INTERNAL;
}

// A problem's own status is a gRPC code, except where http::tenant_of has set it.
::grpc::Status to_status(const http::problem& what, const guard_options& rules) {
    code as = what.status ? static_cast<code>(*what.status) : code_of(what.kind);
    if (what.kind == kind::tenant_missing) as = code_of_refused_tenant(what.status.value_or(401));
    std::string text{http::title(what.kind)};
    if (!what.detail.empty()) text.append(": ").append(what.detail);
    wire_message status;
    status.add(1, static_cast<std::uint64_t>(as))
        .add(2, text)
        .add(3, any_of("ErrorInfo", error_info(what, rules.error_domain)));
    if (what.retry_after) status.add(3, any_of("RetryInfo", retry_info(*what.retry_after)));
    return {as, text, status.take()};
}

} // namespace semel::grpc
