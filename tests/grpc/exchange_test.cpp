// The pure part: stored answers, statuses, and what is refused at start.
#include "semel/grpc.hpp"

#include "served.hpp"

namespace semel::grpc_test {
namespace {

using namespace std::chrono_literals;
using stored = codec<grpc::answer>;

TEST(GrpcExchange, AStoredAnswerIsReadAsItWasWritten) {
    grpc::answer whole{.status = {StatusCode::ABORTED, "text", std::string{"\0bytes", 6}}};
    whole.initial.add("x-a", "1");
    whole.trailing.add("x-b-bin", std::string{"\0\xFF", 2});
    const grpc::answer fine{.message = std::string(300, 'm')};

    const auto back = stored::decode(stored::encode(whole));
    const auto fine_back = stored::decode(stored::encode(fine));

    EXPECT_EQ(back.status.error_code(), StatusCode::ABORTED);
    EXPECT_EQ(back.status.error_message(), "text");
    EXPECT_EQ(back.status.error_details(), whole.status.error_details());
    EXPECT_EQ(back.initial, whole.initial);
    EXPECT_EQ(back.trailing, whole.trailing);
    EXPECT_TRUE(fine_back.status.ok());
    EXPECT_EQ(fine_back.message, fine.message);
}

TEST(GrpcExchange, DamagedBytesAreRefusedNotRead) {
    grpc::answer whole{.message = "message"};
    whole.initial.add("x-a", "1");
    const std::string bytes = stored::encode(whole);

    EXPECT_THROW(stored::decode(""), failure_error);
    EXPECT_THROW(stored::decode("\x08\x11"), failure_error);  // a code that gRPC does not have
    EXPECT_THROW(stored::decode("\x0A\x01x"), failure_error); // bytes where a number belongs
    EXPECT_THROW(stored::decode("\x08\x00\x10\x01"), failure_error); // and the other way round
    EXPECT_THROW(stored::decode(bytes.substr(0, bytes.size() - 1)), failure_error);
    for (std::size_t i = 0; i < bytes.size(); ++i) { // never more than a refusal
        std::string damaged = bytes;
        damaged[i] = static_cast<char>(damaged[i] ^ 0x80);
        try {
            (void)stored::decode(damaged);
        } catch (const failure_error&) {
        }
    }
}

TEST(GrpcExchange, EveryNoHasItsCodeAndReason) {
    using kind = http::problem_kind;
    const grpc::guard_options rules{.error_domain = "pay.example"};
    const auto busy = grpc::to_status({.kind = kind::in_progress, .retry_after = 1500ms}, rules);

    EXPECT_EQ(busy.error_code(), StatusCode::ABORTED);
    EXPECT_EQ(details_of(busy).reason, "IN_PROGRESS");
    EXPECT_EQ(details_of(busy).domain, "pay.example");
    EXPECT_EQ(details_of(busy).retry_after, 1500ms);
    EXPECT_EQ(grpc::code_of(kind::mismatch), StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(grpc::code_of(kind::in_doubt), StatusCode::ABORTED);
    EXPECT_EQ(grpc::code_of(kind::key_missing), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(grpc::code_of(kind::unavailable), StatusCode::UNAVAILABLE);
    EXPECT_EQ(grpc::code_of(kind::unconfirmed), StatusCode::UNAVAILABLE);
    EXPECT_EQ(grpc::code_of(kind::result_unreadable), StatusCode::DATA_LOSS);
}

TEST(GrpcExchange, AttemptsThatAreUsedUpAnswerWithTheLastCode) {
    setup with;
    with.policy.attempts_max = 2;
    served at{form::service, std::move(with), [](auto&, const auto&, auto&) {
                  return Status{StatusCode::RESOURCE_EXHAUSTED, "busy"};
              }};
    at.charge("key-1", 100);
    at.charge("key-1", 100);

    const auto last = at.charge("key-1", 100);

    EXPECT_EQ(last.status.error_code(), StatusCode::RESOURCE_EXHAUSTED);
    EXPECT_EQ(details_of(last.status).reason, "FAILED");
    EXPECT_EQ(at.runs(), 2);
}

TEST(GrpcExchange, MetadataThatWouldEndTheProgramIsNeverSent) {
    grpc::answer damaged{.message = "fine"};
    damaged.initial.add("X-Upper", "1");
    damaged.trailing.add("x-line", "a\nb");
    damaged.trailing.add("x-bytes-bin", "a\nb");
    outcome<grpc::answer> known{{.kind = outcome_kind::replayed}, std::move(damaged)};

    const auto sent = grpc::answer_for({}, std::move(known));

    EXPECT_TRUE(sent.initial.empty());
    EXPECT_FALSE(sent.trailing.contains("x-line"));
    EXPECT_TRUE(sent.trailing.contains("x-bytes-bin"));
    EXPECT_TRUE(sent.trailing.contains("idempotent-replayed"));
    EXPECT_EQ(sent.message, "fine");
}

TEST(GrpcService, AnExceptionOfTheMethodIsThePolicys) {
    setup with;
    with.policy.on_exception = exception_class::final;
    served at{form::service, std::move(with), [](auto&, const auto&, auto&) -> Status {
                  throw std::runtime_error{"not for clients"};
              }};

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.status.error_code(), StatusCode::UNKNOWN);
    EXPECT_EQ(again.status.error_code(), StatusCode::INTERNAL);
    EXPECT_EQ(details_of(again.status).reason, "FAILED");
    EXPECT_EQ(again.status.error_message().find("not for clients"), std::string::npos);
    EXPECT_EQ(at.runs(), 1);
}

TEST(GrpcService, RefusesMethodsThatDoNotFit) {
    semel::engine engine{open_memory_store()};
    const grpc::guard_options acme{.tenants = http::single_tenant{"acme"}};
    grpc::idempotent<Payments, payments> service{engine, acme};
    const auto why = [&](const std::string& name) {
        try {
            service.protect<&payments::Charge>(name);
            return std::string{};
        } catch (const failure_error& wrong) {
            return wrong.why().detail;
        }
    };

    EXPECT_EQ(why("Charge"), "");
    EXPECT_EQ(why("Gone"), "method 'semel.test.Payments/Gone': the service has no such method");
    EXPECT_EQ(why("Watch"), "method 'semel.test.Payments/Watch': it is a stream; only unary "
                            "methods can be protected");
    EXPECT_THROW((grpc::idempotent<Payments, payments>{engine, {}}), failure_error);
}

class mistyped : public Payments::Service {
public:
    Status Misfit(::grpc::ServerContext*, const ChargeReply*, ChargeRequest*) { return {}; }
};

TEST(GrpcService, RefusesOtherTypesThanTheDescriptors) {
    semel::engine engine{open_memory_store()};
    grpc::idempotent<Payments, mistyped> service{engine, {.tenants = http::single_tenant{"acme"}}};

    try {
        service.protect<&mistyped::Misfit>("Charge");
        FAIL() << "not refused";
    } catch (const failure_error& wrong) {
        EXPECT_EQ(wrong.why().detail,
                  "method 'semel.test.Payments/Charge': it takes semel.test.ChargeRequest and "
                  "gives semel.test.ChargeReply, not semel.test.ChargeReply and "
                  "semel.test.ChargeRequest");
    }
}

} // namespace
} // namespace semel::grpc_test
