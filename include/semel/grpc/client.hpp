// For clients: a channel whose unary calls carry a key and the trace on.
//
//   auto stub = Ledger::NewStub(semel::grpc::connect("ledger:443", credentials));
//
// Under a scope (in a protected handler there is one) the key is the scope's with the called method
// behind it, "order-17:ledger.Ledger/Post": the same on every attempt and every repeat, so the
// callee's work takes effect once too. Outside of any, each call gets a new key, which its built-in
// retries keep. A key that the caller has put into the ClientContext stays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>

#include "semel/http/route.hpp"

namespace semel::grpc {

// What a call outside of any scope gets.
enum class key_missing : std::uint8_t { create, leave };

struct client_options {
    std::string metadata = "idempotency-key";
    // child: as above. same: the scope's key as it is, for callees whose operations differ and who
    // are called once each. none: only the trace goes on.
    http::key_forwarding forward = http::key_forwarding::child;
    key_missing missing = key_missing::create;
    // Which methods get a key, by "package.Service/Method". None: all unary ones.
    std::function<bool(std::string_view method)> applies = {};
};

// One that calls the same method twice on purpose opens a scope for each:
//   const semel::grpc::scope second{run.child_key("second")};
[[nodiscard]] std::unique_ptr<::grpc::experimental::ClientInterceptorFactoryInterface>
make_client_interceptor(client_options options = {});

[[nodiscard]] std::shared_ptr<::grpc::Channel>
connect(const std::string& target, const std::shared_ptr<::grpc::ChannelCredentials>& credentials,
        client_options options = {}, const ::grpc::ChannelArguments& arguments = {});

} // namespace semel::grpc
