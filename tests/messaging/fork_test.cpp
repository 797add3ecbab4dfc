// Sinks that were connected when the process forked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messaging/brokers.hpp"
#include "support/forked.hpp"

namespace semel::messaging_test {
namespace {

using testing::HasSubstr;
using testing_support::said_by_child;

class ForkedSink : public testing::TestWithParam<broker_kind> {
protected:
    const std::unique_ptr<broker> broker_ = make_broker(GetParam());
};

TEST_P(ForkedSink, DeliversNothingInTheChildAndIsUnharmedByItsEnd) {
    auto sink = outbox::open_sink(broker_->sink_url()).value();
    deliver_all(*sink, events(1));

    const auto child = said_by_child([&] {
        const auto answers = deliver(*sink, events(2));
        sink.reset();
        return std::to_string(count(answers, delivered::yes)) + " delivered: " + answers[0].error;
    });
    const auto answers = deliver(*sink, events(1));

    EXPECT_THAT(child, HasSubstr("0 delivered: "));
    EXPECT_THAT(child, HasSubstr("was opened before fork()"));
    EXPECT_EQ(count(answers, delivered::yes), 1U) << answers[0].error;
}

INSTANTIATE_TEST_SUITE_P(Brokers, ForkedSink,
                         testing::Values(broker_kind::redis, broker_kind::nats),
                         [](const auto& of) {
                             return of.param == broker_kind::redis ? "Redis" : "Nats";
                         });

} // namespace
} // namespace semel::messaging_test
