// The call that this thread works for. Calls made under a scope carry its key and trace: see
// client.hpp. Protected handlers run under a scope; other code may open one.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "semel/execution.hpp"
#include "semel/http/message.hpp"

namespace grpc {
class ServerContextBase;
} // namespace grpc

namespace semel::grpc {

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

} // namespace semel::grpc
