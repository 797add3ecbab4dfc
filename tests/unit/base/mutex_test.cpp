#include "semel/base/mutex.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <future>

namespace semel::detail {
namespace {

using namespace std::chrono_literals;

// A number that threads change in turn.
class turns {
public:
    void take(int mine) {
        guard lock{mutex_};
        changed_.wait(lock, [&]() SEMEL_REQUIRES(mutex_) { return next_ == mine; });
        ++next_;
        changed_.notify_all();
    }
    int next() {
        const guard lock{mutex_};
        return next_;
    }
    int next_after(int mine) {
        const guard lock{mutex_};
        {
            const gap unlocked{mutex_};
            take(mine);
        }
        return next_;
    }

private:
    mutex mutex_;
    condition changed_;
    int next_ SEMEL_GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, GivesTheLockToOneThreadAfterTheOther) {
    turns all;
    auto second = std::async(std::launch::async, [&] { all.take(1); });
    auto first = std::async(std::launch::async, [&] { all.take(0); });

    first.get();
    second.get();

    EXPECT_EQ(all.next(), 2);
}

TEST(Mutex, IsFreeInAGapAndHeldAfterIt) {
    turns all;

    EXPECT_EQ(all.next_after(0), 1);
    EXPECT_EQ(all.next_after(1), 2);
}

TEST(Mutex, IsHeldAfterAGapThatAnExceptionLeaves) {
    mutex one;
    int seen = 0;
    std::future<void> other;
    {
        const guard lock{one};
        try {
            const gap unlocked{one};
            throw 1;
        } catch (int) {
        }
        other = std::async(std::launch::async, [&] {
            const guard later{one};
            seen *= 2;
        });
        seen = 21;
    }
    other.get();

    EXPECT_EQ(seen, 42);
}

TEST(Condition, EndsAWaitAtItsTime) {
    mutex one;
    condition never;
    guard lock{one};

    EXPECT_FALSE(never.wait_for(lock, 1ms, [] { return false; }));
    EXPECT_EQ(never.wait_until(lock, std::chrono::steady_clock::now()), std::cv_status::timeout);
}

} // namespace
} // namespace semel::detail
