#include "semel/http/problem.hpp"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace semel::http::problem_test {
namespace {

using nlohmann::json;
using namespace std::chrono_literals;

// The wire contract: a change here breaks clients.
TEST(Problem, TypesAndStatusesAreStable) {
    struct row {
        problem_kind kind;
        std::string_view slug;
        int status;
    };
    const std::vector<row> table = {
        {problem_kind::request_malformed, "request-malformed", 400},
        {problem_kind::key_missing, "key-missing", 400},
        {problem_kind::key_malformed, "key-malformed", 400},
        {problem_kind::key_too_long, "key-too-long", 400},
        {problem_kind::key_reserved, "key-reserved", 400},
        {problem_kind::tenant_missing, "tenant-missing", 401},
        {problem_kind::principal_missing, "principal-missing", 401},
        {problem_kind::body_too_large, "body-too-large", 413},
        {problem_kind::in_progress, "in-progress", 409},
        {problem_kind::in_doubt, "in-doubt", 409},
        {problem_kind::mismatch, "mismatch", 422},
        {problem_kind::failed, "failed", 500},
        {problem_kind::result_not_kept, "result-not-kept", 409},
        {problem_kind::unavailable, "unavailable", 503},
        {problem_kind::unconfirmed, "unconfirmed", 503},
        {problem_kind::result_unreadable, "result-unreadable", 500},
        {problem_kind::upstream_unreachable, "upstream-unreachable", 503},
        {problem_kind::outcome_unknown, "outcome-unknown", 504},
        {problem_kind::forbidden, "forbidden", 403},
        {problem_kind::not_found, "not-found", 404},
        {problem_kind::fenced_off, "fenced-off", 409},
        {problem_kind::not_renewed, "not-renewed", 409},
        {problem_kind::limit_exceeded, "limit-exceeded", 409},
        {problem_kind::overloaded, "overloaded", 503},
        {problem_kind::operation_unknown, "operation-unknown", 400},
    };
    std::set<std::string_view> slugs;
    for (const row& one : table) {
        const response answer = to_response({.kind = one.kind});
        const json body = json::parse(answer.body);

        EXPECT_EQ(answer.status, one.status) << one.slug;
        EXPECT_EQ(body["status"], one.status) << one.slug;
        EXPECT_EQ(body["type"], "urn:semel:problem:" + std::string{one.slug});
        EXPECT_FALSE(body["title"].get<std::string>().empty());
        EXPECT_TRUE(slugs.insert(slug(one.kind)).second);
    }
}

// A client that gets no for an answer is told what to do, at the gateway, the center and the
// console alike: all of them answer through to_response().
TEST(Problem, EveryKindSaysWhatToDo) {
    for (std::size_t kind = 0; kind <= static_cast<std::size_t>(problem_kind::overloaded); ++kind) {
        const auto body = json::parse(to_response({.kind = static_cast<problem_kind>(kind)}).body);

        const std::string detail = body.value("detail", "");

        EXPECT_GT(detail.size(), 15U) << body["type"];
        EXPECT_NE(detail, body["title"]) << body["type"];
    }
}

TEST(I18_Problem, IsProblemJsonThatIsNotCached) {
    const response answer = to_response({.kind = problem_kind::mismatch, .detail = "say \"why\""});

    EXPECT_EQ(*answer.headers.find("Content-Type"), "application/problem+json");
    EXPECT_EQ(*answer.headers.find("Content-Language"), "en");
    EXPECT_EQ(*answer.headers.find("Cache-Control"), "no-store");
    EXPECT_EQ(json::parse(answer.body)["detail"], "say \"why\"");
}

TEST(I7_Problem, LinksToTheDocumentation) {
    const problem_options options{.type_base = "https://docs.example/problems/",
                                  .documentation = "https://docs.example/idempotency"};

    const response answer = to_response({.kind = problem_kind::key_missing}, options);

    EXPECT_EQ(json::parse(answer.body)["type"], "https://docs.example/problems/key-missing");
    EXPECT_EQ(*answer.headers.find("Link"),
              "<https://docs.example/idempotency#key-missing>; rel=\"describedby\"");
    EXPECT_EQ(to_response({.kind = problem_kind::key_missing}).headers.find("Link"), nullptr);
}

TEST(S6_Problem, MismatchIs400WithStripesErrorUnderAStripeProfile) {
    for (const profile style : {profile::stripe_v1, profile::stripe_v2}) {
        const response answer = to_response({.kind = problem_kind::mismatch}, {}, style);
        const json body = json::parse(answer.body);

        EXPECT_EQ(answer.status, 400);
        EXPECT_EQ(body["status"], 400);
        EXPECT_EQ(body["error"]["type"], "idempotency_error");
    }
    EXPECT_FALSE(json::parse(to_response({.kind = problem_kind::mismatch}).body).contains("error"));
}

TEST(S7_Problem, InProgressIs409WithStripesCode) {
    const response answer =
        to_response({.kind = problem_kind::in_progress}, {}, profile::stripe_v1);

    EXPECT_EQ(answer.status, 409);
    EXPECT_EQ(json::parse(answer.body)["error"]["code"], "idempotency_key_in_use");
}

TEST(Problem, RetryAfterIsInWholeSecondsRoundedUp) {
    EXPECT_EQ(retry_after_text(0us), "1");
    EXPECT_EQ(retry_after_text(-5s), "1");
    EXPECT_EQ(retry_after_text(1us), "1");
    EXPECT_EQ(retry_after_text(1s), "1");
    EXPECT_EQ(retry_after_text(1000001us), "2");
    EXPECT_EQ(retry_after_text(29'400ms), "30");

    const response with = to_response({.kind = problem_kind::in_progress, .retry_after = 1500ms});
    EXPECT_EQ(*with.headers.find("Retry-After"), "2");
    EXPECT_EQ(to_response({.kind = problem_kind::mismatch}).headers.find("Retry-After"), nullptr);
}

TEST(Problem, DatesAreThoseOfHttp) {
    const auto at = [](std::int64_t seconds) {
        return http_date(time_point{std::chrono::seconds{seconds}});
    };

    EXPECT_EQ(at(784'111'777), "Sun, 06 Nov 1994 08:49:37 GMT");
    EXPECT_EQ(at(951'782'400), "Tue, 29 Feb 2000 00:00:00 GMT");
    EXPECT_EQ(at(0), "Thu, 01 Jan 1970 00:00:00 GMT");
    EXPECT_EQ(http_date(time_point{999'999us}), at(0));
}

} // namespace
} // namespace semel::http::problem_test
