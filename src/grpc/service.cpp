#include "semel/grpc/service.hpp"

#include <optional>
#include <variant>

#include <grpcpp/test/server_context_test_spouse.h>

#include "grpc/bytes.hpp"
#include "grpc/metadata.hpp"
#include "semel/grpc/client.hpp"

namespace semel::grpc::detail {
namespace {

namespace pb = google::protobuf;

[[noreturn]] void throw_wrong(const std::string& method, const std::string& why) {
    throw_failure({.code = errc::invalid_argument, .detail = "method '" + method + "': " + why});
}

std::string in_words(const pb::Descriptor* type) {
    return type == nullptr ? "nothing" : type->full_name();
}

http::header_list only(const std::multimap<std::string, std::string>& from,
                       const std::vector<std::string>& names) {
    received_metadata views;
    for (const auto& [name, value] : from) views.emplace(name, value);
    return kept(views, names);
}

// Only this friend of a context can read what its handler has put into it.
void take_metadata(answer& to, ::grpc::ServerContext& from, const std::vector<std::string>& names) {
    if (names.empty()) return;
    const ::grpc::testing::ServerContextTestSpouse friendly{&from};
    to.initial = only(friendly.GetInitialMetadata(), names);
    to.trailing = only(friendly.GetTrailingMetadata(), names);
}

::grpc::Status send(::grpc::ServerContext& context, unary_stream& stream, answer&& what) {
    add_metadata(context, what);
    if (!what.status.ok()) return std::move(what.status);
    // Last: message and status leave together. Whether they arrive is the client's affair; the
    // record is stored.
    stream.Write(buffer_of(std::move(what.message)), ::grpc::WriteOptions{}.set_last_message());
    return {};
}

::grpc::Status serve_guarded(const guard& by, const protected_call& call,
                             ::grpc::ServerContext& context, unary_stream& stream,
                             std::string_view bytes, const unary_work& work) {
    std::optional<answer> own;
    auto run = [&](execution& running) -> verdict<answer> {
        const scope here{context, running};
        answer got;
        got.status = work(bytes, got.message);
        take_metadata(got, context, call.how->how.metadata);
        return judge(call, std::move(got), own);
    };
    try {
        auto came = by.engine().execute<answer>(semel::request{call.what}, run);
        return send(context, stream, answer_for(by.options(), std::move(came), std::move(own)));
    } catch (const released&) {
        return std::move(own->status);
    }
}

} // namespace

int method_index(const std::string& service, const std::string& method, const method_types& types) {
    const std::string name = service + "/" + method;
    const auto* known = pb::DescriptorPool::generated_pool()->FindServiceByName(service);
    if (known == nullptr) throw_wrong(name, "the service is not known");
    const auto* found = known->FindMethodByName(method);
    if (found == nullptr) throw_wrong(name, "the service has no such method");
    if (found->client_streaming() || found->server_streaming()) {
        throw_wrong(name, "it is a stream; only unary methods can be protected");
    }
    if (found->input_type() != types.request || found->output_type() != types.response) {
        throw_wrong(name, "it takes " + in_words(found->input_type()) + " and gives " +
                              in_words(found->output_type()) + ", not " + in_words(types.request) +
                              " and " + in_words(types.response));
    }
    return found->index();
}

::grpc::Status serve(const guard& by, const protected_method& method,
                     ::grpc::ServerContext& context, unary_stream& stream, const unary_work& work) {
    ::grpc::ByteBuffer sent;
    if (!stream.Read(&sent)) return {::grpc::StatusCode::CANCELLED, "no request came"};
    const whole_message request{sent};
    if (!request.readable()) return {::grpc::StatusCode::INTERNAL, "the request cannot be read"};
    auto what = admit(by.options(), method, context);
    if (auto* no = std::get_if<::grpc::Status>(&what)) return std::move(*no);
    if (auto* call = std::get_if<protected_call>(&what)) {
        if (auto status = add_content(*call, request.view()); !status.ok()) return status;
        return serve_guarded(by, *call, context, stream, request.view(), work);
    }
    answer unguarded;
    unguarded.status = work(request.view(), unguarded.message);
    return send(context, stream, std::move(unguarded));
}

} // namespace semel::grpc::detail
