#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "semel/log.hpp"

namespace semel {
namespace {

TEST(SpdlogLogger, WritesOneJsonObjectPerLine) {
    std::ostringstream out;
    const auto to = open_spdlog_logger({.format = log_format::json, .to = &out});

    log_info(*to, "first", {{"attempt", 2}});
    log_error(*to, "second\nline");

    std::istringstream lines{out.str()};
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const auto first = nlohmann::json::parse(line);
    EXPECT_EQ(first.at("level"), "info");
    EXPECT_EQ(first.at("logger"), "semel");
    EXPECT_EQ(first.at("message"), "first");
    EXPECT_EQ(first.at("fields").at("attempt"), 2);
    EXPECT_THAT(first.at("time").get<std::string>(),
                ::testing::MatchesRegex(
                    "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{6}Z"));
    ASSERT_TRUE(std::getline(lines, line));
    EXPECT_EQ(nlohmann::json::parse(line).at("message"), "second\nline");
    EXPECT_FALSE(std::getline(lines, line));
}

TEST(SpdlogLogger, NamesItsLevelsAsWeDo) {
    for (const auto level :
         {log_level::debug, log_level::info, log_level::warning, log_level::error}) {
        std::ostringstream out;
        const auto to =
            open_spdlog_logger({.level = log_level::debug, .format = log_format::json, .to = &out});

        log(*to, level, "m");

        EXPECT_EQ(nlohmann::json::parse(out.str()).at("level"), name(level));
    }
}

TEST(SpdlogLogger, WritesOnlyFromItsLevelOn) {
    std::ostringstream out;
    const auto to = open_spdlog_logger({.level = log_level::warning, .to = &out});

    EXPECT_FALSE(to->enabled(log_level::info));
    EXPECT_TRUE(to->enabled(log_level::warning));
    to->write(log_level::info, "unasked", {});
    EXPECT_EQ(out.str(), "");
    log_warning(*to, "wanted");
    EXPECT_THAT(out.str(), ::testing::HasSubstr("wanted"));
}

TEST(SpdlogLogger, IsReadableOnATerminal) {
    std::ostringstream out;
    const auto to = open_spdlog_logger({.name = "orders", .to = &out});

    log_warning(*to, "lease lost", {{"key", log_key("k")}, {"attempt", 2}});

    EXPECT_THAT(out.str(),
                ::testing::MatchesRegex(
                    "[0-9-]{10} [0-9:.]{12}Z warning orders: lease lost key=[0-9a-f]{12} "
                    "attempt=2\n"));
}

TEST(SpdlogLogger, TakesBracesAndPercentSignsAsText) {
    std::ostringstream out;
    const auto to =
        open_spdlog_logger({.name = "50% \"off\" {}", .format = log_format::json, .to = &out});

    log_info(*to, "{} %v {0}", {{"%n", "{}"}});

    const auto line = nlohmann::json::parse(out.str());
    EXPECT_EQ(line.at("logger"), "50% \"off\" {}");
    EXPECT_EQ(line.at("message"), "{} %v {0}");
    EXPECT_EQ(line.at("fields").at("%n"), "{}");
}

} // namespace
} // namespace semel
