#include "base/process_random.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace semel {
namespace {

// What a forked child draws next.
std::uint64_t drawn_by_child() {
    int ends[2];
    EXPECT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const std::uint64_t drawn = process_random();
        ::_exit(::write(ends[1], &drawn, sizeof drawn) == sizeof drawn ? 0 : 1);
    }
    std::uint64_t drawn = 0;
    EXPECT_EQ(::read(ends[0], &drawn, sizeof drawn), static_cast<ssize_t>(sizeof drawn));
    EXPECT_EQ(::waitpid(child, nullptr, 0), child);
    for (const int one : ends) ::close(one);
    return drawn;
}

TEST(ProcessRandom, NoTwoProcessesDrawAlike) {
    (void)process_random();

    const std::uint64_t first = drawn_by_child();
    const std::uint64_t second = drawn_by_child();
    const std::uint64_t own = process_random();

    EXPECT_NE(first, second);
    EXPECT_NE(first, own);
    EXPECT_NE(second, own);
}

} // namespace
} // namespace semel
