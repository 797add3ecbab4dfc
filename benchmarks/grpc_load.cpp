// semel-bench-grpc SECONDS ROUNDS: prints, for each round, the calls per second of a service by
// itself, protected (first calls, replays), and behind a front (first calls, replays). Service and
// clients share this process, as they share the machine; turns follow each other, so that a busy
// machine slows all alike.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <grpcpp/grpcpp.h>

#include "payments.grpc.pb.h"
#include "semel/grpc/front.hpp"
#include "semel/grpc/service.hpp"
#include "semel/store/memory.hpp"
#include "workload.hpp"

namespace semel::bench {

namespace {

using test::ChargeReply;
using test::ChargeRequest;
using test::Payments;

constexpr std::size_t callers = 16;
constexpr std::uint64_t known_keys = 1'000;
constexpr const char* charge_method = "semel.test.Payments/Charge";

class payments : public Payments::Service {
public:
    ::grpc::Status Charge(::grpc::ServerContext*, const ChargeRequest*,
                          ChargeReply* reply) override {
        reply->set_id(answer_body());
        return ::grpc::Status::OK;
    }
};

enum class keys { fresh, known };

// A server and connections to it.
class place {
public:
    explicit place(::grpc::Service& service) {
        ::grpc::ServerBuilder builder;
        builder.RegisterService(&service);
        start(builder);
    }
    explicit place(grpc::front& front) {
        ::grpc::ServerBuilder builder;
        builder.RegisterCallbackGenericService(&front);
        start(builder);
    }
    place(const place&) = delete;
    place& operator=(const place&) = delete;
    ~place() {
        stubs_.clear();
        server_->Shutdown();
    }

    double rate(keys which, seconds length) {
        const auto until = std::chrono::steady_clock::now() + length;
        std::atomic<std::uint64_t> calls = 0;
        const seconds took = time_threads(callers, [&](std::size_t thread) {
            std::uint64_t made = 0;
            while (std::chrono::steady_clock::now() < until) {
                charge(thread, which == keys::fresh ? next_fresh_++ : made % known_keys);
                ++made;
            }
            calls += made;
        });
        return static_cast<double>(calls) / took.count();
    }

    // So that every known key has its answer.
    void charge_known() {
        for (std::uint64_t i = 0; i < known_keys; ++i) charge(0, i);
    }

private:
    void start(::grpc::ServerBuilder& builder) {
        int port = 0;
        builder.AddListeningPort("127.0.0.1:0", ::grpc::InsecureServerCredentials(), &port);
        server_ = builder.BuildAndStart();
        for (std::size_t i = 0; i < callers; ++i) {
            ::grpc::ChannelArguments how;
            how.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
            how.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
            stubs_.push_back(Payments::NewStub(::grpc::CreateCustomChannel(
                "127.0.0.1:" + std::to_string(port), ::grpc::InsecureChannelCredentials(), how)));
        }
    }

    void charge(std::size_t thread, std::uint64_t number) {
        ::grpc::ClientContext context;
        context.AddMetadata("idempotency-key", key_of(number));
        ChargeRequest request;
        request.set_card(key_of(number));
        request.set_amount(49);
        ChargeReply reply;
        const auto status = stubs_[thread]->Charge(&context, request, &reply);
        if (!status.ok()) throw std::runtime_error{"a call failed: " + status.error_message()};
        require(reply.id() == answer_body(), "a call was answered with something else");
    }

    std::unique_ptr<::grpc::Server> server_;
    std::vector<std::unique_ptr<Payments::Stub>> stubs_;
    std::atomic<std::uint64_t> next_fresh_ = known_keys;
};

std::unique_ptr<::grpc::Server> hidden_server(::grpc::Service& service) {
    ::grpc::ServerBuilder builder;
    builder.RegisterService(&service);
    return builder.BuildAndStart();
}

grpc::front_options front_options() {
    return {.guard = {.tenants = http::single_tenant{"acme"}}, .methods = {{charge_method, {}}}};
}

void measure(seconds turn, int rounds) {
    semel::engine engine{open_memory_store()};
    semel::engine front_engine{open_memory_store()};
    payments plain;
    grpc::idempotent<Payments, payments> guarded{engine, {.tenants = http::single_tenant{"acme"}}};
    guarded.protect<&payments::Charge>("Charge");
    payments behind;
    const auto hidden = hidden_server(behind);
    grpc::front front{front_engine, grpc::channel_to(*hidden), front_options()};

    place at_plain{plain};
    place at_service{guarded};
    place at_front{front};
    at_plain.charge_known();
    at_service.charge_known();
    at_front.charge_known();
    for (int i = 0; i < rounds; ++i) {
        const double bare = at_plain.rate(keys::fresh, turn);
        const double first = at_service.rate(keys::fresh, turn);
        const double replay = at_service.rate(keys::known, turn);
        const double front_first = at_front.rate(keys::fresh, turn);
        const double front_replay = at_front.rate(keys::known, turn);
        std::printf("%f %f %f %f %f\n", bare, first, replay, front_first, front_replay);
    }
    require(engine.counters().replayed > 0 && front_engine.counters().replayed > 0,
            "replays were replays");
}

} // namespace

} // namespace semel::bench

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: semel-bench-grpc SECONDS ROUNDS\n";
        return 2;
    }
    try {
        semel::bench::measure(semel::bench::seconds{std::atof(argv[1])}, std::atoi(argv[2]));
        return 0;
    } catch (const std::exception& broken) {
        std::cerr << "semel-bench-grpc: " << broken.what() << '\n';
        return 1;
    }
}
