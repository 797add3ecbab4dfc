// What both forms promise, with a real service, a real server and real clients.
#include <future>
#include <latch>
#include <thread>
#include <vector>

#include <gmock/gmock.h>

#include "served.hpp"
#include "support/faulty_store.hpp"

namespace semel::grpc_test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class GrpcForms : public testing::TestWithParam<form> {};
INSTANTIATE_TEST_SUITE_P(Both, GrpcForms, testing::Values(form::service, form::front), form_name);

TEST_P(GrpcForms, ARepeatGetsTheFirstAnswer) {
    served at{GetParam(), {}};

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    ASSERT_TRUE(first.status.ok()) << first.status.error_message();
    EXPECT_FALSE(first.replayed());
    ASSERT_TRUE(again.status.ok()) << again.status.error_message();
    EXPECT_TRUE(again.replayed());
    EXPECT_THAT(again.trailer("idempotency-expires"), HasSubstr("GMT"));
    EXPECT_EQ(again.reply.SerializeAsString(), first.reply.SerializeAsString());
    EXPECT_EQ(again.reply.id(), "charge-1");
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, AnotherRequestUnderTheKeyIsRefused) {
    served at{GetParam(), {}};
    at.charge("key-1", 100);

    const auto other = at.charge("key-1", 200);

    EXPECT_EQ(other.status.error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(details_of(other.status).reason, "MISMATCH");
    EXPECT_EQ(details_of(other.status).domain, "semel");
    EXPECT_FALSE(details_of(other.status).has_retry);
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, BothMetadataNamesAndBothSpellingsAreOneKey) {
    served at{GetParam(), {}};

    at.charge("key-1", 100);
    const auto quoted = at.charge("\"key-1\"", 100);
    const auto other_name = at.charge("", 100, {.metadata = {{"x-idem-key", "key-1"}}});
    const auto both = at.charge("key-1", 100, {.metadata = {{"x-idem-key", "key-1"}}});

    EXPECT_TRUE(quoted.replayed());
    EXPECT_TRUE(other_name.replayed());
    EXPECT_EQ(both.status.error_code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, AMissingOrMalformedKeyIsRefused) {
    served at{GetParam(), {}};

    const auto none = at.charge("", 100);
    const auto malformed = at.charge("a,b", 100);
    const auto long_one = at.charge(std::string(256, 'k'), 100);

    EXPECT_EQ(none.status.error_code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(details_of(none.status).reason, "KEY_MISSING");
    EXPECT_EQ(malformed.status.error_code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(details_of(malformed.status).reason, "KEY_MALFORMED");
    EXPECT_EQ(details_of(long_one.status).reason, "KEY_TOO_LONG");
    EXPECT_EQ(at.runs(), 0);
}

TEST_P(GrpcForms, WithoutAKeyAnOptionalMethodPassesAndADerivingOneIsOnce) {
    served optional{GetParam(), {.charge = {.need = http::key_need::optional}}};
    served derived{GetParam(), {.charge = {.need = http::key_need::derived}}};

    EXPECT_EQ(optional.charge("", 100).reply.number(), 1);
    EXPECT_EQ(optional.charge("", 100).reply.number(), 2);
    EXPECT_EQ(derived.charge("", 100).reply.number(), 1);
    EXPECT_TRUE(derived.charge("", 100).replayed());
    EXPECT_EQ(derived.charge("", 200).reply.number(), 2);
}

TEST_P(GrpcForms, AFinalErrorIsKeptWhereThePolicySaysSo) {
    setup with;
    with.charge.codes = {{StatusCode::FAILED_PRECONDITION, http::disposition::reject}};
    served at{GetParam(), std::move(with), [](auto&, const auto&, auto&) {
                  return Status{StatusCode::FAILED_PRECONDITION, "no money", "the details"};
              }};

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.status.error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_FALSE(first.replayed());
    EXPECT_EQ(again.status.error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(again.status.error_message(), "no money");
    EXPECT_EQ(again.status.error_details(), "the details");
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, UnavailableIsNotKept) {
    std::atomic<bool> down = true;
    served at{GetParam(), {}, [&](auto&, const auto&, auto&) {
                  return down ? Status{StatusCode::UNAVAILABLE, "later"} : Status::OK;
              }};

    const auto first = at.charge("key-1", 100);
    down = false;
    const auto again = at.charge("key-1", 100);
    const auto third = at.charge("key-1", 100);

    EXPECT_EQ(first.status.error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(first.status.error_message(), "later");
    EXPECT_EQ(again.reply.number(), 2);
    EXPECT_EQ(third.reply.number(), 2);
    EXPECT_TRUE(third.replayed());
    EXPECT_EQ(at.runs(), 2);
}

TEST_P(GrpcForms, AfterARefusalTheKeyIsFreeForACorrectedRequest) {
    served at{GetParam(), {}, [](auto&, const auto& request, auto&) {
                  return request.amount() < 0 ? Status{StatusCode::INVALID_ARGUMENT, "negative"}
                                              : Status::OK;
              }};

    const auto wrong = at.charge("key-1", -1);
    const auto right = at.charge("key-1", 100);

    EXPECT_EQ(wrong.status.error_code(), StatusCode::INVALID_ARGUMENT);
    EXPECT_EQ(wrong.status.error_message(), "negative");
    EXPECT_TRUE(right.status.ok());
    EXPECT_EQ(at.runs(), 2);
}

TEST_P(GrpcForms, SixtyFourRepeatsAtOnceAreOneExecution) {
    constexpr int callers = 64;
    std::latch all_there{callers};
    served at{GetParam(), {.charge = {.wait_max = 60s}}, [&](auto&, const auto&, auto&) {
                  all_there.wait(); // nobody is answered before everybody has set out
                  return Status::OK;
              }};
    std::vector<std::future<called>> answers;

    for (int i = 0; i < callers; ++i) {
        answers.push_back(std::async(std::launch::async, [&] {
            all_there.count_down();
            return at.charge("key-1", 100);
        }));
    }

    int replays = 0;
    for (auto& one : answers) {
        const auto got = one.get();
        EXPECT_TRUE(got.status.ok()) << got.status.error_message();
        EXPECT_EQ(got.reply.id(), "charge-1");
        replays += got.replayed() ? 1 : 0;
    }
    EXPECT_EQ(replays, callers - 1);
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, ARepeatThatMayNotWaitIsToldWhenToComeAgain) {
    std::promise<void> begun;
    std::promise<void> go_on;
    served at{GetParam(), {.charge = {.wait = wait_mode::answer}}, [&](auto&, const auto&, auto&) {
                  begun.set_value();
                  go_on.get_future().wait();
                  return Status::OK;
              }};
    auto first = std::async(std::launch::async, [&] { return at.charge("key-1", 100); });
    begun.get_future().wait();

    const auto busy = at.charge("key-1", 100);
    go_on.set_value();

    EXPECT_EQ(busy.status.error_code(), StatusCode::ABORTED);
    EXPECT_EQ(details_of(busy.status).reason, "IN_PROGRESS");
    EXPECT_TRUE(details_of(busy.status).has_retry);
    EXPECT_TRUE(first.get().status.ok());
    EXPECT_TRUE(at.charge("key-1", 100).replayed());
}

TEST_P(GrpcForms, AWaitingRepeatIsAnsweredBeforeItsDeadline) {
    std::promise<void> begun;
    std::promise<void> go_on;
    served at{GetParam(), {.charge = {.wait_max = 10min}}, [&](auto&, const auto&, auto&) {
                  begun.set_value();
                  go_on.get_future().wait();
                  return Status::OK;
              }};
    auto first = std::async(std::launch::async, [&] { return at.charge("key-1", 100); });
    begun.get_future().wait();

    const auto busy = at.charge("key-1", 100, {.deadline = 3s});
    go_on.set_value();

    EXPECT_EQ(busy.status.error_code(), StatusCode::ABORTED) << busy.status.error_message();
    EXPECT_TRUE(first.get().status.ok());
}

TEST_P(GrpcForms, WorkGoesOnWithoutItsCallerAndIsStored) {
    std::promise<void> begun;
    std::promise<void> go_on;
    served at{GetParam(), {.charge = {.wait_max = 60s}}, [&](auto&, const auto&, auto&) {
                  begun.set_value();
                  go_on.get_future().wait();
                  return Status::OK;
              }};
    ::grpc::ClientContext context;
    prepare(context, {.key = "key-1"});
    auto first = std::async(std::launch::async, [&] {
        ChargeReply reply;
        return at.stub().Charge(&context, charge_of(100), &reply);
    });
    begun.get_future().wait();

    context.TryCancel();
    EXPECT_EQ(first.get().error_code(), StatusCode::CANCELLED);
    go_on.set_value();
    const auto again = at.charge("key-1", 100);

    EXPECT_TRUE(again.status.ok()) << again.status.error_message();
    EXPECT_EQ(again.reply.id(), "charge-1");
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, WorkOutlivesItsCallersDeadlineAndIsStored) {
    std::promise<void> go_on;
    served at{GetParam(), {.charge = {.wait_max = 60s}}, [&](auto&, const auto&, auto&) {
                  go_on.get_future().wait();
                  return Status::OK;
              }};

    const auto first = at.charge("key-1", 100, {.deadline = 300ms});
    go_on.set_value();
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
    EXPECT_TRUE(again.status.ok()) << again.status.error_message();
    EXPECT_LE(at.runs(), 1); // on a slow machine the first never arrived
    EXPECT_EQ(again.reply.id(), "charge-1");
}

TEST_P(GrpcForms, EveryCallIsAuthorisedBeforeAnythingIsLookedUp) {
    std::atomic<bool> allowed = true;
    setup with;
    with.guard.tenants = http::tenant_token{[](std::string_view token) {
        return token == "good" ? std::optional<std::string>{"acme"} : std::nullopt;
    }};
    with.guard.authorize = [&](const auto&, std::string_view method) {
        EXPECT_EQ(method, "semel.test.Payments/Charge");
        return allowed ? Status::OK : Status{StatusCode::PERMISSION_DENIED, "revoked"};
    };
    served at{GetParam(), std::move(with)};
    const call_options good{.metadata = {{"authorization", "Bearer good"}}};

    const auto nobody = at.charge("key-1", 100);
    const auto stranger = at.charge("key-1", 100, {.metadata = {{"authorization", "Bearer bad"}}});
    const auto first = at.charge("key-1", 100, good);
    allowed = false;
    const auto revoked = at.charge("key-1", 100, good);

    EXPECT_EQ(nobody.status.error_code(), StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(details_of(nobody.status).reason, "TENANT_MISSING");
    EXPECT_EQ(stranger.status.error_code(), StatusCode::UNAUTHENTICATED);
    EXPECT_TRUE(first.status.ok());
    EXPECT_EQ(revoked.status.error_code(), StatusCode::PERMISSION_DENIED);
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, TenantsDoNotMeet) {
    setup with;
    with.guard.tenants = {};
    with.guard.tenant_of = [](const ::grpc::ServerContextBase& context) {
        const auto found = context.client_metadata().find("x-who");
        return found == context.client_metadata().end()
                   ? std::nullopt
                   : std::optional<std::string>{{found->second.data(), found->second.size()}};
    };
    served at{GetParam(), std::move(with)};

    EXPECT_EQ(at.charge("key-1", 100, {.metadata = {{"x-who", "a"}}}).reply.number(), 1);
    EXPECT_EQ(at.charge("key-1", 200, {.metadata = {{"x-who", "b"}}}).reply.number(), 2);
    EXPECT_EQ(at.charge("key-1", 100).status.error_code(), StatusCode::UNAUTHENTICATED);
}

TEST_P(GrpcForms, InDoubtIsToldWithoutATimeToComeAgain) {
    setup with;
    with.policy.on_lease_expiry = lease_expiry::hold;
    with.policy.grace = 1ms;
    served at{GetParam(), std::move(with), [](auto&, const auto&, auto&) {
                  return Status{StatusCode::DEADLINE_EXCEEDED, "the bank did not answer"};
              }};

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.status.error_code(), StatusCode::DEADLINE_EXCEEDED);
    EXPECT_EQ(first.status.error_message(), "the bank did not answer");
    EXPECT_EQ(again.status.error_code(), StatusCode::ABORTED);
    EXPECT_EQ(details_of(again.status).reason, "IN_DOUBT");
    EXPECT_FALSE(details_of(again.status).has_retry);
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, WhileTheStoreIsAwayNothingRuns) {
    setup with;
    with.engine.store_patience = 50ms;
    auto script = std::make_shared<support::store_script>();
    script->fail_all("begin", {});
    served at{GetParam(),
              std::move(with),
              {},
              std::make_unique<support::faulty_store>(open_memory_store(), script)};

    const auto refused = at.charge("key-1", 100);

    EXPECT_EQ(refused.status.error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(details_of(refused.status).reason, "UNAVAILABLE");
    EXPECT_TRUE(details_of(refused.status).has_retry);
    EXPECT_EQ(at.runs(), 0);
}

} // namespace
} // namespace semel::grpc_test
