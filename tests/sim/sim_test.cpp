#include <gtest/gtest.h>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "sim/batch.hpp"
#include "sim/corpus.hpp"
#include "sim/options.hpp"

namespace semel::sim {
namespace {

constexpr std::size_t last_lines = 40;
// With fewer seeds than this, what is rare need not have happened.
constexpr std::uint64_t enough_seeds = 10'000;

// The end of a failed run's story; how to see all of it.
std::string story(const failed_seed& of) {
    std::ostringstream text;
    const auto trace = run(of.seed, journal::mode::written).trace;
    const std::size_t from = trace.size() > last_lines ? trace.size() - last_lines : 0;
    for (std::size_t at = from; at < trace.size(); ++at) text << "    " << trace[at] << '\n';
    text << "  seed " << of.seed << " breaks " << of.what.property << ": " << of.what.what
         << "\n  replay: ./test sim --seed " << of.seed << '\n';
    return text.str();
}

// Short enough to be typed.
std::uint64_t new_seed() {
    std::random_device random;
    return 1 + random();
}

// All seeds run once; the tests below look at what came of it.
class Simulator : public testing::Test {
protected:
    static void SetUpTestSuite() {
        const auto start = std::chrono::steady_clock::now();
        const std::uint64_t first = asked_for().first ? *asked_for().first : new_seed();
        std::printf("%zu seeds that once failed, then %llu: --first-seed %llu\n", std::size(corpus),
                    static_cast<unsigned long long>(asked_for().seeds),
                    static_cast<unsigned long long>(first));
        result() = run_batch({.before = corpus, .first = first, .count = asked_for().seeds});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        std::printf("%llu seeds, %llu events, %.1f s\n",
                    static_cast<unsigned long long>(result().runs),
                    static_cast<unsigned long long>(result().steps), took.count());
    }
    static batch_result& result() {
        static batch_result all;
        return all;
    }
};

TEST_F(Simulator, KeepsEveryInvariantOnEverySeed) {
    for (const auto& one : result().failed) ADD_FAILURE() << story(one);

    EXPECT_GT(result().runs, 0U);
}

TEST_F(Simulator, MeetsEverythingThatIsRare) {
    if (asked_for().seeds < enough_seeds) GTEST_SKIP() << "too few seeds to expect it";

    for (std::size_t i = 0; i < rare_count; ++i) {
        const auto text = std::string{title(static_cast<rare>(i))};
        std::printf("%10llu %s\n", static_cast<unsigned long long>(result().seen.counts[i]),
                    text.c_str());
        EXPECT_GT(result().seen.counts[i], 0U) << "never happened: " << text;
    }
}

TEST(SimulatorReplay, GivesTheSameTraceForTheSameSeed) {
    const std::uint64_t seed = asked_for().replayed.value_or(7);

    const run_result once = run(seed, journal::mode::written);
    const run_result again = run(seed, journal::mode::written);

    if (asked_for().replayed) {
        for (const auto& line : once.trace) std::printf("%s\n", line.c_str());
        EXPECT_FALSE(once.broken) << once.broken->property << ": " << once.broken->what;
    }
    EXPECT_GT(once.trace.size(), 10U);
    EXPECT_EQ(once.trace, again.trace);
}

TEST(SimulatorReplay, TellsDifferentStoriesForDifferentSeeds) {
    EXPECT_NE(run(1, journal::mode::written).trace, run(2, journal::mode::written).trace);
}

// The module's archive members that the linker took into this very binary, from its map.
std::set<std::string> linked_objects(const std::string& archive) {
    std::ifstream map{SEMEL_BINARY_DIR "/tests/semel_tests_sim.map"};
    std::set<std::string> found;
    const std::string mark = archive + "(";
    for (std::string line; std::getline(map, line);) {
        const auto at = line.find(mark);
        if (at == std::string::npos) continue;
        const auto begin = at + mark.size();
        found.insert(line.substr(begin, line.find(')', begin) - begin));
    }
    return found;
}

// What the build made for production: "<archive> <object file>" per line.
std::map<std::string, std::set<std::string>> production_objects() {
    std::ifstream list{SEMEL_BINARY_DIR "/tests/semel_production_objects.txt"};
    std::map<std::string, std::set<std::string>> found;
    for (std::string archive, object; list >> archive >> object;) {
        found[archive].insert(object.substr(object.rfind('/') + 1));
    }
    return found;
}

TEST(SimulatorLink, HasTheObjectsOfProduction) {
    const auto production = production_objects();

    ASSERT_EQ(production.size(), 3U) << "engine, store and core";
    for (const auto& [archive, objects] : production) {
        const auto linked = linked_objects(archive);
        EXPECT_FALSE(linked.empty()) << archive;
        for (const auto& one : linked) EXPECT_TRUE(objects.contains(one)) << archive << one;
        // The engine whole; of the others what it and the simulated driver need.
        if (archive == "libsemel_engine.a") {
            EXPECT_EQ(linked, objects);
        }
    }
    EXPECT_TRUE(linked_objects("libsemel_store.a").contains("lane.cpp.o"));
    for (const char* one :
         {"record_machine.cpp.o", "begin_machine.cpp.o", "complete_machine.cpp.o"}) {
        EXPECT_TRUE(linked_objects("libsemel_core.a").contains(one)) << one;
    }
}

TEST(SimulatorLink, HasNoDeliberateBugs) {
#ifdef SEMEL_MUTANTS
    FAIL() << "compiled for the mutants";
#endif
    std::ifstream map{SEMEL_BINARY_DIR "/tests/semel_tests_sim.map"};
    std::string line;
    bool found = false;
    while (std::getline(map, line)) found = found || line.find("active_bug") != std::string::npos;

    EXPECT_FALSE(found);
}

} // namespace
} // namespace semel::sim
