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

TEST_P(GrpcForms, UnknownFieldsAreKeptAndCompared) {
    served at{GetParam(), {}, [](auto&, const auto& request, auto& reply) {
                  const auto& unknown = request.GetReflection()->GetUnknownFields(request);
                  reply.GetReflection()->MutableUnknownFields(&reply)->MergeFrom(unknown);
                  return Status::OK;
              }};
    const auto with_unknown = [](const std::string& text) {
        ChargeRequest request = charge_of(100);
        request.GetReflection()->MutableUnknownFields(&request)->AddLengthDelimited(4000, text);
        return request;
    };

    const auto first = at.charge(with_unknown("new"), "key-1");
    const auto again = at.charge(with_unknown("new"), "key-1");
    const auto other = at.charge(with_unknown("newer"), "key-1");

    const auto& kept = again.reply.GetReflection()->GetUnknownFields(again.reply);
    ASSERT_EQ(kept.field_count(), 1);
    EXPECT_EQ(kept.field(0).length_delimited(), "new");
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.reply.SerializeAsString(), first.reply.SerializeAsString());
    EXPECT_EQ(other.status.error_code(), StatusCode::FAILED_PRECONDITION);
}

TEST_P(GrpcForms, ADeterministicFormTakesNoNoticeOfOrder) {
    served at{GetParam(), {.charge = {.content = grpc::content_form::deterministic}}};
    // The two orders in which two map entries can be written.
    ChargeRequest one = charge_of(100);
    (*one.mutable_notes())["a"] = "1";
    ChargeRequest two = charge_of(100);
    (*two.mutable_notes())["b"] = "2";
    const std::string entry_a = one.SerializeAsString().substr(charge_of(100).ByteSizeLong());
    const std::string entry_b = two.SerializeAsString().substr(charge_of(100).ByteSizeLong());
    const auto send = [&](const std::string& notes) {
        ::grpc::ClientContext context;
        prepare(context, {.key = "key-1"});
        const ::grpc::Slice slice{charge_of(100).SerializeAsString() + notes};
        const ::grpc::ByteBuffer bytes{&slice, 1};
        ::grpc::ByteBuffer reply;
        std::promise<Status> ended;
        ::grpc::ChannelArguments how;
        how.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
        ::grpc::GenericStub stub{
            ::grpc::CreateCustomChannel(at.address(), ::grpc::InsecureChannelCredentials(), how)};
        stub.UnaryCall(&context, "/semel.test.Payments/Charge", {}, &bytes, &reply,
                       [&](const Status& status) { ended.set_value(status); });
        return ended.get_future().get();
    };

    EXPECT_TRUE(send(entry_a + entry_b).ok());
    EXPECT_TRUE(send(entry_b + entry_a).ok());
    EXPECT_EQ(send(entry_a).error_code(), StatusCode::FAILED_PRECONDITION);
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, EmptyMessagesAreMessages) {
    served at{GetParam(), {}, [](auto&, const auto&, auto& reply) {
                  reply.Clear();
                  return Status::OK;
              }};

    const auto first = at.charge(ChargeRequest{}, "key-1");
    const auto again = at.charge(ChargeRequest{}, "key-1");

    EXPECT_TRUE(first.status.ok()) << first.status.error_message();
    EXPECT_TRUE(again.status.ok()) << again.status.error_message();
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.reply.ByteSizeLong(), 0U);
    EXPECT_EQ(at.charge("key-1", 1).status.error_code(), StatusCode::FAILED_PRECONDITION);
}

TEST_P(GrpcForms, FourMebibytesEachWayAreKept) {
    setup with;
    with.policy.result_bytes_max = 8 << 20;
    with.engine.limits.result_bytes_max = 8 << 20;
    served at{GetParam(), std::move(with), [](auto&, const auto& request, auto& reply) {
                  reply.set_blob(request.blob());
                  return Status::OK;
              }};
    ChargeRequest request = charge_of(100);
    request.set_blob(std::string(4 << 20, 'x'));

    const auto first = at.charge(request, "key-1");
    const auto again = at.charge(request, "key-1");

    ASSERT_TRUE(first.status.ok()) << first.status.error_message();
    ASSERT_TRUE(again.status.ok()) << again.status.error_message();
    EXPECT_TRUE(again.replayed());
    EXPECT_EQ(again.reply.blob(), request.blob());
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, WhatIsTooLargeToKeepIsNotRunAgain) {
    served at{GetParam(), {}, [](auto&, const auto&, auto& reply) {
                  reply.set_blob(std::string(2 << 20, 'x')); // 1 MiB are kept by default
                  return Status::OK;
              }};

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_TRUE(first.status.ok());
    EXPECT_EQ(first.reply.blob().size(), 2U << 20U);
    EXPECT_EQ(again.status.error_code(), StatusCode::ALREADY_EXISTS);
    EXPECT_EQ(details_of(again.status).reason, "RESULT_NOT_KEPT");
    EXPECT_EQ(at.runs(), 1);
}

