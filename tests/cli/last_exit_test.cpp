#include "last_exit.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace semel::app {
namespace {

using namespace std::chrono_literals;

void wait_for_a_thread_that_does_not_end() {
    end_within(50ms);
    std::thread{[] {
        while (true) std::this_thread::sleep_for(1s);
    }}.join();
}

TEST(LastExit, AThreadThatDoesNotEndIsNotWaitedFor) {
    EXPECT_EXIT(wait_for_a_thread_that_does_not_end(), testing::ExitedWithCode(1),
                "a thread still works");
}

TEST(LastExit, AProcessThatEndsInTimeKeepsItsExitCode) {
    EXPECT_EXIT(
        {
            end_within(1h);
            std::exit(7);
        },
        testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace semel::app
