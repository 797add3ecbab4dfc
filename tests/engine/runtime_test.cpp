// The threads that engines run on.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "semel/base/runtime.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

TEST(SystemRuntime, RunsTimersInTheOrderOfTheirTimes) {
    const auto runtime = open_system_runtime();
    std::vector<int> order; // touched by the timer thread only, until it is done
    std::promise<void> done;
    const local_time now = runtime->now();

    runtime->at(now + 30ms, [&] { done.set_value(); });
    runtime->at(now + 20ms, [&] { order.push_back(2); });
    runtime->at(now + 10ms, [&] { order.push_back(1); });
    runtime->at(now + 20ms, [&] { order.push_back(3); });
    done.get_future().wait();

    EXPECT_EQ(order, (std::vector{1, 2, 3}));
    EXPECT_GE(runtime->now() - now, 30ms);
}

TEST(SystemRuntime, RunsATimeThatIsOverAtOnce) {
    const auto runtime = open_system_runtime();
    std::promise<void> done;

    runtime->at(local_time{}, [&] { done.set_value(); });

    EXPECT_EQ(done.get_future().wait_for(5s), std::future_status::ready);
}

TEST(SystemRuntime, HasAThreadEachForTimersCallbacksAndChores) {
    std::promise<std::thread::id> timer;
    std::promise<std::thread::id> callback;
    std::promise<std::thread::id> chore;
    const auto runtime = open_system_runtime();

    runtime->at(runtime->now(), [&] { timer.set_value(std::this_thread::get_id()); });
    runtime->post([&] { callback.set_value(std::this_thread::get_id()); });
    runtime->chore([&] { chore.set_value(std::this_thread::get_id()); });
    const std::set<std::thread::id> threads{timer.get_future().get(), callback.get_future().get(),
                                            chore.get_future().get(), std::this_thread::get_id()};

    EXPECT_EQ(threads.size(), 4U);
}

TEST(SystemRuntime, RunsCallbacksPastThoseThatBlock) {
    std::promise<void> enough;
    const std::shared_future<void> go_on = enough.get_future().share();
    std::atomic<int> blocked = 0;
    std::promise<void> ran;
    const auto runtime = open_system_runtime(); // ends first: its callbacks use what is above

    for (int i = 0; i < 3; ++i) {
        runtime->post([&] {
            ++blocked;
            go_on.wait();
        });
    }
    runtime->post([&] { ran.set_value(); });

    EXPECT_EQ(ran.get_future().wait_for(5s), std::future_status::ready);
    EXPECT_EQ(blocked, 3);
    enough.set_value();
}

TEST(SystemRuntime, RunsCallbacksInOrderWhileNoneBlocks) {
    std::mutex mutex;
    std::vector<int> order;            // guarded by mutex
    std::set<std::thread::id> threads; // guarded by mutex
    {
        const auto runtime = open_system_runtime();
        for (int i = 0; i < 1000; ++i) {
            runtime->post([&, i] {
                const std::lock_guard lock{mutex};
                order.push_back(i);
                threads.insert(std::this_thread::get_id());
            });
        }
    }

    EXPECT_EQ(order.size(), 1000U);
    // On a busy machine a callback may wait so long for a processor that it counts as blocked.
    EXPECT_TRUE(threads.size() > 1 || std::is_sorted(order.begin(), order.end()));
}

TEST(SystemRuntime, EndsWhileCallbacksThatBlockedComeToTheirEnd) {
    std::atomic<int> ran = 0;
    for (int turn = 0; turn < 20; ++turn) {
        const auto runtime = open_system_runtime();
        for (int i = 0; i < 3; ++i) {
            runtime->post([&, on = runtime.get()] {
                std::this_thread::sleep_for(15ms);
                on->post([&] { ++ran; });
            });
        }
    }

    EXPECT_EQ(ran, 60);
}

TEST(SystemRuntime, RunsWhatWasPostedAndDropsPendingTimersWhenItEnds) {
    std::atomic<int> posted = 0;
    auto held = std::make_shared<int>(0);
    std::atomic<bool> fired = false;
    {
        const auto runtime = open_system_runtime();
        runtime->at(runtime->now() + 1h, [&fired, held] { fired = true; });
        for (int i = 0; i < 100; ++i) runtime->post([&] { ++posted; });
        for (int i = 0; i < 100; ++i) runtime->chore([&] { ++posted; });
    }

    EXPECT_EQ(posted, 200);
    EXPECT_FALSE(fired);
    EXPECT_EQ(held.use_count(), 1);
}

TEST(SystemRuntime, DrawsDifferentNumbersOnEveryThread) {
    const auto runtime = open_system_runtime();
    std::vector<std::future<std::uint64_t>> drawn;

    for (int i = 0; i < 8; ++i) {
        drawn.push_back(std::async(std::launch::async, [&] { return runtime->random(); }));
    }

    std::set<std::uint64_t> different;
    for (auto& one : drawn) different.insert(one.get());
    EXPECT_EQ(different.size(), 8U);
}

} // namespace
} // namespace semel
