// For clients: a channel whose unary calls carry a key and the trace on.
//
//   auto stub = Ledger::NewStub(semel::grpc::open_channel("ledger:443", credentials));
//
// Under a scope (a protected handler runs under one) the key is the scope's key followed by the
// called method, "order-17:ledger.Ledger/Post". It is the same on every attempt and every repeat,
// so the callee's work takes effect once, too. Outside of a scope, each call gets a new key, which
// its built-in retries keep. A key that the caller has put into the ClientContext stays.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <grpcpp/channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/client_interceptor.h>

#include "semel/engine/execution.hpp"
#include "semel/http/message.hpp"
#include "semel/http/route.hpp"

namespace grpc {
class ServerContextBase;
} // namespace grpc

namespace semel::grpc {

// The call that this thread works for. Calls made under a scope carry its key and trace.
// Protected handlers run under a scope; other code may open one.

// A scope is its thread's current one from its construction to its destruction. Scopes nest, and
// stay on their thread. What a scope is made from outlives it.
class scope {
public:
    // A client's own: the same key for a call and each of its repeats.
    explicit scope(std::string key);
    // The key and trace that the call came with, for a handler that is not protected here, such as
    // one behind a front.
    explicit scope(const ::grpc::ServerContextBase& context);
    // The same for an attempt at a protected call.
    scope(const ::grpc::ServerContextBase& context, execution& run);
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();

    // Null outside of a scope.
    [[nodiscard]] static const scope* current();

    // Empty: the call came without one.
    [[nodiscard]] const std::string& key() const { return key_; }
    // The attempt, for steps, child keys and the fence. Null: the call is not protected here.
    [[nodiscard]] execution* running() const { return run_; }
    // traceparent, tracestate and grpc-trace-bin, where the call brought them.
    [[nodiscard]] http::header_list trace() const;

private:
    const ::grpc::ServerContextBase* context_ = nullptr;
    execution* run_ = nullptr;
    std::string key_;
    const scope* outer_;
};

// The attempt that this thread works on, or null.
[[nodiscard]] inline execution* current_execution() {
    const scope* here = scope::current();
    return here == nullptr ? nullptr : here->running();
}

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
open_client_interceptor(client_options options = {});

[[nodiscard]] std::shared_ptr<::grpc::Channel>
open_channel(const std::string& target,
             const std::shared_ptr<::grpc::ChannelCredentials>& credentials,
             client_options options = {}, const ::grpc::ChannelArguments& arguments = {});

} // namespace semel::grpc
