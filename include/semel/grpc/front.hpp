// A front that protects unchanged gRPC services, whatever API they are written for, in the same
// process or elsewhere:
//
//   ::grpc::ServerBuilder inner;                       // no port: only the front reaches it
//   inner.RegisterService(&payments);
//   auto hidden = inner.BuildAndStart();
//
//   semel::grpc::front front{engine, semel::grpc::channel_to(*hidden),
//                            {.guard = {.tenants = …}, .methods = {{"pay.Payments/Charge", {}}}}};
//   ::grpc::ServerBuilder outer;
//   outer.AddListeningPort("0.0.0.0:443", credentials);
//   outer.RegisterCallbackGenericService(&front);
//
// Methods that are not named pass through byte by byte, streams too, with their metadata, deadline
// and cancellation. Nothing blocks. Streams of services in this process are read ahead: a client
// that is 64 MiB behind is cut off with RESOURCE_EXHAUSTED.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <grpcpp/channel.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/server.h>

#include "semel/base/mutex.hpp"
#include "semel/engine.hpp"
#include "semel/grpc.hpp"

namespace semel::grpc {

// Where the services are.
enum class reach : std::uint8_t {
    in_process,
    // In another process. gRPC itself answers UNAVAILABLE, INTERNAL or UNKNOWN when a connection
    // breaks, and RESOURCE_EXHAUSTED when an answer is larger than the channel takes. The front
    // cannot distinguish these from a handler's answer, so they mean "outcome unknown". You set the
    // channel's limits: raise them for large answers.
    remote,
};

struct front_options {
    guard_options guard = {};
    std::map<std::string, method_policy> methods = {}; // by "package.Service/Method"
    grpc::reach reach = grpc::reach::in_process;
};

// To the services of a server in this process, which outlives it. The front's own server limits the
// sizes of messages; the inner one needs its limits raised alike.
[[nodiscard]] std::shared_ptr<::grpc::Channel> channel_to(::grpc::Server& inner);

// Metadata that services behind a front find in their context. The front sets these names itself
// and takes them from no client.
inline constexpr const char* peer_metadata = "x-semel-peer"; // "ipv4:10.0.0.7:41230"
inline constexpr const char* identity_metadata = "x-semel-peer-identity-bin"; // if authenticated

// Thread-safe. The engine outlives the front, and the front outlives the server that has it.
class front final : public ::grpc::CallbackGenericService {
public:
    // Throws failure_error if the options are wrong: nothing is served then.
    front(semel::engine& engine, std::shared_ptr<::grpc::Channel> to, front_options options);
    ~front() override;

    ::grpc::ServerGenericBidiReactor*
    CreateReactor(::grpc::GenericCallbackServerContext* context) override;

private:
    friend class guarded_call;
    friend class relayed_call;

    // Calls to the service that are not gone yet. Each holds the channel, also for a moment after
    // its client was answered and the server has shut down.
    class onward_calls {
    public:
        void add();
        void remove();
        void wait_for_none();

        class ticket {
        public:
            explicit ticket(onward_calls& of) : of_(of) { of_.add(); }
            ticket(const ticket&) = delete;
            ticket& operator=(const ticket&) = delete;
            ~ticket() { of_.remove(); }

        private:
            onward_calls& of_;
        };

    private:
        detail::mutex mutex_;
        detail::condition changed_;
        std::size_t count_ = 0;
    };

    semel::engine& engine_;
    const guard_options rules_;
    const grpc::reach reach_;
    const std::map<std::string, protected_method, std::less<>> methods_; // by "/service/method"
    // Never destroyed in a callback: gRPC's channels do not support that.
    const std::shared_ptr<::grpc::Channel> to_;
    ::grpc::GenericStub stub_; // thread-safe
    onward_calls onward_;
};

} // namespace semel::grpc
