#include "engine/strand.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <vector>

namespace semel {
namespace {

TEST(Strand, RunsAPostedTaskAtOnceWhenFree) {
    strand one{strand::mode::free};
    int runs = 0;

    one.post([&] { ++runs; });

    EXPECT_EQ(runs, 1);
}

TEST(Strand, RunsTasksPostedByATaskAfterIt) {
    strand one{strand::mode::free};
    std::vector<int> order;

    one.post([&] {
        one.post([&] { order.push_back(2); });
        one.post([&] { order.push_back(3); });
        order.push_back(1);
    });

    EXPECT_EQ(order, (std::vector{1, 2, 3}));
}

TEST(Strand, LetsGoOfATaskBeforeTheNextRuns) {
    strand one{strand::mode::free};
    auto held = std::make_shared<int>(0);
    const std::weak_ptr<int> watched = held;
    bool gone = false;

    one.post([&, held = std::move(held)] { one.post([&] { gone = watched.expired(); }); });

    EXPECT_TRUE(gone);
}

TEST(Strand, GoesOnAfterATaskThatThrows) {
    strand one{strand::mode::free};
    std::vector<int> order;

    const auto throwing = [&] {
        one.post([&] { order.push_back(1); });
        throw std::domain_error{"task"};
    };
    EXPECT_THROW(one.post(throwing), std::domain_error);
    one.post([&] { order.push_back(2); });

    EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(Strand, IsFreeThoughATaskThrowsWhenTheServingThreadLeaves) {
    strand one{strand::mode::served};
    int runs = 0;
    one.post([] { throw std::domain_error{"task"}; });
    one.post([&] { ++runs; });

    EXPECT_THROW(one.leave(), std::domain_error);
    one.post([&] { ++runs; });

    EXPECT_EQ(runs, 2);
}

TEST(Strand, KeepsTasksForTheThreadThatServesIt) {
    strand one{strand::mode::served};
    std::vector<int> order;
    one.post([&] { order.push_back(1); });
    one.post([&] { order.push_back(2); });
    EXPECT_TRUE(order.empty());

    EXPECT_TRUE(one.serve(std::nullopt));
    EXPECT_EQ(order, (std::vector{1}));
    EXPECT_TRUE(one.serve(local_time{}));

    EXPECT_EQ(order, (std::vector{1, 2}));
}

TEST(Strand, TellsTheServingThreadThatItsTimeIsOver) {
    strand one{strand::mode::served};

    EXPECT_FALSE(one.serve(local_time{}));
}

TEST(Strand, RunsWhatIsLeftWhenTheServingThreadLeaves) {
    strand one{strand::mode::served};
    int runs = 0;
    one.post([&] {
        ++runs;
        one.post([&] { ++runs; });
    });

    one.leave();
    EXPECT_EQ(runs, 2);
    one.post([&] { ++runs; });

    EXPECT_EQ(runs, 3);
}

} // namespace
} // namespace semel
