// Every deliberate bug of base/mutant.hpp must be caught by the simulator's checkers, which know
// nothing of it; and without a bug there is nothing to catch.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>

#include "base/mutant.hpp"
#include "sim/world.hpp"

namespace semel::sim {
namespace {

constexpr std::uint64_t seeds_max = 20'000;
constexpr std::uint64_t seeds_without_bug = 500;

struct mutant_case {
    bug which;
    const char* name;
    const char* caught_by; // the properties of which one must be named, separated by blanks
};

std::ostream& operator<<(std::ostream& to, const mutant_case& one) {
    return to << one.name;
}

// Runs seeds with this bug until one is broken: "property seed what", or nothing.
std::string hunt(bug which, std::uint64_t count) {
    active_bug = which;
    std::string found;
    for (std::uint64_t seed = 1; seed <= count && found.empty(); ++seed) {
        const run_result one = run(seed, journal::mode::silent);
        if (one.broken) {
            found = one.broken->property + " " + std::to_string(seed) + " " + one.broken->what;
        }
    }
    active_bug = bug::none;
    return found;
}

// In a process of its own: a mutant may also run into an assertion, which counts as caught.
std::string hunt_apart(bug which) {
    int ends[2];
    if (pipe(ends) != 0) return {};
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        const std::string found = hunt(which, seeds_max);
        const bool told = write(ends[1], found.data(), found.size()) >= 0;
        _exit(told ? 0 : 1);
    }
    close(ends[1]);
    std::string found;
    char part[512];
    for (ssize_t got = 0; (got = read(ends[0], part, sizeof part)) > 0;) {
        found.append(part, static_cast<std::size_t>(got));
    }
    close(ends[0]);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) found = "assertion 0 SEMEL_ASSERT";
    return found;
}

class Mutant : public testing::TestWithParam<mutant_case> {};

TEST_P(Mutant, IsCaught) {
    const std::string found = hunt_apart(GetParam().which);

    std::printf("%-26s caught by: %s\n", GetParam().name, found.c_str());
    ASSERT_FALSE(found.empty()) << "survived " << seeds_max << " seeds";
    const std::string property = " " + found.substr(0, found.find(' ')) + " ";
    const std::string expected = std::string{" "} + GetParam().caught_by + " ";
    EXPECT_NE(expected.find(property), std::string::npos)
        << "caught, but not by " << GetParam().caught_by << ": " << found;
}

TEST(WithoutABug, NothingIsCaught) {
    EXPECT_EQ(hunt(bug::none, seeds_without_bug), "");
}

const mutant_case mutants[]{
    {bug::claim_without_write, "claim_without_write", "S1 S10"},
    {bug::owner_not_checked, "owner_not_checked", "S1"},
    {bug::takeover_ignores_state, "takeover_ignores_state", "S2 S10 S11"},
    {bug::takeover_ignores_policy, "takeover_ignores_policy", "S11"},
    {bug::client_clock, "client_clock", "S13"},
    {bug::completion_cancelled, "completion_cancelled", "L2"},
    {bug::waiter_releases_record, "waiter_releases_record", "S12"},
    {bug::completion_refused, "completion_refused", "S8"},
    {bug::fence_restarts, "fence_restarts", "S3"},
    {bug::waiters_woken_early, "waiters_woken_early", "S8 S4 S5"},
    {bug::fenced_returns_own, "fenced_returns_own", "S4 S8"},
    {bug::mismatch_ignored, "mismatch_ignored", "S7"},
    {bug::unknown_begin_is_failure, "unknown_begin_is_failure", "S10"},
    {bug::expired_is_replayed, "expired_is_replayed", "S5"},
    {bug::purge_takes_live, "purge_takes_live", "S12"},
    {bug::winner_not_compared, "winner_not_compared", "S7"},
    {bug::adopted_lease_is_whole, "adopted_lease_is_whole", "L5"},
    {bug::unrun_is_counted, "unrun_is_counted", "S16"},
    {bug::unrun_is_forgotten, "unrun_is_forgotten", "S16"},
    {bug::adopted_forgets, "adopted_forgets", "S16"},
    {bug::used_up_is_forsaken, "used_up_is_forsaken", "S12"},
    {bug::verdict_grants_nothing, "verdict_grants_nothing", "L2"},
    {bug::orphan_is_left, "orphan_is_left", "L7"},
    {bug::asking_is_progress, "asking_is_progress", "S17"},
    {bug::lease_is_trusted, "lease_is_trusted", "S17"},
    {bug::any_end_is_a_verdict, "any_end_is_a_verdict", "S2"},
};

INSTANTIATE_TEST_SUITE_P(Every, Mutant, testing::ValuesIn(mutants),
                         [](const auto& one) { return std::string{one.param.name}; });

} // namespace
} // namespace semel::sim
