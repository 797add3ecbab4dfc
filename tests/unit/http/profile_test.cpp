#include "semel/http/profile.hpp"

#include <gtest/gtest.h>

namespace semel::http::profile_test {
namespace {

using enum disposition;

constexpr profile all_profiles[] = {profile::only_2xx, profile::ietf, profile::stripe_v1,
                                    profile::stripe_v2};

TEST(Profile, IsTheTableOfItsHeader) {
    struct row {
        std::vector<int> statuses;
        disposition only_2xx, ietf, stripe_v1, stripe_v2;
    };
    const std::vector<row> table = {
        {{200, 201, 202, 204, 299}, keep, keep, keep, keep},
        {{301, 303, 304, 307}, release, keep, keep, keep},
        {{401, 429}, release, release, release, release},
        {{403, 407, 408, 425}, release, release, reject, retry},
        {{409}, release, reject, release, retry},
        {{400, 402, 404, 410, 422, 499}, release, reject, reject, retry},
        {{503}, retry, retry, reject, retry},
        {{502, 504}, retry, unknown, reject, retry},
        {{500, 501, 505, 599}, retry, reject, reject, retry},
    };
    for (const row& one : table) {
        for (const int status : one.statuses) {
            EXPECT_EQ(dispose(profile::only_2xx, status), one.only_2xx) << status;
            EXPECT_EQ(dispose(profile::ietf, status), one.ietf) << status;
            EXPECT_EQ(dispose(profile::stripe_v1, status), one.stripe_v1) << status;
            EXPECT_EQ(dispose(profile::stripe_v2, status), one.stripe_v2) << status;
        }
    }
}

TEST(Profile, NoFinalResponseIsAnUnknownOutcome) {
    for (const profile which : all_profiles) {
        for (const int status : {-1, 0, 100, 101, 199, 600, 1000}) {
            EXPECT_EQ(dispose(which, status), unknown) << name(which) << ' ' << status;
        }
    }
}

TEST(S4_Profile, WhatDidNotBeginIsReleased) {
    for (const profile which : all_profiles) {
        for (const int status : {200, 400, 401, 429, 500}) {
            EXPECT_EQ(dispose(which, status, progress::not_begun), release) << status;
        }
    }
    EXPECT_EQ(dispose({{.first = 400, .last = 400, .becomes = keep}}, profile::ietf, 400,
                      progress::not_begun),
              release);
}

TEST(R32_Profile, RulesOfTheRouteComeFirst) {
    const std::vector<status_rule> rules = {
        parse_status_rule("503", unknown).value(),
        parse_status_rule("5xx", reject).value(),
        parse_status_rule("400-409", keep).value(),
    };
    const auto by_rules = [&](int status) { return dispose(rules, profile::only_2xx, status); };

    EXPECT_EQ(by_rules(503), unknown);
    EXPECT_EQ(by_rules(500), reject);
    EXPECT_EQ(by_rules(400), keep);
    EXPECT_EQ(by_rules(409), keep);
    EXPECT_EQ(by_rules(410), release);
    EXPECT_EQ(by_rules(201), keep);
}

TEST(StatusRule, ReadsAClassAStatusOrARange) {
    EXPECT_EQ(parse_status_rule("2xx", keep).value(),
              (status_rule{.first = 200, .last = 299, .becomes = keep}));
    EXPECT_EQ(parse_status_rule("404", release).value(),
              (status_rule{.first = 404, .last = 404, .becomes = release}));
    EXPECT_EQ(parse_status_rule("500-503", retry).value(),
              (status_rule{.first = 500, .last = 503, .becomes = retry}));
}

TEST(StatusRule, RefusesEverythingElse) {
    for (const char* odd : {"", "2", "2x", "1xx", "6xx", "xxx", "99", "600", "0404", "4 4", "+40",
                            "404-", "-404", "503-500", "404-4xx", "2XX", "404,405", "404-4040"}) {
        const auto got = parse_status_rule(odd, keep);

        ASSERT_FALSE(got.has_value()) << odd;
        EXPECT_EQ(got.error().code, errc::invalid_argument);
        EXPECT_NE(got.error().detail.find(odd), std::string::npos);
    }
}

TEST(Profile, NamesAreRoundTrips) {
    for (const profile which : all_profiles) EXPECT_EQ(profile_named(name(which)), which);
    for (const disposition which : {keep, reject, retry, release, unknown}) {
        EXPECT_EQ(disposition_named(name(which)), which);
    }
    EXPECT_EQ(profile_named("stripe"), std::nullopt);
    EXPECT_EQ(disposition_named("Keep"), std::nullopt);
}

} // namespace
} // namespace semel::http::profile_test
