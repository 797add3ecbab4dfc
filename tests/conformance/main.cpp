// The conformance suite over every store of this project. Beside GTest's own options:
//   --long         100,000 commands per store
//   --commands N   that many
//   --seed N       another random walk
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "conformance/subjects.hpp"

namespace {

bool read_options(int argc, char** argv, semel::conformance::run_options& how) {
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        const bool has_value = i + 1 < argc;
        if (option == "--long") {
            how.commands = 100'000;
        } else if (option == "--commands" && has_value) {
            how.commands = std::strtoull(argv[++i], nullptr, 10);
        } else if (option == "--seed" && has_value) {
            how.seed = std::strtoull(argv[++i], nullptr, 10);
        } else {
            std::fprintf(stderr, "unknown option %s\n", argv[i]);
            return false;
        }
    }
    return how.commands > 0;
}

} // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    semel::conformance::run_options how;
    if (!read_options(argc, argv, how)) return 2;
    for (const auto& one : semel::conformance::subjects()) add_tests(one, how);
    return RUN_ALL_TESTS();
}
