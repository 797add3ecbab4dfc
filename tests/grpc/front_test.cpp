// The front before services of every kind, here and elsewhere.
#include <future>
#include <thread>

#include "semel/store/memory.hpp"
#include "served.hpp"

namespace semel::grpc_test {
namespace {

using namespace std::chrono_literals;

// ---- services written for gRPC's other APIs

class callback_payments final : public Payments::CallbackService {
public:
    ::grpc::ServerUnaryReactor* Charge(::grpc::CallbackServerContext* context, const ChargeRequest*,
                                       ChargeReply* reply) override {
        reply->set_number(++runs);
        auto* reactor = context->DefaultReactor();
        reactor->Finish(Status::OK);
        return reactor;
    }
    std::atomic<int> runs = 0;
};

// Serves one Charge after another on a thread of its own.
class async_payments {
public:
    using service = Payments::WithAsyncMethod_Charge<Payments::Service>;

    void serve(::grpc::ServerCompletionQueue& queue) {
        void* tag = nullptr;
        bool ok = false;
        while (true) {
            ::grpc::ServerContext context;
            ChargeRequest request;
            ::grpc::ServerAsyncResponseWriter<ChargeReply> answer{&context};
            at.RequestCharge(&context, &request, &answer, &queue, &queue, &context);
            if (!queue.Next(&tag, &ok) || !ok) break;
            ChargeReply reply;
            reply.set_number(++runs);
            answer.Finish(reply, Status::OK, &answer);
            if (!queue.Next(&tag, &ok)) break;
        }
        while (queue.Next(&tag, &ok)) {
        }
    }

    service at;
    std::atomic<int> runs = 0;
};

constexpr const char* charge_method = "semel.test.Payments/Charge";

// A front on a port of its own before whatever `to` reaches.
class front_server {
public:
    front_server(std::shared_ptr<::grpc::Channel> to, grpc::reach how,
                 grpc::method_policy charge = {}, operation_policy policy = {},
                 grpc::guard_options rules = {.tenants = http::single_tenant{"acme"}})
        : engine_(open_memory_store(), std::move(policy)),
          front_(engine_, std::move(to), options(how, std::move(charge), std::move(rules))) {
        ::grpc::ServerBuilder builder;
        builder.RegisterCallbackGenericService(&front_);
        server_ = started(builder, address_);
        stub_ = stub_to(address_);
    }
    ~front_server() {
        stub_.reset();
        server_->Shutdown();
    }
    front_server(const front_server&) = delete;
    front_server& operator=(const front_server&) = delete;

    called charge(const std::string& key, std::int64_t amount, call_options how = {}) {
        how.key = key;
        return call(*stub_, &Payments::Stub::Charge, charge_of(amount), how);
    }
    [[nodiscard]] Payments::Stub& stub() { return *stub_; }

private:
    static grpc::front_options options(grpc::reach how, grpc::method_policy charge,
                                       grpc::guard_options rules) {
        grpc::front_options made{.guard = std::move(rules), .reach = how};
        made.methods.emplace(charge_method, std::move(charge));
        return made;
    }

    semel::engine engine_;
    grpc::front front_;
    std::string address_;
    std::unique_ptr<::grpc::Server> server_;
    std::unique_ptr<Payments::Stub> stub_;
};

std::shared_ptr<::grpc::Channel> channel_at(const std::string& address) {
    ::grpc::ChannelArguments how;
    how.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    return ::grpc::CreateCustomChannel(address, ::grpc::InsecureChannelCredentials(), how);
}

TEST(GrpcFront, ProtectsACallbackService) {
    callback_payments service;
    ::grpc::ServerBuilder builder;
    builder.RegisterService(&service);
    const auto inner = builder.BuildAndStart();
    front_server at{grpc::channel_to(*inner), grpc::reach::in_process};

    EXPECT_EQ(at.charge("key-1", 100).reply.number(), 1);
    EXPECT_TRUE(at.charge("key-1", 100).replayed());
    EXPECT_EQ(service.runs, 1);
}

TEST(GrpcFront, ProtectsAnAsyncService) {
    async_payments service;
    ::grpc::ServerBuilder builder;
    builder.RegisterService(&service.at);
    const auto queue = builder.AddCompletionQueue();
    const auto inner = builder.BuildAndStart();
    std::thread serving{[&] { service.serve(*queue); }};
    {
        front_server at{grpc::channel_to(*inner), grpc::reach::in_process};
        EXPECT_EQ(at.charge("key-1", 100).reply.number(), 1);
        EXPECT_TRUE(at.charge("key-1", 100).replayed());
        EXPECT_EQ(service.runs, 1);
    }
    inner->Shutdown();
    queue->Shutdown();
    serving.join();
}

class GrpcFrontBefore : public testing::Test {
protected:
    void start(payments::behaviour on_charge = {}, payments::behaviour on_look = {}) {
        service_.on_charge = std::move(on_charge);
        service_.on_look = std::move(on_look);
        ::grpc::ServerBuilder builder;
        builder.RegisterService(&service_);
        inner_ = started(builder, address_);
    }

