#include "semel/http/response.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

// The rows of the table behind "## Which answers are kept": cells without their blanks.
std::vector<std::vector<std::string>> published_table() {
    std::ifstream page{SEMEL_SOURCE_DIR "/docs/http.md"};
    std::vector<std::vector<std::string>> rows;
    bool here = false;
    for (std::string line; std::getline(page, line);) {
        if (line.starts_with("## ")) here = line == "## Which answers are kept";
        if (!here || !line.starts_with("| ") || line.starts_with("| ---")) continue;
        std::istringstream cells{line.substr(1)};
        rows.emplace_back();
        for (std::string cell; std::getline(cells, cell, '|');) {
            rows.back().push_back(cell.substr(1, cell.size() - 2));
        }
    }
    return rows;
}

// Those of the statuses that a row "401, 429", "3xx" or "other 4xx" is about.
std::vector<int> statuses_of(const std::string& row, std::set<int>& left) {
    std::vector<int> found;
    const std::size_t family = row.find("xx");
    for (const int status : left) {
        const bool in = family == std::string::npos
                            ? row.find(std::to_string(status)) != std::string::npos
                            : status / 100 == row[family - 1] - '0';
        if (in) found.push_back(status);
    }
    for (const int status : found) left.erase(status);
    return found;
}

TEST(I21_Profile, ThePublishedTableIsTheOneInForce) {
    std::set<int> left;
    for (int status = 200; status < 600; ++status) left.insert(status);
    const auto rows = published_table();
    ASSERT_GT(rows.size(), 2U);

    for (std::size_t i = 1; i < rows.size(); ++i) {
        ASSERT_EQ(rows[i].size(), 5U) << i;
        for (const int status : statuses_of(rows[i][0], left)) {
            for (std::size_t column = 1; column < 5; ++column) {
                EXPECT_EQ(name(dispose(all_profiles[column - 1], status)), rows[i][column])
                    << status << ' ' << rows[0][column];
            }
        }
    }
    EXPECT_TRUE(left.empty()) << *left.begin(); // says something of every status
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
