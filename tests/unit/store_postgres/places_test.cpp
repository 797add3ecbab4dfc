#include "databases/postgres/store/places.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace semel::postgres {
namespace {

using namespace std::string_view_literals;

constexpr duration lease = std::chrono::minutes{1};

claim claim_of(std::uint64_t number) {
    return {.fence = 7, .owner = {.high = 1, .low = number}};
}

TEST(PostgresPlaces, AClaimIsFoundOnceWhereItWasPut) {
    places all;
    all.remember(claim_of(1), "\0\0\0\1\0\2"sv, lease);
    all.remember(claim_of(2), "\0\0\0\1\0\3"sv, lease);

    EXPECT_EQ(all.take({.fence = 8, .owner = claim_of(1).owner}), "") << "another claim";
    EXPECT_EQ(all.take(claim_of(3)), "");
    EXPECT_EQ(all.take(claim_of(1)), "\0\0\0\1\0\2"sv);
    EXPECT_EQ(all.take(claim_of(1)), "");
    EXPECT_EQ(all.take(claim_of(2)), "\0\0\0\1\0\3"sv);
}

TEST(PostgresPlaces, AFullShelfForgetsTheOldest) {
    places all;
    const std::uint64_t same_shelf = 1'024;
    for (std::uint64_t i = 0; i < 5; ++i) all.remember(claim_of(i * same_shelf), "111111", lease);

    EXPECT_EQ(all.take(claim_of(0)), "");
    for (std::uint64_t i = 1; i < 5; ++i) EXPECT_EQ(all.take(claim_of(i * same_shelf)), "111111");
}

TEST(PostgresPlaces, APlaceIsNotBelievedForLong) {
    places all;
    all.remember(claim_of(1), "111111", std::chrono::milliseconds{4});
    std::this_thread::sleep_for(std::chrono::milliseconds{2});

    EXPECT_EQ(all.take(claim_of(1)), "");
}

} // namespace
} // namespace semel::postgres
