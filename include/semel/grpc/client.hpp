// For clients: a channel whose unary calls carry a key and the trace on.
//
//   auto stub = Ledger::NewStub(semel::grpc::connect("ledger:443", credentials));
//
// Under a scope (a protected handler runs under one) the key is the scope's key followed by the
// called method, "order-17:ledger.Ledger/Post". It is the same on every attempt and every repeat,
// so the callee's work takes effect once, too. Outside of a scope, each call gets a new key, which
// its built-in retries keep. A key that the caller has put into the ClientContext stays.
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
    // child: as above. same: the scope's key as it is, for several callees with different
    // operations that are called once each. none: only the trace is carried.
    http::key_forwarding forward = http::key_forwarding::child;
    key_missing missing = key_missing::create;
    // Which methods get a key, by "package.Service/Method". None: all unary ones.
    std::function<bool(std::string_view method)> applies = {};
};

// A handler that calls the same method twice on purpose opens a scope for each call:
//   const semel::grpc::scope second{run.child_key("second")};
[[nodiscard]] std::unique_ptr<::grpc::experimental::ClientInterceptorFactoryInterface>
make_client_interceptor(client_options options = {});

[[nodiscard]] std::shared_ptr<::grpc::Channel>
connect(const std::string& target, const std::shared_ptr<::grpc::ChannelCredentials>& credentials,
        client_options options = {}, const ::grpc::ChannelArguments& arguments = {});

} // namespace semel::grpc
