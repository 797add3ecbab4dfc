// gRPC: services that take effect once per key, and clients that carry the key on. Needs gRPC 1.51
// and protobuf 3.21. The headers below semel/grpc/ protect handlers (guard), services (service) and
// services elsewhere (front), and carry keys (client). This header has what they are made of:
// protobuf messages as results, policies, and one call and its answer without a server:
//
//   auto what = admit(rules, method, context);     pass_through, a Status to refuse with, or
//   add_content(call, request bytes)               a protected_call
//   engine.execute<answer>(call.what, work)        whose work ends with judge(call, answer, own)
//   answer_for(rules, outcome, own)                what the client gets
//
// No byte of an answer leaves before its record is durable. Any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <google/protobuf/message_lite.h>
#include <grpcpp/support/status.h>

#include "semel/base/result.hpp"
#include "semel/core/policy.hpp"
#include "semel/engine/request.hpp"
#include "semel/engine/verdict.hpp"
#include "semel/http.hpp"
#include "semel/http/key_header.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"
#include "semel/http/response.hpp"
#include "semel/http/route.hpp"
#include "semel/http/tenant.hpp"

namespace semel {

// Unknown fields are kept. A message that lacks required fields cannot be encoded.
template <std::derived_from<google::protobuf::MessageLite> Message> struct codec<Message> {
    static constexpr std::string_view type = "application/protobuf";
    static std::string encode(const Message& value) {
        std::string bytes;
        if (!value.SerializeToString(&bytes)) throw std::runtime_error{"message not initialised"};
        return bytes;
    }
    // Throws failure_error.
    static Message decode(std::string_view bytes) {
        Message value;
        if (!value.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            throw_failure({.code = errc::corrupt, .detail = "not a " + value.GetTypeName()});
        }
        return value;
    }
};

} // namespace semel

namespace grpc {
class ServerContextBase;
} // namespace grpc

namespace semel::grpc {

// Policies of protected gRPC methods, and options that all of them share. Plain values.

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

namespace google::protobuf {
class Descriptor;
} // namespace google::protobuf

namespace semel::grpc {

struct answer {
    ::grpc::Status status = {};
    http::header_list initial = {}; // metadata
    http::header_list trailing = {};
    std::string message = {}; // serialised; empty unless the status is OK
};

// A method with its policy, checked. Make it once, at start.
struct protected_method {
    // invalid_argument names the method and what is wrong: an operation that is empty or too long,
    // no waiting time, metadata that is never replayed. The request's type is looked up among the
    // generated ones; a deterministic form without one is refused.
    static result<protected_method> make(std::string name, method_policy how);

    std::string name = {}; // "package.Service/Method"
    method_policy how = {};
    const google::protobuf::Descriptor* request = nullptr; // for content_form::deterministic
};

[[nodiscard]] result<void> check(const guard_options& options);

struct protected_call {
    const protected_method* how = nullptr;
    semel::request what = {};               // for the engine
    std::optional<http::sent_key> key = {}; // none: derived
};

using admission = std::variant<http::pass_through, ::grpc::Status, protected_call>;

// By the metadata alone. The method outlives the call.
[[nodiscard]] admission admit(const guard_options& rules, const protected_method& method,
                              const ::grpc::ServerContextBase& context);

// The request has arrived whole. INVALID_ARGUMENT if a deterministic form cannot be read.
[[nodiscard]] ::grpc::Status add_content(protected_call& call, std::string_view message);

// Decides what the answer makes of the record. An answer that is not kept goes to `own`, for this
// caller. Throws semel::released in place of an answer that must be forgotten.
[[nodiscard]] verdict<answer> judge(const protected_call& call, answer&& got,
                                    std::optional<answer>& own);

// `own` is sent only if the outcome is that attempt's own: a caller that was fenced off gets the
// winner's. A replay has `idempotent-replayed: true` in its trailing metadata.
[[nodiscard]] answer answer_for(const guard_options& rules, outcome<answer>&& outcome,
                                std::optional<answer> own = {});

// Every "no" as a status with google.rpc.ErrorInfo (reason: the problem's slug in capitals) and,
// where coming again helps, google.rpc.RetryInfo.
[[nodiscard]] ::grpc::Status to_status(const http::problem& what, const guard_options& rules);
[[nodiscard]] ::grpc::StatusCode code_of(http::problem_kind kind);

} // namespace semel::grpc

namespace semel {

template <> struct codec<grpc::answer> {
    static constexpr std::string_view type = "application/vnd.semel.grpc";
    static std::string encode(const grpc::answer& value);
    static grpc::answer decode(std::string_view bytes); // throws failure_error
};

} // namespace semel
