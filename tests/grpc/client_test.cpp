// What a client's calls carry on.
#include "semel/grpc/client.hpp"

#include "semel/grpc/client.hpp"
#include "served.hpp"

namespace semel::grpc_test {
namespace {

using namespace std::chrono_literals;

// Notes what each call brings.
class GrpcClient : public testing::Test {
protected:
    GrpcClient() {
        service_.on_charge = [this](auto& context, const auto&, auto&) {
            std::multimap<std::string, std::string> metadata;
            fill(metadata, context.client_metadata());
            brought_.push_back(std::move(metadata));
            return brought_.size() < fails_ ? Status{StatusCode::UNAVAILABLE, "once more"}
                                            : Status::OK;
        };
        ::grpc::ServerBuilder builder;
        builder.RegisterService(&service_);
        server_ = started(builder, address_);
        arguments_.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
        arguments_.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    }
    ~GrpcClient() override { server_->Shutdown(); }

    std::unique_ptr<Payments::Stub> stub(grpc::client_options how = {}) {
        return Payments::NewStub(grpc::open_channel(address_, ::grpc::InsecureChannelCredentials(),
                                                    std::move(how), arguments_));
    }
    Status charge(Payments::Stub& by, call_options how = {}) {
        return call(by, &Payments::Stub::Charge, charge_of(1), how).status;
    }
    std::string key_of(std::size_t which) { return value_of(which, "idempotency-key"); }
    std::string value_of(std::size_t which, const std::string& name) {
        const auto& all = brought_.at(which);
        EXPECT_LE(all.count(name), 1U);
        return all.contains(name) ? all.find(name)->second : "none";
    }

    payments service_;
    std::vector<std::multimap<std::string, std::string>> brought_;
    std::size_t fails_ = 0; // so many calls but one are told to come again
    std::unique_ptr<::grpc::Server> server_;
    std::string address_;
    ::grpc::ChannelArguments arguments_;
};

TEST_F(GrpcClient, EachCallGetsAKeyOfItsOwn) {
    const auto by = stub();

    charge(*by);
    charge(*by);
    charge(*by, {.key = "my-own"});

    EXPECT_EQ(key_of(0).size(), 26U); // a ULID
    EXPECT_NE(key_of(0), key_of(1));
    EXPECT_EQ(key_of(2), "my-own");
}

TEST_F(GrpcClient, BuiltInRetriesKeepTheKey) {
    arguments_.SetServiceConfigJSON(R"({"methodConfig": [{
        "name": [{"service": "semel.test.Payments"}],
        "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.01s", "maxBackoff": "0.01s",
                        "backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE"]}}]})");
    fails_ = 3;
    const auto by = stub();

    EXPECT_TRUE(charge(*by).ok());

    ASSERT_EQ(brought_.size(), 3U);
    EXPECT_EQ(key_of(0).size(), 26U);
    EXPECT_EQ(key_of(1), key_of(0));
    EXPECT_EQ(key_of(2), key_of(0));
}

TEST_F(GrpcClient, UnderAScopeTheKeyIsItsWithTheMethodBehindIt) {
    const auto child = stub();
    const auto same = stub({.forward = http::key_forwarding::same});
    const auto none = stub({.forward = http::key_forwarding::none});
    const auto chosen = stub({.applies = [](std::string_view method) {
        return method == "semel.test.Payments/Refund";
    }});
    const grpc::scope here{"order-17"};

    charge(*child);
    charge(*child);
    charge(*same);
    charge(*none);
    charge(*chosen);
    {
        const grpc::scope inner{"order-18"};
        charge(*same);
    }
    charge(*same);

    EXPECT_EQ(key_of(0), "order-17:semel.test.Payments/Charge");
    EXPECT_EQ(key_of(1), key_of(0));
    EXPECT_EQ(key_of(2), "order-17");
    EXPECT_EQ(key_of(3), "none");
    EXPECT_EQ(key_of(4), "none");
    EXPECT_EQ(key_of(5), "order-18");
    EXPECT_EQ(key_of(6), "order-17");
}

TEST_F(GrpcClient, WithoutAScopeNoKeyIsMadeWhereNoneIsWanted) {
    const auto by = stub({.missing = grpc::key_missing::leave});

    charge(*by);

    EXPECT_EQ(key_of(0), "none");
    EXPECT_EQ(grpc::scope::current(), nullptr);
}

TEST_F(GrpcClient, AProtectedHandlerPassesKeyAndTraceOn) {
    const auto next = stub();
    served at{form::service, {}, [&](auto&, const auto&, auto&) { return charge(*next); }};

    const auto made = at.charge("order-17", 5,
                                {.metadata = {{"traceparent", "00-ab-cd-01"},
                                              {"tracestate", "shop=1"},
                                              {"x-other", "stays"}}});

    ASSERT_TRUE(made.status.ok()) << made.status.error_message();
    EXPECT_EQ(key_of(0), "order-17:semel.test.Payments/Charge");
    EXPECT_EQ(value_of(0, "traceparent"), "00-ab-cd-01");
    EXPECT_EQ(value_of(0, "tracestate"), "shop=1");
    EXPECT_EQ(value_of(0, "x-other"), "none");
}

TEST_F(GrpcClient, AHandlerBehindAFrontPassesThemOnTooInAScope) {
    const auto next = stub();
    served at{form::front, {}, [&](auto& context, const auto&, auto&) {
                  const grpc::scope here{context};
                  return charge(*next);
              }};

    at.charge("order-17", 5, {.metadata = {{"traceparent", "00-ab-cd-01"}}});

    EXPECT_EQ(key_of(0), "order-17:semel.test.Payments/Charge");
    EXPECT_EQ(value_of(0, "traceparent"), "00-ab-cd-01");
}

} // namespace
} // namespace semel::grpc_test
