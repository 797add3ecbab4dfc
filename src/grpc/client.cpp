#include "semel/grpc/client.hpp"

#include <utility>
#include <vector>

#include <grpcpp/create_channel.h>

#include "http/text.hpp"
#include "semel/fingerprint.hpp"
#include "semel/grpc/client.hpp"
#include "semel/ids.hpp"

namespace semel::grpc {
namespace {

namespace exp = ::grpc::experimental;
using point = exp::InterceptionHookPoints;
using sent_metadata = std::multimap<std::string, std::string>;

void add_missing(sent_metadata& to, const std::string& name, const std::string& value) {
    if (!to.contains(name)) to.emplace(name, value);
}

// One per call, made on the thread that makes the call.
class carrier final : public exp::Interceptor {
public:
    carrier(const client_options& how, exp::ClientRpcInfo& call) {
        const scope* here = scope::current();
        if (here != nullptr) trace_ = here->trace();
        name_ = how.metadata;
        if (call.type() == exp::ClientRpcInfo::Type::UNARY) key_ = key_for(how, call, here);
    }

    void Intercept(exp::InterceptorBatchMethods* batch) override {
        // gRPC's own retries are below this: they send the same metadata again.
        if (batch->QueryInterceptionHookPoint(point::PRE_SEND_INITIAL_METADATA)) {
            auto& metadata = *batch->GetSendInitialMetadata();
            if (!key_.empty()) add_missing(metadata, name_, key_);
            for (const auto& line : trace_) add_missing(metadata, line.name, line.value);
        }
        batch->Proceed();
    }

private:
    static std::string key_for(const client_options& how, exp::ClientRpcInfo& call,
                               const scope* here) {
        std::string_view method = call.method();
        method.remove_prefix(method.starts_with('/') ? 1 : 0);
        if (how.forward == http::key_forwarding::none) return {};
        if (how.applies && !how.applies(method)) return {};
        if (here == nullptr || here->key().empty()) {
            return how.missing == key_missing::create ? new_ulid().to_string() : std::string{};
        }
        const bool same = how.forward == http::key_forwarding::same;
        return http::spell_key(same ? here->key() : derive(here->key(), method),
                               http::key_form::lenient);
    }

    std::string name_;
    std::string key_;
    http::header_list trace_;
};

class carrier_factory final : public exp::ClientInterceptorFactoryInterface {
public:
    explicit carrier_factory(client_options how) : how_(std::move(how)) {
        how_.metadata = http::lowered(how_.metadata); // gRPC takes no other
    }
    exp::Interceptor* CreateClientInterceptor(exp::ClientRpcInfo* call) override {
        return new carrier{how_, *call};
    }

private:
    client_options how_; // constant after construction
};

} // namespace

std::unique_ptr<exp::ClientInterceptorFactoryInterface>
open_client_interceptor(client_options options) {
    return std::make_unique<carrier_factory>(std::move(options));
}

std::shared_ptr<::grpc::Channel>
open_channel(const std::string& target,
             const std::shared_ptr<::grpc::ChannelCredentials>& credentials, client_options options,
             const ::grpc::ChannelArguments& arguments) {
    std::vector<std::unique_ptr<exp::ClientInterceptorFactoryInterface>> all;
    all.push_back(open_client_interceptor(std::move(options)));
    return exp::CreateCustomChannelWithInterceptors(target, credentials, arguments, std::move(all));
}

} // namespace semel::grpc
