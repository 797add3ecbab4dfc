// Memory that coroutines leave for those who come next.
#include "semel/base/task.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace semel::detail {
namespace {

using piece = std::pair<void*, std::size_t>;

// Each filled with a mark of its own.
std::vector<piece> taken(std::size_t count) {
    std::vector<piece> all;
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t bytes = i * 37 % 6000;
        all.emplace_back(take_frame(bytes), bytes);
        std::memset(all.back().first, static_cast<int>(i % 251), bytes);
    }
    return all;
}

bool untouched(const std::vector<piece>& all) {
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto* const bytes = static_cast<const unsigned char*>(all[i].first);
        for (std::size_t at = 0; at < all[i].second; ++at) {
            if (bytes[at] != i % 251) return false;
        }
    }
    return true;
}

void give_back(const std::vector<piece>& all) {
    for (const auto& [at, bytes] : all) give_frame(at, bytes);
}

TEST(FrameMemory, AFrameInUseIsNotGivenOutAgain) {
    for (int round = 0; round < 3; ++round) {
        const auto all = taken(2'000);
        EXPECT_TRUE(untouched(all));
        give_back(all);
    }
}

TEST(FrameMemory, FitsAnyObject) {
    for (const auto& [at, bytes] : taken(500)) {
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(at) % alignof(std::max_align_t), 0U);
        give_frame(at, bytes);
    }
}

TEST(FrameMemory, MayBeGivenBackByAnotherThread) {
    auto all = taken(2'000);
    std::thread{[&] {
        EXPECT_TRUE(untouched(all));
        give_back(all);
        all = taken(2'000);
    }}.join();

    EXPECT_TRUE(untouched(all));
    give_back(all);
}

struct last_word {
    std::vector<piece> all = {};
    bool* whole = nullptr;
    ~last_word() {
        const auto late = taken(200);
        *whole = untouched(all) && untouched(late);
        give_back(all);
        give_back(late);
    }
};

TEST(FrameMemory, ServesAThreadToItsVeryEnd) {
    bool whole = false;
    std::thread{[&] {
        // Made before the thread has kept a frame, so it is destroyed after the kept frames.
        thread_local last_word ends_last;
        ends_last.all.reserve(200);
        ends_last.all = taken(200);
        ends_last.whole = &whole;
        give_back(taken(200));
    }}.join();

    EXPECT_TRUE(whole);
}

} // namespace
} // namespace semel::detail
