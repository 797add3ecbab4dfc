// From a call's metadata and request to what is done with it.
#include <algorithm>
#include <memory>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <grpcpp/server_context.h>

#include "grpc/deterministic.hpp"
#include "grpc/metadata.hpp"
#include "http/text.hpp"
#include "semel/grpc.hpp"
#include "semel/http/tenant.hpp"

namespace semel::grpc {
namespace {

namespace pb = google::protobuf;

failure wrong(const std::string& method, std::string why) {
    return {.code = errc::invalid_argument, .detail = "method '" + method + "': " + std::move(why)};
}

// None if no generated code has this message.
const pb::Descriptor* request_type(std::string name) {
    std::replace(name.begin(), name.end(), '/', '.');
    const auto* method = pb::DescriptorPool::generated_pool()->FindMethodByName(name);
    return method == nullptr ? nullptr : method->input_type();
}

std::variant<std::string, ::grpc::Status> tenant_for(const guard_options& rules,
                                                     const http::header_list& metadata,
                                                     const ::grpc::ServerContextBase& context) {
    if (rules.tenant_of) {
        auto tenant = rules.tenant_of(context);
        if (tenant && http::is_tenant_name(*tenant)) return *std::move(tenant);
        http::problem no{.kind = http::problem_kind::tenant_missing};
        if (tenant) no.detail = http::tenant_fault(*tenant);
        return to_status(no, rules);
    }
    const auto trust = rules.trust ? rules.trust(context) : http::peer_trust::untrusted;
    auto tenant = http::tenant_of(rules.tenants, metadata, trust);
    if (auto* no = std::get_if<http::refused_tenant>(&tenant)) {
        return to_status({.kind = http::problem_kind::tenant_missing,
                          .status = no->status,
                          .detail = std::move(no->detail)},
                         rules);
    }
    return std::get<std::string>(std::move(tenant));
}

// A waiting repeat ends in time to answer its caller that the first call is still running.
duration waiting_time(const method_policy& how, const ::grpc::ServerContextBase& context) {
    const auto left = context.deadline() - std::chrono::system_clock::now();
    if (left > how.wait_max) return how.wait_max;
    const auto most = std::chrono::duration_cast<duration>(left) / 10 * 9;
    return std::max(most, duration{std::chrono::milliseconds{1}});
}

overrides wishes_of(const method_policy& how, const ::grpc::ServerContextBase& context) {
    overrides with{.lease = how.lease, .retention = how.retention, .wait = how.wait};
    if (how.wait == wait_mode::wait) with.wait_max = waiting_time(how, context);
    return with;
}

::grpc::Status refused(const guard_options& rules, http::refused_key&& why) {
    const bool too_long = why.fault == http::key_fault::too_long;
    return to_status(
        {.kind = too_long ? http::problem_kind::key_too_long : http::problem_kind::key_malformed,
         .detail = std::move(why.detail)},
        rules);
}

admission claim(const guard_options& rules, const protected_method& method,
                const http::header_list& metadata, const ::grpc::ServerContextBase& context,
                std::optional<http::sent_key>&& key) {
    auto tenant = tenant_for(rules, metadata, context);
    if (auto* no = std::get_if<::grpc::Status>(&tenant)) return std::move(*no);
    semel::request what{.tenant = std::get<std::string>(std::move(tenant)),
                        .operation = method.how.operation,
                        .key = key ? key->key : std::string{},
                        .with = wishes_of(method.how, context)};
    return protected_call{.how = &method, .what = std::move(what), .key = std::move(key)};
}

std::optional<std::string> written_again(const pb::Descriptor& type, std::string_view message) {
    const auto* prototype = pb::MessageFactory::generated_factory()->GetPrototype(&type);
    const std::unique_ptr<pb::Message> parsed{prototype->New()};
    if (!parsed->ParseFromArray(message.data(), static_cast<int>(message.size()))) return {};
    return deterministic(*parsed);
}

} // namespace

result<protected_method> protected_method::make(std::string name, method_policy how) {
    if (how.operation.empty()) how.operation = name;
    if (how.operation.empty()) return wrong(name, "it needs an operation");
    if (how.operation.size() > limits{}.operation_bytes_max) {
        return wrong(name, "its operation has more than " +
                               std::to_string(limits{}.operation_bytes_max) +
                               " bytes; give it a shorter one");
    }
    if (how.wait == wait_mode::wait && how.wait_max <= duration::zero()) {
        return wrong(name, "wait_max must be greater than zero");
    }
    const auto zero = duration::zero();
    if (how.work_max <= zero || how.lease.value_or(how.work_max) <= zero ||
        how.retention.value_or(how.work_max) <= zero) {
        return wrong(name, "lease, retention and work_max must be greater than zero");
    }
    if (auto fine = http::check(http::replay_options{.headers = how.metadata}); !fine) {
        return wrong(name, std::move(fine).error().detail);
    }
    for (std::string& one : how.metadata) one = http::lowered(one);
    const auto* request = request_type(name);
    if (how.content == content_form::deterministic && request == nullptr) {
        return wrong(name, "its request's type is not known in this program");
    }
    return protected_method{.name = std::move(name), .how = std::move(how), .request = request};
}

result<void> check(const guard_options& options) {
    if (options.keys.headers.empty()) {
        return failure{.code = errc::invalid_argument, .detail = "no metadata names the key"};
    }
    if (options.tenant_of) return {};
    return http::check(options.tenants);
}

admission admit(const guard_options& rules, const protected_method& method,
                const ::grpc::ServerContextBase& context) {
    if (rules.authorize) {
        if (auto status = rules.authorize(context, method.name); !status.ok()) return status;
    }
    const http::header_list metadata = lines_of(context.client_metadata());
    auto key = http::read_key(metadata, rules.keys);
    if (auto* no = std::get_if<http::refused_key>(&key)) return refused(rules, std::move(*no));
    if (auto* sent = std::get_if<http::sent_key>(&key)) {
        return claim(rules, method, metadata, context, std::move(*sent));
    }
    switch (method.how.need) {
    case http::key_need::optional: return http::pass_through{};
    case http::key_need::derived: return claim(rules, method, metadata, context, std::nullopt);
    case http::key_need::required: break;
    }
    return to_status({.kind = http::problem_kind::key_missing,
                      .detail = "send a unique " + rules.keys.headers.front() +
                                " with each new request, and the same one with its repeats"},
                     rules);
}

::grpc::Status add_content(protected_call& call, std::string_view message) {
    if (call.how->how.content == content_form::bytes) {
        call.what.content = fingerprint::raw(message);
        return {};
    }
    const auto bytes = written_again(*call.how->request, message);
    if (!bytes) return {::grpc::StatusCode::INVALID_ARGUMENT, "the request cannot be read"};
    call.what.content = fingerprint::raw(*bytes);
    return {};
}

} // namespace semel::grpc
