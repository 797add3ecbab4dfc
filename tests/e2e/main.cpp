// Whole processes and real servers. Beside GTest's own options:
//   --long          a hundred thousand requests through the chain instead of 1,500
//   --requests=N    so many
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "e2e/length.hpp"

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    const std::string counted = "--requests=";
    for (int i = 1; i < argc; ++i) {
        const std::string option = argv[i];
        int wanted = 0;
        if (option == "--long") wanted = semel::e2e::requests_of_the_long_form;
        if (option.starts_with(counted)) wanted = std::atoi(option.c_str() + counted.size());
        if (wanted <= 0) {
            std::fprintf(stderr, "unknown option %s\n", argv[i]);
            return 2;
        }
        semel::e2e::requests_wanted() = wanted;
    }
    return RUN_ALL_TESTS();
}
