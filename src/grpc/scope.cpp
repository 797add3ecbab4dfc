#include "semel/grpc/client.hpp"

#include <utility>
#include <variant>

#include <grpcpp/server_context.h>

#include "grpc/metadata.hpp"
#include "semel/grpc.hpp"

namespace semel::grpc {
namespace {

thread_local const scope* innermost = nullptr;

std::string key_in(const ::grpc::ServerContextBase& context) {
    auto key = http::read_key(lines_of(context.client_metadata()), guard_options{}.keys);
    auto* sent = std::get_if<http::sent_key>(&key);
    return sent == nullptr ? std::string{} : std::move(sent->key);
}

} // namespace

scope::scope(std::string key) : key_(std::move(key)), outer_(std::exchange(innermost, this)) {}

scope::scope(const ::grpc::ServerContextBase& context)
    : context_(&context), key_(key_in(context)), outer_(std::exchange(innermost, this)) {}

scope::scope(const ::grpc::ServerContextBase& context, execution& run)
    : context_(&context), run_(&run), key_(run.key()), outer_(std::exchange(innermost, this)) {}

scope::~scope() {
    innermost = outer_;
}

const scope* scope::current() {
    return innermost;
}

http::header_list scope::trace() const {
    static const std::vector<std::string> names = {"traceparent", "tracestate", "grpc-trace-bin"};
    if (context_ == nullptr) return {};
    return kept(context_->client_metadata(), names);
}

} // namespace semel::grpc
