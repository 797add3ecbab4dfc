#include "databases/postgres/store/places.hpp"

#include <gtest/gtest.h>

namespace semel::postgres {
namespace {

using namespace std::string_view_literals;

constexpr duration lease = std::chrono::minutes{1};
constexpr local_time start{std::chrono::hours{1}};

claim claim_of(std::uint64_t number) {
    return {.fence = 7, .owner = {.high = 1, .low = number}};
}

TEST(PostgresPlaces, AClaimIsFoundOnceWhereItWasPut) {
    places all;
    all.remember(claim_of(1), "\0\0\0\1\0\2"sv, lease, start);
    all.remember(claim_of(2), "\0\0\0\1\0\3"sv, lease, start);

    EXPECT_EQ(all.take({.fence = 8, .owner = claim_of(1).owner}, start), "") << "another claim";
    EXPECT_EQ(all.take(claim_of(3), start), "");
    EXPECT_EQ(all.take(claim_of(1), start), "\0\0\0\1\0\2"sv);
    EXPECT_EQ(all.take(claim_of(1), start), "");
    EXPECT_EQ(all.take(claim_of(2), start), "\0\0\0\1\0\3"sv);
}

TEST(PostgresPlaces, AFullShelfForgetsTheOldest) {
    places all;
    const std::uint64_t same_shelf = 1'024;
    for (std::uint64_t i = 0; i < 5; ++i) {
        all.remember(claim_of(i * same_shelf), "111111", lease, start + std::chrono::seconds{i});
    }

    EXPECT_EQ(all.take(claim_of(0), start), "");
    for (std::uint64_t i = 1; i < 5; ++i) {
        EXPECT_EQ(all.take(claim_of(i * same_shelf), start), "111111");
    }
}

TEST(PostgresPlaces, APlaceIsBelievedForAQuarterOfTheLease) {
    places all;
    all.remember(claim_of(1), "111111", lease, start);
    all.remember(claim_of(2), "222222", lease, start);
    const local_time in_time = start + lease / 4 - std::chrono::microseconds{1};

    EXPECT_EQ(all.take(claim_of(1), in_time), "111111");
    EXPECT_EQ(all.take(claim_of(2), start + lease / 4), "");
}

} // namespace
} // namespace semel::postgres
