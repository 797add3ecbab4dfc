#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/load.hpp"

namespace semel::config::show_test {
namespace {

using testing::HasSubstr;
using testing::Not;

surroundings around_with(std::map<std::string, std::string> variables) {
    return {.variables = std::move(variables)};
}

config loaded(std::string_view text, const surroundings& around) {
    auto got = load(text, "semel.toml", around);
    if (const auto* wrong = std::get_if<complaints>(&got)) {
        ADD_FAILURE() << testing::PrintToString(*wrong);
        return {};
    }
    return std::get<config>(std::move(got));
}

constexpr const char* whole = R"([server]
drain = "5s"
[store]
url = "postgres://semel:hunter2@db/orders?password=hunter3&lanes=2"
front = "redis://:hunter4@cache:6379/0"
encryption_keys = ["k env:KEY"]
[tenants]
source = "single"
name = "acme"
[gateway]
upstream = "http://127.0.0.1:3000"
[[route]]
operation = "A"
path = "/a/{id}"
statuses = ["404 keep"]
fingerprint_select = ["/amount"]
[[operation]]
name = "B"
)";

TEST(ConfigShow, NoSecretIsShown) {
    const auto around = around_with({{"KEY", std::string(64, 'e')}});

    const std::string text = show(loaded(whole, around));

    EXPECT_THAT(text, Not(HasSubstr("hunter")));
    EXPECT_THAT(text, Not(HasSubstr("eeee")));
    EXPECT_THAT(text, HasSubstr(R"(url = "postgres://semel:***@db/orders?password=***&lanes=2")"));
    EXPECT_THAT(text, HasSubstr(R"(encryption_keys = ["k env:KEY"])"));
    EXPECT_THAT(text, HasSubstr(R"(drain = "5s")"));
}

TEST(ConfigShow, WhatIsShownCanBeLoadedAgain) {
    const auto around = around_with({{"KEY", std::string(64, 'e')}});

    const std::string once = show(loaded(whole, around));
    const std::string twice = show(loaded(once, around));

    EXPECT_EQ(once, twice);
}

TEST(ConfigShow, ReferencesAreShownAsWritten) {
    const auto around = around_with({{"URL", "mysql://u:hunter2@h/d"}});

    const std::string text = show(loaded("[store]\nurl = \"env:URL\"\n[tenants]\nsource = "
                                         "\"single\"\nname = \"a\"\n[gateway]\nupstream = "
                                         "\"http://h:1\"\n",
                                         around));

    EXPECT_THAT(text, HasSubstr("url = \"env:URL\""));
    EXPECT_THAT(text, Not(HasSubstr("hunter2")));
}

// The page cannot drift: its tables are the schema's, word for word.
TEST(ConfigReference, ThePageHoldsEveryKeyAsTheSchemaHasIt) {
    std::ifstream in(SEMEL_SOURCE_DIR "/docs/configuration.md");
    const std::string page{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};

    const auto at = page.find("## [server]");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(page.substr(at), reference())
        << "write what `semel check-config --reference` prints below the page's introduction";
}

} // namespace
} // namespace semel::config::show_test
