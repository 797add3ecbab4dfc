// The simulator. Beside GTest's own options:
//   --seeds N        that many seeds (100,000 unless told), behind those that once failed
//   --first-seed N   the first of them (drawn anew and printed unless told)
//   --seed N         runs this one seed and prints its trace, byte for byte the same every time
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "sim/batch.hpp"
#include "sim/options.hpp"

namespace semel::sim {

sim_options& asked_for() {
    static sim_options options;
    return options;
}

namespace {

bool read_number(int argc, char** argv, int& at, std::uint64_t& into) {
    if (at + 1 >= argc) return false;
    char* end = nullptr;
    into = std::strtoull(argv[++at], &end, 10);
    return end != argv[at] && *end == '\0';
}

bool read_options(int argc, char** argv) {
    sim_options& how = asked_for();
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        bool fine = false;
        if (option == "--seeds") fine = read_number(argc, argv, i, how.seeds) && how.seeds > 0;
        if (option == "--first-seed") fine = read_number(argc, argv, i, how.first.emplace());
        if (option == "--seed") fine = read_number(argc, argv, i, how.replayed.emplace());
        if (!fine) {
            std::fprintf(stderr,
                         "cannot use option %s; there are --seeds N, --first-seed N, --seed N\n",
                         argv[i]);
            return false;
        }
    }
    return true;
}

// A broken invariant ends the process in the middle of a run: say which run it was.
void on_abort(int) {
    char text[64];
    const int length = std::snprintf(text, sizeof text, "aborted in seed %llu\n",
                                     static_cast<unsigned long long>(current_seed()));
    const auto written = write(STDERR_FILENO, text, static_cast<std::size_t>(length));
    static_cast<void>(written);
    std::signal(SIGABRT, SIG_DFL);
}

} // namespace

} // namespace semel::sim

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    if (!semel::sim::read_options(argc, argv)) return 2;
    std::signal(SIGABRT, semel::sim::on_abort);
    if (semel::sim::asked_for().replayed) testing::GTEST_FLAG(filter) = "*Replay*";
    return RUN_ALL_TESTS();
}
