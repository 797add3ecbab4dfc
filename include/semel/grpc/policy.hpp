// Policies of protected gRPC methods, and options that all of them share. Plain values.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <grpcpp/support/status.h>

#include "semel/http/key_header.hpp"
#include "semel/http/profile.hpp"
#include "semel/http/route.hpp"
#include "semel/http/tenant.hpp"
#include "semel/policy.hpp"

namespace grpc {
class ServerContextBase;
} // namespace grpc

namespace semel::grpc {

// "Answers with this code become that."
struct code_rule {
    ::grpc::StatusCode code = ::grpc::StatusCode::OK;
    http::disposition becomes = http::disposition::keep;
};

// | OK                                                                | keep    |
// | INVALID_ARGUMENT, NOT_FOUND, ALREADY_EXISTS, PERMISSION_DENIED,   |         |
// | UNAUTHENTICATED, FAILED_PRECONDITION, OUT_OF_RANGE, UNIMPLEMENTED | release |
// | RESOURCE_EXHAUSTED, ABORTED, UNAVAILABLE, INTERNAL, UNKNOWN,      |         |
// | DATA_LOSS                                                         | retry   |
// | CANCELLED, DEADLINE_EXCEEDED: how far the work came is not known  | unknown |
[[nodiscard]] http::disposition dispose(::grpc::StatusCode code);

// The first rule about the code decides, else the table.
[[nodiscard]] http::disposition dispose(const std::vector<code_rule>& rules,
                                        ::grpc::StatusCode code);

// How requests under one key are compared.
enum class content_form : std::uint8_t {
    bytes,         // as they came. One client library writes one request in one way
    deterministic, // parsed and written again: order of fields and map entries does not count
};

// What happens to work whose caller has cancelled or is past its deadline. For fronts only: a
// handler in its own process sees both in its context and decides by itself.
enum class caller_gone : std::uint8_t {
    finish, // the work goes on, up to work_max, and its answer is kept for the repeat
    pass,   // the work is told. What it has done by then is not known: see on_lease_expiry
};

struct method_policy {
    // Part of the record id, of one method only. Empty: "package.Service/Method".
    std::string operation = {};
    http::key_need need = http::key_need::required;
    std::vector<code_rule> codes = {};
    content_form content = content_form::bytes;
    // Names of the answer's own metadata that repeats get too.
    std::vector<std::string> metadata = {};
    // What a repeat does while the first is at work. Waiting also ends before the deadline.
    wait_mode wait = wait_mode::wait;
    duration wait_max = operation_policy{}.wait_max;
    std::optional<duration> lease = {};     // none: the operation's
    std::optional<duration> retention = {}; // none: the operation's
    // Behind a front only:
    caller_gone leaving = caller_gone::finish;
    duration work_max = std::chrono::minutes{5};
    http::key_forwarding forward = http::key_forwarding::same;
};

// Which calls are served. The callbacks run on every call of a protected method, before a record is
// looked up: a repeat is authorised like a first call. The callbacks must not block.
struct guard_options {
    // Where the tenant comes from; names of headers are names of metadata. None: tenant_of.
    http::tenant_source tenants = {};
    // The tenant, from the context alone, for instance from the peer's certificate. If it returns
    // none, the call gets UNAUTHENTICATED.
    std::function<std::optional<std::string>(const ::grpc::ServerContextBase&)> tenant_of = {};
    // If it returns another status than OK, that is the answer.
    std::function<::grpc::Status(const ::grpc::ServerContextBase&, std::string_view method)>
        authorize = {};
    // Decides whether the tenant_header of a call is trusted. Empty: of no call.
    std::function<http::peer_trust(const ::grpc::ServerContextBase&)> trust = {};
    http::key_options keys = {.headers = {"idempotency-key", "x-idem-key"}};
    // The domain in ErrorInfo.
    std::string error_domain = "semel";
    // The RetryInfo of answers that have no time of their own.
    duration retry_after = std::chrono::seconds{1};
};

} // namespace semel::grpc
