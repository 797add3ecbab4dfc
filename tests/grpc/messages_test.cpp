// What becomes of messages and their metadata, in both forms.
#include <future>

#include <gmock/gmock.h>

#include "served.hpp"

namespace semel::grpc_test {
namespace {

class GrpcMessages : public testing::TestWithParam<form> {};
INSTANTIATE_TEST_SUITE_P(Both, GrpcMessages, testing::Values(form::service, form::front),
                         form_name);

TEST_P(GrpcMessages, UnknownFieldsAreKeptAndCompared) {
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

TEST_P(GrpcMessages, ADeterministicFormTakesNoNoticeOfOrder) {
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

TEST_P(GrpcMessages, EmptyMessagesAreMessages) {
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

TEST_P(GrpcMessages, FourMebibytesEachWayAreKept) {
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

TEST_P(GrpcMessages, WhatIsTooLargeToKeepIsNotRunAgain) {
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

TEST_P(GrpcMessages, MetadataOfTheAnswerIsKeptByName) {
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

} // namespace
} // namespace semel::grpc_test
