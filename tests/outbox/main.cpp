// The outbox on real databases. Beside GTest's own options:
//   --long   kills relays for two minutes instead of seconds
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "outbox/length.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    for (int i = 1; i < argc; ++i) {
        if (std::string_view{argv[i]} != "--long") {
            std::fprintf(stderr, "unknown option %s\n", argv[i]);
            return 2;
        }
        semel::outbox::long_run() = true;
    }
    return RUN_ALL_TESTS();
}
