// One call and its answer, without a server:
//
//   auto what = admit(rules, method, context);     pass_through, a Status to refuse with, or
//   add_content(call, request bytes)               a protected_call
//   engine.execute<answer>(call.what, work)        whose work ends with judge(call, answer, own)
//   answer_for(rules, outcome, own)                what the client gets
//
// No byte of an answer leaves before its record is durable. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <grpcpp/support/status.h>

#include "semel/codec.hpp"
#include "semel/grpc/policy.hpp"
#include "semel/http/exchange.hpp"
#include "semel/http/message.hpp"
#include "semel/http/problem.hpp"
#include "semel/outcome.hpp"
#include "semel/request.hpp"
#include "semel/result.hpp"
#include "semel/verdict.hpp"

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
    std::string name = {}; // "package.Service/Method"
    method_policy how = {};
    const google::protobuf::Descriptor* request = nullptr; // for content_form::deterministic
};

// invalid_argument names the method and what is wrong: an operation that is empty or too long, no
// waiting time, metadata that is never replayed. The request's type is looked up among the
// generated ones; a deterministic form without one is refused.
[[nodiscard]] result<protected_method> make_method(std::string name, method_policy how);

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
