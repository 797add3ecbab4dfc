#include "base/nearest.hpp"

#include <gtest/gtest.h>

namespace semel {
namespace {

TEST(Nearest, SuggestsWhatWasMeant) {
    const std::vector<std::string> known = {"listen", "head_timeout", "drain"};

    EXPECT_EQ(nearest("lisen", known), "listen");
    EXPECT_EQ(nearest("lsiten", known), "listen");
    EXPECT_EQ(nearest("timeout", known), "head_timeout");
    EXPECT_EQ(nearest("colour", known), "");
    EXPECT_EQ(nearest(std::string(1000, 'a'), known), "");
}

} // namespace
} // namespace semel
