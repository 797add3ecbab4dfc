#include "databases/postgres/client/target.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace semel::postgres {
namespace {

using std::chrono::seconds;

result<target> read(std::string_view url) {
    return read_target({.url = url, .connect_timeout = seconds{5}, .answer_timeout = seconds{3}});
}

std::string setting(const target& from, std::string_view name) {
    const auto at = std::find_if(from.settings.begin(), from.settings.end(),
                                 [&](const auto& one) { return one.first == name; });
    return at == from.settings.end() ? "none" : at->second;
}

TEST(PostgresTarget, ReadsLibpqsUrls) {
    const auto made = read("postgres://anna:p%40ss@db.example:5433/orders?sslmode=verify-full");

    ASSERT_TRUE(made) << describe(made.error());
    EXPECT_EQ(setting(*made, "user"), "anna");
    EXPECT_EQ(setting(*made, "password"), "p@ss");
    EXPECT_EQ(setting(*made, "host"), "db.example");
    EXPECT_EQ(setting(*made, "port"), "5433");
    EXPECT_EQ(setting(*made, "dbname"), "orders");
    EXPECT_EQ(setting(*made, "sslmode"), "verify-full");
}

TEST(PostgresTarget, AddsWhatNoticesADeadServer) {
    const auto made = read("postgres://h/d").value();

    EXPECT_EQ(setting(made, "tcp_user_timeout"), "3000");
    EXPECT_EQ(setting(made, "keepalives_idle"), "10");
    EXPECT_EQ(made.connect_timeout, seconds{5});
}

TEST(PostgresTarget, TheUrlsOwnSettingsStay) {
    const auto made = read("postgres://h/d?connect_timeout=2&tcp_user_timeout=7").value();

    EXPECT_EQ(made.connect_timeout, seconds{2});
    EXPECT_EQ(setting(made, "tcp_user_timeout"), "7");
}

TEST(PostgresTarget, AnUnknownParameterIsNamed) {
    const auto made = read("postgres://h/d?colour=red");

    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    EXPECT_NE(made.error().detail.find("colour"), std::string::npos) << made.error().detail;
}

TEST(PostgresTarget, AComplaintNeverRepeatsThePassword) {
    for (const char* url : {"postgres://anna:secret@[::1/d", "postgres://anna:secret@h:x/d?a",
                            "postgres://anna:secret%zz@h/d", "secret"}) {
        const auto made = read(url);
        if (made) continue;

        EXPECT_EQ(made.error().code, errc::invalid_argument) << url;
        EXPECT_EQ(made.error().detail.find("secret"), std::string::npos) << made.error().detail;
    }
}

} // namespace
} // namespace semel::postgres
