// The payments, protected in one of two ways, on a port of this machine.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include "payments.hpp"
#include "semel/engine.hpp"
#include "semel/grpc/front.hpp"
#include "semel/grpc/service.hpp"
#include "semel/store/memory.hpp"

namespace semel::grpc_test {

inline constexpr int message_bytes_max = 64 << 20;

enum class form { service, front };

inline std::string form_name(const testing::TestParamInfo<form>& of) {
    return of.param == form::service ? "Service" : "Front";
}

// A stub without the proxy that the environment may name.
inline std::unique_ptr<Payments::Stub> stub_to(const std::string& address) {
    ::grpc::ChannelArguments how;
    how.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    how.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    how.SetMaxReceiveMessageSize(message_bytes_max);
    return Payments::NewStub(
        ::grpc::CreateCustomChannel(address, ::grpc::InsecureChannelCredentials(), how));
}

// Starts `builder` on a free port and tells which.
inline std::unique_ptr<::grpc::Server> started(::grpc::ServerBuilder& builder,
                                               std::string& address) {
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port);
    builder.SetMaxReceiveMessageSize(message_bytes_max);
    auto server = builder.BuildAndStart();
    address = "127.0.0.1:" + std::to_string(port);
    return server;
}

struct setup {
    grpc::method_policy charge = {};
    grpc::guard_options guard = {.tenants = http::single_tenant{"acme"}};
    operation_policy policy = {.lease = std::chrono::minutes{10}}; // nobody takes over by accident
    engine_options engine = {};
};

class served {
public:
    served(form how, setup with, payments::behaviour on_charge = {},
           std::unique_ptr<store> records = open_memory_store())
        : engine_(std::move(records), with.policy, std::move(with.engine)),
          service_(engine_, with.guard) {
        payments_of(how).on_charge = std::move(on_charge);
        plain_.on_look = service_.on_look = [](auto& context, const auto&, auto& reply) {
            const auto& sent = context.client_metadata();
            if (const auto peer = sent.find(grpc::peer_metadata); peer != sent.end()) {
                reply.set_id(std::string{peer->second.data(), peer->second.size()});
            }
            return Status::OK;
        };
        if (how == form::service) start_service(with);
        if (how == form::front) start_front(with);
        stub_ = stub_to(address_);
    }
    served(const served&) = delete;
    served& operator=(const served&) = delete;
    ~served() {
        stub_.reset();
        server_->Shutdown();
        if (inner_) inner_->Shutdown();
    }

    called charge(const std::string& key, std::int64_t amount, call_options how = {}) {
        return charge(charge_of(amount), key, std::move(how));
    }
    called charge(const ChargeRequest& request, const std::string& key, call_options how = {}) {
        how.key = key;
        return call(*stub_, &Payments::Stub::Charge, request, how);
    }

    [[nodiscard]] Payments::Stub& stub() { return *stub_; }
    [[nodiscard]] const std::string& address() const { return address_; }
    [[nodiscard]] semel::engine& engine() { return engine_; }
    [[nodiscard]] int runs() const { return plain_.runs + service_.runs; }
    [[nodiscard]] int looks() const { return plain_.looks + service_.looks; }

private:
    using guarded = grpc::idempotent<Payments, payments>;

    payments& payments_of(form how) {
        if (how == form::front) return plain_;
        return service_;
    }

    void start_service(setup& with) {
        service_.protect<&payments::Charge>("Charge", with.charge);
        ::grpc::ServerBuilder builder;
        builder.RegisterService(&service_);
        server_ = started(builder, address_);
    }

    void start_front(setup& with) {
        ::grpc::ServerBuilder hidden;
        hidden.RegisterService(&plain_);
        hidden.SetMaxReceiveMessageSize(message_bytes_max);
        inner_ = hidden.BuildAndStart();
        grpc::front_options how{.guard = with.guard};
        how.methods.emplace("semel.test.Payments/Charge", with.charge);
        front_.emplace(engine_, grpc::channel_to(*inner_), std::move(how));
        ::grpc::ServerBuilder builder;
        builder.RegisterCallbackGenericService(&*front_);
        server_ = started(builder, address_);
    }

    semel::engine engine_;
    payments plain_;
    guarded service_;
    std::unique_ptr<::grpc::Server> inner_;
    std::optional<grpc::front> front_;
    std::unique_ptr<::grpc::Server> server_;
    std::string address_;
    std::unique_ptr<Payments::Stub> stub_;
};

} // namespace semel::grpc_test
