// What is not protected stays as it is, in both forms.
#include <gmock/gmock.h>

#include "served.hpp"

namespace semel::grpc_test {
namespace {

class GrpcStreams : public testing::TestWithParam<form> {};
INSTANTIATE_TEST_SUITE_P(Both, GrpcStreams, testing::Values(form::service, form::front), form_name);

TEST_P(GrpcStreams, StreamsAndUnprotectedMethodsStayUntouched) {
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

TEST_P(GrpcStreams, ATalkGoesBothWaysAndEndsWithTheServicesWord) {
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

TEST_P(GrpcStreams, AStreamThatItsClientLeavesEnds) {
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

} // namespace
} // namespace semel::grpc_test
