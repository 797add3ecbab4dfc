#include "net/in_folder.hpp"

#include <gtest/gtest.h>

namespace semel::net {
namespace {

TEST(InFolder, OnlyRelativePathsMove) {
    EXPECT_EQ(path_in_folder("tokens.txt", "conf"), "conf/tokens.txt");
    EXPECT_EQ(path_in_folder("../t", "/etc/semel/"), "/etc/semel/../t");
    EXPECT_EQ(path_in_folder("/run/t", "conf"), "/run/t");
    EXPECT_EQ(path_in_folder("t", ""), "t");
}

TEST(InFolder, PathsOfStoresAndSinksMove) {
    const auto in = [](std::string_view url) { return url_in_folder(url, "/c"); };

    EXPECT_EQ(in("sqlite:mine.db?prefix=a_"), "sqlite:/c/mine.db?prefix=a_");
    EXPECT_EQ(in("file:out/events.jsonl?sync=no"), "file:/c/out/events.jsonl?sync=no");
    EXPECT_EQ(in("file://out.jsonl"), "file:///c/out.jsonl");
    EXPECT_EQ(in("file:///var/out.jsonl"), "file:///var/out.jsonl");
    EXPECT_EQ(in("tiered:?front=redis://h/0&truth=sqlite:a%253Fb.db"),
              "tiered:?front=redis://h/0&truth=sqlite:/c/a%253Fb.db");
    EXPECT_EQ(in("rediss://h/0?lanes=2&ca_file=ca.pem"), "rediss://h/0?lanes=2&ca_file=/c/ca.pem");
    EXPECT_EQ(in("postgres://u@h/d?sslrootcert=ca.pem&sslmode=verify-full"),
              "postgres://u@h/d?sslrootcert=/c/ca.pem&sslmode=verify-full");
    EXPECT_EQ(in("https://h/hook?a=b#secret_file=s&ca_file=/ca"),
              "https://h/hook?a=b#secret_file=/c/s&ca_file=/ca");
}

TEST(InFolder, EverythingElseStaysAsItIs) {
    for (const char* url : {"sqlite:/var/a.db", "sqlite:///var/a.db", "sqlite:%2Fvar/a.db",
                            "sqlite:", "memory:", "stdout:", "sqlite::memory:", "redis://:p?w@h/0",
                            "mysql://u:p@h/d?tls=verify", "postgres://u@h/d?sslrootcert=system",
                            "https://h/hook?ca_file=x", "mine.db", "", "nats://h:1?a&&b=&"}) {
        EXPECT_EQ(url_in_folder(url, "/c"), url);
    }
    EXPECT_EQ(url_in_folder("sqlite:mine.db", ""), "sqlite:mine.db");
}

TEST(InFolder, AFolderMayHaveAnyName) {
    EXPECT_EQ(url_in_folder("sqlite:a.db", "50% of?"), "sqlite:50%25 of%3F/a.db");
    EXPECT_EQ(url_in_folder("tiered:?front=redis://h&truth=sqlite:a.db", "a&b"),
              "tiered:?front=redis://h&truth=sqlite:a%2526b/a.db");
}

} // namespace
} // namespace semel::net
