// Tables and relays that were opened before the process forked, on each of the databases.
#include <gmock/gmock.h>

#include <thread>

#include "outbox/places.hpp"
#include "outbox/sinks.hpp"
#include "support/forked.hpp"

namespace semel::outbox {
namespace {

using testing::HasSubstr;
using testing_support::said_by_child;

class OutboxFork : public testing::TestWithParam<const char*> {
protected:
    const std::unique_ptr<place> at_ = make_place(GetParam());
    delivered_log log_;
};

INSTANTIATE_TEST_SUITE_P(All, OutboxFork,
                         testing::Values("postgres", "mariadb", "mysql", "sqlite"));

TEST_P(OutboxFork, ATableIsRefusedInTheChildAndUnharmedByItsEnd) {
    at_->fill(3);
    auto mine = at_->open();

    const auto child = said_by_child([&] {
        const auto got = mine->measure();
        mine.reset();
        return got ? std::string{"measured"} : describe(got.error());
    });
    const auto got = mine->measure();

    EXPECT_THAT(child, HasSubstr("the connection was opened before fork()"));
    ASSERT_TRUE(got) << describe(got.error());
    EXPECT_EQ(got->waiting, 3U);
}

TEST_P(OutboxFork, TheChildMayEndAndDestroyARelayAndTheParentsGoesOn) {
    auto mine = open_relay({at_->opener()}, told_sinks(log_, {}), {.workers = 1}).value();

    const auto child = said_by_child([&] {
        mine->stop();
        mine->wait();
        mine.reset();
        return std::string{"destroyed"};
    });
    at_->fill(20);
    const local_time deadline = local_clock::now() + std::chrono::seconds{60};
    while (log_.size() < 20 && local_clock::now() < deadline) {
        std::this_thread::sleep_for(std::chrono::milliseconds{5});
    }

    EXPECT_EQ(child, "destroyed");
    EXPECT_EQ(log_.size(), 20U);
    mine->stop();
    EXPECT_EQ(at_->count(), "0");
}

} // namespace
} // namespace semel::outbox
