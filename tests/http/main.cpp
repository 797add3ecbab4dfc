// The gateway and its server over real sockets. Beside GTest's own options:
//   --long   a million keys instead of twenty thousand
#include <gtest/gtest.h>

#include <cstdio>
#include <string_view>

#include "http/long_form.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    for (int i = 1; i < argc; ++i) {
        if (std::string_view{argv[i]} != "--long") {
            std::fprintf(stderr, "unknown option %s\n", argv[i]);
            return 2;
        }
        semel::edge::support::long_form = true;
    }
    return RUN_ALL_TESTS();
}
