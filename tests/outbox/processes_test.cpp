// Many relay processes on one table, alive and killed at random.
#include <gtest/gtest.h>

#include <random>

#include "outbox/fleet.hpp"
#include "outbox/length.hpp"
#include "outbox/places.hpp"

namespace semel::outbox {
namespace {

using namespace std::chrono_literals;

class OutboxProcesses : public testing::TestWithParam<const char*> {
protected:
    void expect_one_each(int processes) {
        constexpr int events = 3'000;
        shared_board board{events, 60};
        at_->fill(events, 60);
        fleet all{at_->opener(),
                  *board,
                  {.until = relay_until::empty, .workers = 1, .batch = 50, .sink_batch = 10}};

        all.start(processes);

        EXPECT_EQ(all.wait(), 0);
        EXPECT_EQ(board->delivered, events);
        for (int i = 0; i < events; ++i) ASSERT_EQ(board->slot(i).deliveries, 1) << i;
        EXPECT_EQ(at_->count(), "0");
    }

    // Kills and starts relays while events are appended.
    void run_with_kills(fleet& all, fleet_board& board, int& appended) {
        const auto length = long_run() ? 120s : 3s;
        const auto end = std::chrono::steady_clock::now() + length;
        std::mt19937 dice{42};
        all.start(4);
        while (std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds{100 + dice() % 200});
            if (appended + 200 <= board.size) {
                at_->fill(200, board.keys, appended);
                appended += 200;
            }
            all.kill_one(dice());
            all.start(1);
        }
        const auto deadline = std::chrono::steady_clock::now() + 120s;
        while ((board.delivered < appended || at_->count() != "0") &&
               std::chrono::steady_clock::now() < deadline) {
            std::this_thread::sleep_for(20ms);
        }
        all.end(SIGTERM);
    }

    void expect_nothing_lost(fleet& all, fleet_board& board, int appended) {
        EXPECT_EQ(board.delivered, appended);
        EXPECT_EQ(at_->count(), "0");
        int repeats = 0;
        for (int i = 0; i < appended; ++i) {
            const fleet_slot& one = board.slot(i);
            if (one.deliveries <= 1) continue;
            ++repeats;
            EXPECT_TRUE(all.was_killed(one.first_by)) << i << " was delivered twice without a kill";
        }
        RecordProperty("kills", static_cast<int>(all.kills()));
        RecordProperty("repeats", repeats);
        std::printf("%d events, %zu kills, %d repeats\n", appended, all.kills(), repeats);
    }

    const std::unique_ptr<place> at_ = make_place(GetParam());
};

INSTANTIATE_TEST_SUITE_P(All, OutboxProcesses, testing::Values("postgres", "mariadb", "mysql"));

TEST_P(OutboxProcesses, OneRelayDeliversEachOnce) {
    expect_one_each(1);
}

TEST_P(OutboxProcesses, FourRelaysDeliverEachOnce) {
    expect_one_each(4);
}

TEST_P(OutboxProcesses, SixteenRelaysDeliverEachOnce) {
    expect_one_each(16);
}

TEST_P(OutboxProcesses, KillsLoseNothingAndRepeatOnlyWhatWasUnderWay) {
    shared_board board{200'000, 60};
    fleet all{
        at_->opener(), *board, {.workers = 1, .batch = 40, .sink_batch = 10, .lease = 1s}, 200us};
    int appended = 0;

    run_with_kills(all, *board, appended);

    expect_nothing_lost(all, *board, appended);
}

TEST_P(OutboxProcesses, KillsNeverBreakTheOrderOfAKey) {
    shared_board board{200'000, 60};
    fleet all{at_->opener(),
              *board,
              {.mode = relay_mode::ordered,
               .workers = 1,
               .batch = 40,
               .sink_batch = 10,
               .lease = 1s,
               .rescan = 500ms},
              200us};
    int appended = 0;

    run_with_kills(all, *board, appended);

    expect_nothing_lost(all, *board, appended);
    EXPECT_EQ(board->order_broken, 0);
}

} // namespace
} // namespace semel::outbox
