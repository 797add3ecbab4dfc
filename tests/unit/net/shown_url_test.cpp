#include "net/shown_url.hpp"

#include <gtest/gtest.h>

namespace semel::net {
namespace {

struct example {
    const char* url;
    const char* shown;
};

TEST(ShownUrl, HidesPasswordsUpToTheLastAt) {
    for (const auto& [url, shown] : {
             example{"redis://:AbC/dEf+x=@host/0", "redis://:***@host/0"},
             example{"rediss://me:a@b?c@host:1/0", "rediss://***"},
             example{"mysql://app:pa/ss@host/db", "mysql://app:***@host/db"},
             example{"mariadb://app:p&ss@host/db?lanes=2", "mariadb://app:***@host/db?lanes=2"},
             example{"nats://u:x/y@h1:4222,h2:4222", "nats://u:***@h1:4222,h2:4222"},
             example{"postgres://u%3Ap%40ss%40host/db", "postgres://u:***@host/db"},
             example{"redis://:p%40host/0", "redis://:***@host/0"},
             example{"postgres://u@host/db", "postgres://u@host/db"},
         }) {
        EXPECT_EQ(shown_url(url), shown);
    }
}

TEST(ShownUrl, HidesWhatMayBeAPasswordWithoutItsAtOrColon) {
    EXPECT_EQ(shown_url("redis://secret@host/0"), "redis://***@host/0");
    EXPECT_EQ(shown_url("nats://token@host:4222"), "nats://***@host:4222");
    EXPECT_EQ(shown_url("redis://:secret"), "redis://***");
    EXPECT_EQ(shown_url("redis:secret"), "redis:***");
}

TEST(ShownUrl, ShowsOnlyParametersThatAreKnownToBeHarmless) {
    EXPECT_EQ(shown_url("postgres://u@h/d?sslmode=require&password=x&sslpassword=y&options=z"),
              "postgres://u@h/d?sslmode=require&password=***&sslpassword=***&options=***");
    EXPECT_EQ(shown_url("redis://h/0?lanes=2&a%20b=c&word"), "redis://h/0?lanes=2&***&***");
}

TEST(ShownUrl, ShowsBothUrlsOfATieredStore) {
    EXPECT_EQ(shown_url("tiered:?front=redis://:p%2526w@c/0?lanes=1%26wake=none&gate_ms=5"
                        "&truth=mysql://u:a/b@h/d"),
              "tiered:?front=redis://:***@c/0?lanes=1%26wake=none&gate_ms=5"
              "&truth=mysql://u:***@h/d");
}

TEST(ShownUrl, ShowsOfAWebhookOnlySchemeAndHost) {
    EXPECT_EQ(shown_url("https://hooks.example/services/T0/B1/s3cret"),
              "https://hooks.example/***");
    EXPECT_EQ(shown_url("http://h:8080?token=x"), "http://h:8080/***");
    EXPECT_EQ(shown_url("http://h/#secret_file=x"), "http://h/***");
    EXPECT_EQ(shown_url("https://me:pass@h:1/x"), "https://h:1/***");
    EXPECT_EQ(shown_url("https://me:pa/ss@h:1/x"), "https://***");
    EXPECT_EQ(shown_url("http://[::1]:80/"), "http://[::1]:80");
    EXPECT_EQ(shown_url("http://127.0.0.1:3000"), "http://127.0.0.1:3000");
}

TEST(ShownUrl, ShowsFilesAsTheyAre) {
    EXPECT_EQ(shown_url("sqlite:/var/lib/a b.db?prefix=x_"), "sqlite:/var/lib/a b.db?prefix=x_");
    EXPECT_EQ(shown_url("stdout:"), "stdout:");
    EXPECT_EQ(shown_url("memory:?records_max=1k"), "memory:?records_max=1k");
}

TEST(ShownUrl, LeavesOnlyTheSchemeOfWhatIsNoKnownUrl) {
    EXPECT_EQ(shown_url("amqp://u:p@h"), "amqp:***");
    EXPECT_EQ(shown_url("host=h password=x"), "***");
    EXPECT_EQ(shown_url("u:p w@h"), "u:***");
    EXPECT_EQ(shown_url("semel.db"), "semel.db");
    EXPECT_EQ(shown_url(""), "");
}

} // namespace
} // namespace semel::net
