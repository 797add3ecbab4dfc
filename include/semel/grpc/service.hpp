// Protects methods of a synchronous service, one line each; the implementation stays as it is:
//
//   semel::grpc::idempotent<Payments, PaymentsImpl> service{engine, {.tenants = …}};
//   service.protect<&PaymentsImpl::Charge>("Charge", {.lease = 30s});
//   builder.RegisterService(&service);
//
// A first call runs the method; its repeats get the bytes of the first answer, without parsing.
// Methods that are not named stay as they are. docs/grpc.md says what clients notice. Server
// interceptors see protected methods as streams of one message each way.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <google/protobuf/descriptor.h>
#include <grpcpp/impl/service_type.h>
#include <grpcpp/server_context.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/method_handler.h>
#include <grpcpp/support/sync_stream.h>

#include "semel/engine.hpp"
#include "semel/grpc.hpp"
#include "semel/grpc/guard.hpp"

namespace semel::grpc {

namespace detail {

template <class Method> struct unary_method;
template <class Class, class Request, class Response>
struct unary_method<::grpc::Status (Class::*)(::grpc::ServerContext*, const Request*, Response*)> {
    using request = Request;
    using response = Response;
};

struct method_types {
    const google::protobuf::Descriptor* request = nullptr;
    const google::protobuf::Descriptor* response = nullptr;
};

// The method's place in its service. Throws failure_error (invalid_argument) if the service has no
// such unary method, or one with other types.
[[nodiscard]] int method_index(const std::string& service, const std::string& method,
                               const method_types& types);

using unary_stream = ::grpc::ServerUnaryStreamer<::grpc::ByteBuffer, ::grpc::ByteBuffer>;
// Parses the request, runs the user's method, writes the response.
using unary_work = std::function<::grpc::Status(std::string_view request, std::string& response)>;

::grpc::Status serve(const guard& by, const protected_method& method,
                     ::grpc::ServerContext& context, unary_stream& stream, const unary_work& work);

} // namespace detail

// `Service` is the generated class, `Impl` the user's, derived from Service::Service and not final.
// Set up before the server is built; thread-safe from then on. The engine outlives it.
template <class Service, class Impl> class idempotent : public Impl {
public:
    // Throws failure_error if the options are wrong.
    template <class... Args>
    idempotent(semel::engine& engine, guard_options options, Args&&... args)
        : Impl(std::forward<Args>(args)...), guard_(engine, std::move(options)) {}

    // Throws failure_error if the service has no such method, its types differ, or the policy is
    // wrong. Inside the method, current_execution() is the attempt.
    template <auto Method> idempotent& protect(const std::string& name, method_policy how = {}) {
        using types = detail::unary_method<decltype(Method)>;
        using request = typename types::request;
        using response = typename types::response;
        const std::string service = Service::service_full_name();
        const int index = detail::method_index(
            service, name, {.request = request::descriptor(), .response = response::descriptor()});
        // Shared by the handler's copies.
        auto method = std::make_shared<const protected_method>(
            protected_method::make(service + "/" + name, std::move(how)).value());
        auto handler = [this, method](::grpc::ServerContext* context,
                                      detail::unary_stream* stream) {
            return detail::serve(guard_, *method, *context, *stream,
                                 [this, context](std::string_view bytes, std::string& made) {
                                     return run<Method, request, response>(context, bytes, made);
                                 });
        };
        // What generated code does for its own streamed unary methods. The service owns it.
        using replaced =
            ::grpc::internal::StreamedUnaryHandler<::grpc::ByteBuffer, ::grpc::ByteBuffer>;
        ::grpc::Service::MarkMethodStreamed(index, new replaced{std::move(handler)});
        return *this;
    }

private:
    template <auto Method, class Request, class Response>
    ::grpc::Status run(::grpc::ServerContext* context, std::string_view bytes, std::string& made) {
        Request request;
        if (!request.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
            return {::grpc::StatusCode::INVALID_ARGUMENT, "the request cannot be read"};
        }
        Response response;
        ::grpc::Status status = (this->*Method)(context, &request, &response);
        if (status.ok()) response.SerializeToString(&made);
        return status;
    }

    const guard guard_;
};

} // namespace semel::grpc
