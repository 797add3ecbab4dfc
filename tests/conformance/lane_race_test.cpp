// The batch lane under threads; its rules, one by one and without threads, are in tests/unit/store.
#include <gtest/gtest.h>

#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <functional>
#include <latch>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "store/lane.hpp"
#include "store/laned_store.hpp"

namespace semel {
namespace {

class slow_backend final : public batch_backend {
public:
    void execute(std::span<job* const> batch) override {
        EXPECT_FALSE(batch.empty());
        EXPECT_EQ(inside_.fetch_add(1), 0) << "two batches at once";
        ++batches;
        if (meanwhile) std::exchange(meanwhile, nullptr)();
        std::this_thread::yield();
        for (job* one : batch) one->answer = reply{.said = answers::removed{}};
        inside_.fetch_sub(1);
    }
    std::atomic<std::size_t> batches = 0;
    std::function<void()> meanwhile; // runs once, while a batch is being executed

private:
    std::atomic<int> inside_ = 0;
};

record_id id_of(std::size_t number) {
    return {.tenant = "t", .operation = "o", .key = std::to_string(number)};
}

TEST(LaneRace, BlockingAndSubmittingCallersAreAllAnswered) {
    slow_backend backend;
    constexpr std::size_t threads = 8;
    constexpr std::size_t each = 500;
    std::atomic<std::size_t> answered = 0;
    {
        lane_thread lane{backend, {}};
        std::vector<std::thread> all;
        for (std::size_t i = 0; i < threads; ++i) {
            all.emplace_back([&, i] {
                for (std::size_t n = 0; n < each; ++n) {
                    lane.lane().submit({.id = id_of(n % 7), .what = commands::remove{}},
                                       [&](result<reply>) { ++answered; });
                    if (lane.lane().call(id_of(i), commands::remove{}, {})) ++answered;
                }
            });
        }
        for (auto& one : all) one.join();
    }

    EXPECT_EQ(answered, 2 * threads * each);
}

TEST(LaneRace, BlockingCallersLeadByThemselves) {
    slow_backend backend;
    batch_lane lane{backend, [] { ADD_FAILURE() << "nobody submitted"; }};
    constexpr std::size_t threads = 8;
    constexpr std::size_t each = 500;
    std::atomic<std::size_t> answered = 0;
    std::vector<std::thread> all;

    for (std::size_t i = 0; i < threads; ++i) {
        all.emplace_back([&, i] {
            for (std::size_t n = 0; n < each; ++n) {
                if (lane.call(id_of(i % 5), commands::remove{}, {})) ++answered;
            }
        });
    }
    for (auto& one : all) one.join();

    EXPECT_EQ(answered, threads * each);
    EXPECT_LE(backend.batches, threads * each);
}

// A signal without SA_RESTART ends a sleep for no reason.
void interrupt_sleep(std::thread& of) {
    struct sigaction quiet = {};
    quiet.sa_handler = [](int) {};
    ::sigaction(SIGUSR1, &quiet, nullptr);
    for (int i = 0; i < 100; ++i) {
        ::pthread_kill(of.native_handle(), SIGUSR1);
        std::this_thread::yield();
    }
}

// A caller whose command is in a batch already must not lead another one, or an empty one.
TEST(LaneRace, CallerWokenTooEarlyWaitsForItsAnswer) {
    slow_backend backend;
    batch_lane lane{backend, [] {}};
    std::thread caller;
    // During the first batch nobody else leads, so the second one holds both commands.
    lane.submit({.id = id_of(1), .what = commands::remove{}}, [](result<reply>) {});
    backend.meanwhile = [&] {
        lane.submit({.id = id_of(2), .what = commands::remove{}}, [](result<reply>) {});
        caller = std::thread{[&] { EXPECT_TRUE(lane.call(id_of(3), commands::remove{}, {})); }};
        while (lane.waiting() < 2) std::this_thread::yield();
    };

    lane.pump();
    backend.meanwhile = [&] { interrupt_sleep(caller); };
    lane.pump();
    caller.join();

    EXPECT_EQ(backend.batches, 2U);
}

// More callers than all rooms have seats: some are woken with others and sleep again.
TEST(LaneRace, EverybodyIsAnsweredWhereRoomsAreShared) {
    slow_backend backend;
    batch_lane lane{backend, [] { ADD_FAILURE() << "nobody submitted"; }, {.batch_max = 1}};
    std::atomic<std::size_t> answered = 0;
    std::vector<std::thread> all;

    for (std::size_t i = 0; i < 40; ++i) {
        all.emplace_back([&, i] {
            for (std::size_t n = 0; n < 50; ++n) {
                if (lane.call(id_of(i), commands::remove{}, {})) ++answered;
            }
        });
    }
    for (auto& one : all) one.join();

    EXPECT_EQ(answered, 40U * 50U);
}

TEST(LaneRace, DestructionAnswersWhatCompletionsSubmit) {
    slow_backend backend;
    std::atomic<int> answered = 0;
    {
        lane_thread lane{backend, {}};
        lane.lane().submit({.id = id_of(1), .what = commands::remove{}}, [&](result<reply>) {
            ++answered;
            lane.lane().submit({.id = id_of(1), .what = commands::remove{}},
                               [&](result<reply>) { ++answered; });
        });
    }

    EXPECT_EQ(answered, 2);
}

TEST(LaneRace, CompletionMayCallBlocking) {
    slow_backend backend;
    std::latch answered{1};
    lane_thread lane{backend, {}};

    lane.lane().submit({.id = id_of(1), .what = commands::remove{}}, [&](result<reply>) {
        EXPECT_TRUE(lane.lane().call(id_of(1), commands::remove{}, {}));
        answered.count_down();
    });

    answered.wait();
}

} // namespace
} // namespace semel