    payments service_;
    std::string address_;
    std::unique_ptr<::grpc::Server> inner_;
};

TEST_F(GrpcFrontBefore, ServesARemoteService) {
    start();
    front_server at{channel_at(address_), grpc::reach::remote};

    EXPECT_EQ(at.charge("key-1", 100).reply.number(), 1);
    EXPECT_TRUE(at.charge("key-1", 100).replayed());
    EXPECT_EQ(at.charge("key-1", 1).status.error_code(), StatusCode::FAILED_PRECONDITION);
    ::grpc::ClientContext context;
    auto talk = at.stub().Talk(&context);
    ChargeReply reply;
    for (int i = 1; i <= 20; ++i) {
        ASSERT_TRUE(talk->Write(charge_of(i)));
        ASSERT_TRUE(talk->Read(&reply));
        EXPECT_EQ(reply.number(), 2 * i);
    }
    talk->WritesDone();
    EXPECT_FALSE(talk->Read(&reply));
    EXPECT_TRUE(talk->Finish().ok());
    ::grpc::ClientContext watching;
    auto watch = at.stub().Watch(&watching, charge_of(1000));
    std::int64_t seen = 0;
    while (watch->Read(&reply)) ++seen;
    EXPECT_EQ(seen, 1000);
    EXPECT_TRUE(watch->Finish().ok());
}

TEST_F(GrpcFrontBefore, ABrokenConnectionLeavesTheOutcomeUnknown) {
    start();
    front_server at{channel_at(address_),
                    grpc::reach::remote,
                    {},
                    {.on_lease_expiry = lease_expiry::hold, .grace = 1ms}};
    inner_->Shutdown();
    inner_.reset();

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.status.error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(again.status.error_code(), StatusCode::ABORTED);
    EXPECT_EQ(details_of(again.status).reason, "IN_DOUBT");
}

// The front's own client refuses what it cannot take, after the service has executed.
TEST_F(GrpcFrontBefore, AReplyAboveTheLimitOfTheChannelLeavesTheOutcomeUnknown) {
    start([](auto&, const auto&, auto& reply) {
        reply.set_blob(std::string(5U << 20U, 'x')); // gRPC takes 4 MiB unless told otherwise
        return Status::OK;
    });
    front_server at{channel_at(address_),
                    grpc::reach::remote,
                    {},
                    {.on_lease_expiry = lease_expiry::hold, .grace = 1ms}};

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(details_of(again.status).reason, "IN_DOUBT");
    EXPECT_EQ(service_.runs, 1);
}

TEST_F(GrpcFrontBefore, ARuleOfTheMethodComesBeforeThoseOfTheRemote) {
    start([](auto&, const auto&, auto&) { return Status{StatusCode::RESOURCE_EXHAUSTED, "full"}; });
    front_server at{
        channel_at(address_),
        grpc::reach::remote,
        {.codes = {{.code = StatusCode::RESOURCE_EXHAUSTED, .becomes = http::disposition::retry}}},
        {.on_lease_expiry = lease_expiry::hold, .grace = 1ms}};

    at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(again.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(service_.runs, 2);
}

TEST_F(GrpcFrontBefore, PassesMetadataPeerAndDeadline) {
    std::multimap<std::string, std::string> seen;
    std::chrono::system_clock::time_point deadline;
    start({}, [&](auto& context, const auto&, auto&) {
        fill(seen, context.client_metadata());
        deadline = context.deadline();
        return Status::OK;
    });
    front_server at{grpc::channel_to(*inner_), grpc::reach::in_process};
    const std::string bytes{"\x00\x01\xFF", 3};
    const auto latest = std::chrono::system_clock::now() + patience + 1s;

    const auto looked = call(
        at.stub(), &Payments::Stub::Look, charge_of(1),
        {.metadata = {{"x-any", "thing"}, {"x-any-bin", bytes}, {grpc::peer_metadata, "forged"}}});

    ASSERT_TRUE(looked.status.ok()) << looked.status.error_message();
    EXPECT_EQ(seen.find("x-any")->second, "thing");
    EXPECT_EQ(seen.find("x-any-bin")->second, bytes);
    ASSERT_EQ(seen.count(grpc::peer_metadata), 1U);
    EXPECT_TRUE(seen.find(grpc::peer_metadata)->second.starts_with("ipv4:127.0.0.1:"));
    EXPECT_LE(deadline, latest);
}

// On methods that pass, too, where no tenant is asked for.
TEST_F(GrpcFrontBefore, AnUntrustedCallersTenantAndATokenOfOursDoNotGoOn) {
    std::multimap<std::string, std::string> seen;
    start({}, [&](auto& context, const auto&, auto&) {
        fill(seen, context.client_metadata());
        return Status::OK;
    });
    const call_options said{.metadata = {{"x-tenant", "forged"}, {"authorization", "Bearer ours"}}};
    const auto ask = [&](grpc::guard_options rules) {
        seen.clear();
        front_server at{
            grpc::channel_to(*inner_), grpc::reach::in_process, {}, {}, std::move(rules)};
        EXPECT_TRUE(call(at.stub(), &Payments::Stub::Look, charge_of(1), said).status.ok());
    };

    ask({.tenants = http::tenant_header{"x-tenant"}});
    EXPECT_EQ(seen.count("x-tenant"), 0U);
    EXPECT_EQ(seen.count("authorization"), 1U);
    ask({.tenants = http::tenant_header{"x-tenant"},
         .trust = [](const auto&) { return http::peer_trust::trusted; }});
    EXPECT_EQ(seen.find("x-tenant")->second, "forged");
    ask({.tenants = http::tenant_token{[](std::string_view token) {
             return token == "ours" ? std::optional<std::string>{"acme"} : std::nullopt;
         }}});
    EXPECT_EQ(seen.count("authorization"), 0U);
}

TEST_F(GrpcFrontBefore, ForwardsTheKeyAsThePolicySays) {
    std::string seen;
    start([&](auto& context, const auto&, auto&) {
        const auto found = context.client_metadata().find("idempotency-key");
        const bool there = found != context.client_metadata().end();
        seen = there ? std::string{found->second.data(), found->second.size()} : "none";
        return Status::OK;
    });
    const auto key_with = [&](http::key_forwarding how) {
        front_server at{grpc::channel_to(*inner_), grpc::reach::in_process, {.forward = how}};
        at.charge("\"key-1\"", 100);
        return seen;
    };

    EXPECT_EQ(key_with(http::key_forwarding::same), "\"key-1\"");
    EXPECT_EQ(key_with(http::key_forwarding::child), "key-1:semel.test.Payments/Charge");
    EXPECT_EQ(key_with(http::key_forwarding::none), "none");
}

TEST_F(GrpcFrontBefore, TellsWorkOfItsCallersLeavingWhereAsked) {
    std::promise<void> begun;
    std::promise<void> told;
    start([&](auto& context, const auto&, auto&) {
        begun.set_value();
        while (!context.IsCancelled()) std::this_thread::yield();
        told.set_value();
        return Status{StatusCode::CANCELLED, "left"};
    });
    front_server at{
        grpc::channel_to(*inner_), grpc::reach::in_process, {.leaving = grpc::caller_gone::pass}};
    ::grpc::ClientContext context;
    prepare(context, {.key = "key-1"});
    auto calling = std::async(std::launch::async, [&] {
        ChargeReply reply;
        return at.stub().Charge(&context, charge_of(100), &reply);
    });
    begun.get_future().wait();

    context.TryCancel();

    EXPECT_EQ(told.get_future().wait_for(patience), std::future_status::ready);
    EXPECT_EQ(calling.get().error_code(), StatusCode::CANCELLED);
}

TEST(GrpcFront, RefusesToStartWithWhatCannotBeMeant) {
    semel::engine engine{open_memory_store()};
    const auto starts = [&](grpc::front_options options) {
        try {
            const grpc::front made{engine, channel_at("127.0.0.1:1"), std::move(options)};
            return std::string{};
        } catch (const failure_error& why) {
            return why.why().detail;
        }
    };
    const grpc::guard_options acme{.tenants = http::single_tenant{"acme"}};

    EXPECT_NE(starts({}), "");
    EXPECT_EQ(starts({.guard = acme}), "");
    EXPECT_NE(starts({.guard = acme, .methods = {{std::string(65, 'm'), {}}}}), "");
    EXPECT_NE(starts({.guard = acme,
                      .methods = {{"a/b", {.content = grpc::content_form::deterministic}}}}),
              "");
    EXPECT_NE(starts({.guard = acme, .methods = {{"a/b", {.metadata = {"set-cookie"}}}}}), "");
    EXPECT_NE(starts({.guard = acme,
                      .methods = {{"a/b", {.operation = "same"}}, {"a/c", {.operation = "same"}}}}),
              "");
}

} // namespace
} // namespace semel::grpc_test
