#include "semel/grpc/front.hpp"

#include <set>
#include <utility>

#include <grpcpp/support/channel_arguments.h>

#include "grpc/guarded_call.hpp"
#include "grpc/relayed_call.hpp"
#include "semel/base/mutex.hpp"

namespace semel::grpc {
namespace {

using ::grpc::StatusCode;

// Ends at once.
class refused_call final : public ::grpc::ServerGenericBidiReactor {
public:
    explicit refused_call(const ::grpc::Status& with) { Finish(with); }
    void OnDone() override { delete this; }
};

// After the user's own rules: what gRPC itself says is not the handler's word. Its client makes
// RESOURCE_EXHAUSTED of an answer that is larger than the channel takes, when the service is done.
void add_remote_rules(method_policy& how) {
    for (const auto code : {StatusCode::UNAVAILABLE, StatusCode::INTERNAL, StatusCode::UNKNOWN,
                            StatusCode::RESOURCE_EXHAUSTED}) {
        how.codes.push_back({.code = code, .becomes = http::disposition::unknown});
    }
}

std::map<std::string, protected_method, std::less<>> checked(front_options& options) {
    check(options.guard).value();
    std::map<std::string, protected_method, std::less<>> made;
    std::set<std::string> operations;
    for (auto& [name, how] : options.methods) {
        if (options.reach == reach::remote) add_remote_rules(how);
        auto method = protected_method::make(name, std::move(how)).value();
        if (!operations.insert(method.how.operation).second) {
            throw_failure({.code = errc::invalid_argument,
                           .detail = "method '" + name +
                                     "': its operation is another's too; their keys would meet"});
        }
        made.emplace("/" + name, std::move(method));
    }
    return made;
}

} // namespace

std::shared_ptr<::grpc::Channel> channel_to(::grpc::Server& inner) {
    ::grpc::ChannelArguments how;
    how.SetMaxReceiveMessageSize(-1);
    how.SetMaxSendMessageSize(-1);
    return inner.InProcessChannel(how);
}

front::front(semel::engine& engine, std::shared_ptr<::grpc::Channel> to, front_options options)
    : engine_(engine),
      rules_(options.guard),
      reach_(options.reach),
      methods_(checked(options)),
      to_(std::move(to)),
      stub_(to_) {}

front::~front() {
    onward_.wait_for_none();
}

void front::onward_calls::add() {
    const detail::guard lock{mutex_};
    ++count_;
}

void front::onward_calls::remove() {
    const detail::guard lock{mutex_};
    // Under the lock: the thread that waits may destroy this object as soon as the lock is free.
    if (--count_ == 0) changed_.notify_all();
}

void front::onward_calls::wait_for_none() {
    detail::guard lock{mutex_};
    changed_.wait(lock, [&] { return count_ == 0; });
}

::grpc::ServerGenericBidiReactor*
front::CreateReactor(::grpc::GenericCallbackServerContext* context) {
    const auto found = methods_.find(context->method());
    if (found == methods_.end()) return new relayed_call{stub_, *context, rules_, reach_};
    auto what = admit(rules_, found->second, *context);
    if (auto* no = std::get_if<::grpc::Status>(&what)) return new refused_call{*no};
    if (auto* call = std::get_if<protected_call>(&what)) {
        return new guarded_call{*this, *context, std::move(*call)};
    }
    return new relayed_call{stub_, *context, rules_, reach_};
}

} // namespace semel::grpc