TEST_P(GrpcForms, MetadataOfTheAnswerIsKeptByName) {
    setup with;
    with.charge.metadata = {"X-Shop", "x-cost"};
    served at{GetParam(), std::move(with), [](auto& context, const auto&, auto&) {
                  context.AddInitialMetadata("x-shop", "north");
                  context.AddInitialMetadata("x-host", "one");
                  context.AddTrailingMetadata("x-cost", "3");
                  context.AddTrailingMetadata("set-cookie", "secret");
                  return Status::OK;
              }};

    const auto first = at.charge("key-1", 100);
    const auto again = at.charge("key-1", 100);

    EXPECT_EQ(first.initial.count("x-host"), 1U);
    EXPECT_EQ(first.initial.count("x-shop"), 1U);
    EXPECT_EQ(first.trailer("set-cookie"), "secret");
    EXPECT_EQ(first.trailer("x-cost"), "3");
    EXPECT_EQ(again.initial.count("x-shop"), 1U);
    EXPECT_EQ(again.initial.count("x-host"), 0U);
    EXPECT_EQ(again.trailer("x-cost"), "3");
    EXPECT_EQ(again.trailer("set-cookie"), "");
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

TEST_P(GrpcForms, StreamsAndUnprotectedMethodsStayUntouched) {
    served at{GetParam(), {}};
    ::grpc::ClientContext watching;
    prepare(watching, {.key = "key-1"});
    auto watch = at.stub().Watch(&watching, charge_of(100));
    ChargeReply reply;
    std::int64_t seen = 0;
    while (watch->Read(&reply)) EXPECT_EQ(reply.number(), ++seen);
    EXPECT_EQ(seen, 100);
    EXPECT_TRUE(watch->Finish().ok());

    ::grpc::ClientContext collecting;
    ChargeReply sum;
    auto collect = at.stub().Collect(&collecting, &sum);
    for (int i = 1; i <= 100; ++i) collect->Write(charge_of(i));
    collect->WritesDone();
    EXPECT_TRUE(collect->Finish().ok());
    EXPECT_EQ(sum.number(), 5050);

    call(at.stub(), &Payments::Stub::Look, charge_of(1), {.key = "key-1"});
    call(at.stub(), &Payments::Stub::Look, charge_of(1), {.key = "key-1"});
    EXPECT_EQ(at.looks(), 2);
}

TEST_P(GrpcForms, ATalkGoesBothWaysAndEndsWithTheServicesWord) {
    served at{GetParam(), {}};
    ::grpc::ClientContext context;
    auto talk = at.stub().Talk(&context);
    ChargeReply reply;
    for (int i = 1; i <= 50; ++i) {
        ASSERT_TRUE(talk->Write(charge_of(i)));
        ASSERT_TRUE(talk->Read(&reply));
        EXPECT_EQ(reply.number(), 2 * i);
    }
    ChargeRequest last = charge_of(7);
    last.set_card("stop");
    talk->Write(last);

    EXPECT_TRUE(talk->Read(&reply));
    EXPECT_FALSE(talk->Read(&reply));
    const Status status = talk->Finish(); // the client has not closed its side
    EXPECT_EQ(status.error_code(), StatusCode::OUT_OF_RANGE);
    EXPECT_EQ(status.error_message(), "enough");
}

TEST_P(GrpcForms, AStreamThatItsClientLeavesEnds) {
    served at{GetParam(), {}};
    ::grpc::ClientContext context;
    auto talk = at.stub().Talk(&context);
    ChargeReply reply;
    talk->Write(charge_of(1));
    ASSERT_TRUE(talk->Read(&reply));

    context.TryCancel();

    EXPECT_EQ(talk->Finish().error_code(), StatusCode::CANCELLED);
    // The destructor's Shutdown() waits for the handler to see it.
}

TEST_P(GrpcForms, WhileTheStoreIsAwayNothingRuns) {
    setup with;
    with.engine.store_patience = 50ms;
    auto script = std::make_shared<support::store_script>();
    script->fail_all("begin", {});
    served at{GetParam(),
              std::move(with),
              {},
              std::make_unique<support::faulty_store>(make_memory_store(), script)};

    const auto refused = at.charge("key-1", 100);

    EXPECT_EQ(refused.status.error_code(), StatusCode::UNAVAILABLE);
    EXPECT_EQ(details_of(refused.status).reason, "UNAVAILABLE");
    EXPECT_TRUE(details_of(refused.status).has_retry);
    EXPECT_EQ(at.runs(), 0);
}

} // namespace
} // namespace semel::grpc_test
