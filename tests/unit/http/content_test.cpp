#include "semel/http/route.hpp"

#include <gtest/gtest.h>

namespace semel::http::content_test {
namespace {

request post(std::string type, std::string body) {
    return {.head = {.method = "POST",
                     .target = "/orders?dry=1",
                     .headers = {{"Host", "api.example"}, {"Content-Type", std::move(type)}}},
            .body = std::move(body)};
}

fingerprint print(const request& what, const content_options& options = {}) {
    return fingerprint_of(what.head, what.body, options);
}

TEST(I13_Content, IsDeterministic) {
    EXPECT_EQ(print(post("application/json", "{}")), print(post("application/json", "{}")));
}

TEST(R16_Content, JsonCountsInItsCanonicalForm) {
    const auto json = [](std::string body) { return print(post("application/json", body)); };

    EXPECT_EQ(json(R"({"a":1,"b":[2]})"), json("{ \"b\" : [ 2 ] ,\n \"a\" : 1.0 }"));
    EXPECT_NE(json(R"({"a":1})"), json(R"({"A":1})"));
    EXPECT_NE(json("9007199254740993"), json("9007199254740992"));
    EXPECT_NE(json(R"({"a":1,"a":2})"), json(R"({"a":2})"));
    EXPECT_NE(json("{broken"), json("{broken "));
    EXPECT_NE(json("[1,2]"), json("[2,1]"));
}

TEST(Content, JsonIsRecognisedByItsMediaType) {
    for (const char* type : {"application/json", "Application/JSON; charset=utf-8",
                             "application/vnd.order+json;v=2"}) {
        EXPECT_EQ(print(post(type, "{\"a\":1}")), print(post(type, "{ \"a\": 1 }"))) << type;
    }
    for (const char* type : {"text/plain", "application/jsonp", ""}) {
        EXPECT_NE(print(post(type, "{\"a\":1}")), print(post(type, "{ \"a\": 1 }"))) << type;
    }
    EXPECT_EQ(print(post("application/json", "{}")),
              print(post("application/json; charset=utf-8", "{}")));
}

TEST(R17_Content, CoversTheWholeBody) {
    std::string body(100'000, 'x');
    const fingerprint before = print(post("text/plain", body));
    for (const std::size_t at : {std::size_t{0}, body.size() / 2, body.size() - 1}) {
        std::string other = body;
        other[at] = 'y';

        EXPECT_NE(print(post("text/plain", other)), before);
    }
}

TEST(R22_Content, AnotherMethodHostPathOrQueryIsAnotherRequest) {
    const request first = post("text/plain", "x");
    const auto changed = [&](auto change) {
        request other = first;
        change(other.head);
        return print(other);
    };

    EXPECT_NE(changed([](request_head& head) { head.method = "PATCH"; }), print(first));
    EXPECT_NE(changed([](request_head& head) { head.target = "/order?dry=1"; }), print(first));
    EXPECT_NE(changed([](request_head& head) { head.target = "/orders?dry=2"; }), print(first));
    EXPECT_NE(changed([](request_head& head) { head.target = "/orders"; }), print(first));
    EXPECT_NE(changed([](request_head& head) { head.headers.set("Host", "b"); }), print(first));
    EXPECT_EQ(changed([](request_head& head) { head.headers.set("Host", "API.example"); }),
              print(first));
    EXPECT_EQ(changed([](request_head& head) { head.headers.add("User-Agent", "x"); }),
              print(first));
}

TEST(Content, HostMayBeLeftOut) {
    const content_options any_host{.host = content_options::host_counts::no};
    request other = post("text/plain", "x");
    other.head.headers.set("Host", "b.example");

    EXPECT_EQ(print(other, any_host), print(post("text/plain", "x"), any_host));
}

TEST(Content, PathAndQueryCannotBeShiftedIntoEachOther) {
    request left = post("text/plain", "x");
    request right = left;
    left.head.target = "/a?b";
    right.head.target = "/a%3Fb";

    EXPECT_NE(print(left), print(right));
}

TEST(Content, FormsCountByTheirFields) {
    const auto form = [](std::string body) {
        return print(post("application/x-www-form-urlencoded", body));
    };

    EXPECT_EQ(form("b=2&a=x+y"), form("a=x%20y&b=2"));
    EXPECT_NE(form("a=1&a=2"), form("a=2&a=1"));
}

TEST(Content, OneTextUnderTwoReadingsDiffers) {
    EXPECT_NE(print(post("application/json", "1")), print(post("text/plain", "1")));
    EXPECT_NE(print(post("application/x-www-form-urlencoded", "1=")),
              print(post("text/plain", "1=")));
}

TEST(Content, SelectedAndIgnoredPartsOfAJsonBody) {
    content_options amount;
    amount.json = json_selection::parse({.select = {"/amount", "/to"}}).value();
    content_options no_time;
    no_time.json = json_selection::parse({.ignore = {"/at"}}).value();
    const auto json = [](std::string body, const content_options& options) {
        return print(post("application/json", body), options);
    };

    EXPECT_EQ(json(R"({"amount":1,"to":2,"at":3})", amount),
              json(R"({"at":9,"to":2,"amount":1,"x":0})", amount));
    EXPECT_NE(json(R"({"amount":1})", amount), json(R"({"amount":2})", amount));
    EXPECT_EQ(json(R"({"amount":1,"at":3})", no_time), json(R"({"amount":1,"at":4})", no_time));
    EXPECT_NE(json(R"({"amount":1,"at":3})", no_time), json(R"({"amount":2,"at":3})", no_time));
}

TEST(Content, AnEncodedBodyCountsAsItsBytes) {
    request left = post("application/json", "{\"a\":1}");
    left.head.headers.add("Content-Encoding", "gzip");
    request right = left;
    right.body = "{ \"a\":1}";

    EXPECT_NE(print(left), print(right));
    EXPECT_NE(print(left), print(post("application/json", "{\"a\":1}")));
}

TEST(Content, SelectedHeadersCountWithAllTheirLines) {
    const content_options with{.headers = {"Stripe-Account"}};
    request one = post("text/plain", "x");
    one.head.headers.add("stripe-account", "a");
    request two = one;
    two.head.headers.add("Stripe-Account", "b");

    EXPECT_NE(print(one, with), print(post("text/plain", "x"), with));
    EXPECT_NE(print(one, with), print(two, with));
    EXPECT_EQ(print(one), print(two));
}

TEST(Content, ASecretHidesSmallBodies) {
    EXPECT_NE(print(post("application/json", "1"), {.secret = "s"}),
              print(post("application/json", "1")));
    EXPECT_NE(print(post("application/json", "1"), {.secret = "s"}),
              print(post("application/json", "2"), {.secret = "s"}));
}

} // namespace
} // namespace semel::http::content_test
