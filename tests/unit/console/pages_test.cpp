#include "edge/console/pages.hpp"

#include "counter_desk.hpp"

namespace semel::edge::console_test {
namespace {

using testing::HasSubstr;

TEST(ConsolePages, TheFirstPageIsAskedForAgainAndItsAssetsAreKept) {
    counter_desk desk;

    const auto page = desk.send({.path = "/"});

    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(*page.headers.find("Cache-Control"), "no-cache");
    EXPECT_THAT(*page.headers.find("Content-Type"), HasSubstr("text/html"));
    for (const asset& one : console_assets()) {
        const auto got = desk.send({.path = std::string{one.path}});
        EXPECT_EQ(got.body, one.bytes) << one.path;
        if (one.path == "/") continue;
        EXPECT_THAT(page.body, HasSubstr(std::string{one.path}));
        EXPECT_THAT(*got.headers.find("Cache-Control"), HasSubstr("immutable"));
    }
}

TEST(ConsolePages, AreCompressedForThoseWhoTakeIt) {
    counter_desk desk;
    const asset& last = console_assets().back();
    if (last.gzip.empty()) GTEST_SKIP() << "built without npm";
    const auto encoding = [&](std::string accepted) {
        const auto got = desk.send({.path = std::string{last.path},
                                    .headers = {{"Accept-Encoding", std::move(accepted)}}});
        const std::string* const coding = got.headers.find("Content-Encoding");
        EXPECT_EQ(got.body, coding != nullptr ? last.gzip : last.bytes);
        return coding != nullptr ? *coding : "";
    };

    EXPECT_EQ(encoding("gzip, br"), "gzip");
    EXPECT_EQ(encoding("br;q=1, GZIP;q=0.5"), "gzip");
    EXPECT_EQ(encoding("gzip;q=0"), "");
    EXPECT_EQ(encoding("identity"), "");
}

TEST(ConsolePages, WhatTheBrowserHasIsNotSentAgain) {
    counter_desk desk;
    const std::string etag = *desk.send({.path = "/"}).headers.find("ETag");

    const auto again = desk.send({.path = "/", .headers = {{"If-None-Match", etag}}});

    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
}

TEST(ConsolePages, NothingElseIsThere) {
    counter_desk desk;

    for (const char* path :
         {"/assets/", "/assets/../", "/assets/%2e%2e/semel.toml", "/../../etc/passwd",
          "/assets/..%2f..%2fetc%2fpasswd", "//", "/index.html", "/admin/api/v1/", "/admin"}) {
        EXPECT_EQ(desk.send({.path = path}).status, 404) << path;
    }
    EXPECT_EQ(desk.send({.method = "POST", .path = "/"}).status, 405);
}

TEST(ConsolePages, EveryAnswerIsHardened) {
    counter_desk desk;

    for (const char* path : {"/", "/nothing", "/admin/api/v1/session"}) {
        const auto got = desk.send({.path = path});
        const std::string policy = *got.headers.find("Content-Security-Policy");
        EXPECT_THAT(policy, HasSubstr("default-src 'none'"));
        EXPECT_THAT(policy, HasSubstr("frame-ancestors 'none'"));
        EXPECT_THAT(policy, testing::Not(HasSubstr("unsafe")));
        EXPECT_EQ(*got.headers.find("X-Content-Type-Options"), "nosniff");
        EXPECT_TRUE(got.headers.contains("Cache-Control"));
    }
}

} // namespace
} // namespace semel::edge::console_test
