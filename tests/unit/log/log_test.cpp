#include "semel/log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "log/key_secret.hpp"

namespace semel {
namespace {

// Keeps what it is told, from `lowest` on.
class recording_logger final : public logger {
public:
    explicit recording_logger(log_level lowest) : lowest_(lowest) {}

    [[nodiscard]] bool enabled(log_level level) const noexcept override { return level >= lowest_; }
    void write(log_level level, std::string_view message,
               std::span<const log_field> fields) noexcept override {
        lines.push_back(std::string{name(level)} + ":" + std::string{message} + ":" +
                        std::to_string(fields.size()));
    }

    std::vector<std::string> lines;

private:
    const log_level lowest_;
};

TEST(Log, WritesAtTheLevelItsNameSays) {
    recording_logger to{log_level::debug};

    log_debug(to, "a");
    log_info(to, "b", {{"n", 1}});
    log_warning(to, "c");
    log_error(to, "d", {{"x", "y"}, {"z", true}});

    EXPECT_THAT(to.lines,
                ::testing::ElementsAre("debug:a:0", "info:b:1", "warning:c:0", "error:d:2"));
}

TEST(Log, AsksTheLoggerBeforeWriting) {
    recording_logger to{log_level::warning};

    log_debug(to, "a");
    log_info(to, "b");
    log_warning(to, "c");

    EXPECT_THAT(to.lines, ::testing::ElementsAre("warning:c:0"));
}

TEST(LogValue, KeepsTheKindOfWhatItIsGiven) {
    EXPECT_TRUE(std::holds_alternative<std::string_view>(log_value{"text"}.get()));
    EXPECT_TRUE(std::holds_alternative<std::string_view>(log_value{std::string{"text"}}.get()));
    EXPECT_TRUE(std::holds_alternative<bool>(log_value{true}.get()));
    EXPECT_TRUE(std::holds_alternative<std::int64_t>(log_value{-1}.get()));
    EXPECT_TRUE(std::holds_alternative<std::uint64_t>(log_value{std::uint32_t{1}}.get()));
    EXPECT_TRUE(std::holds_alternative<std::uint64_t>(log_value{std::size_t{1}}.get()));
    EXPECT_TRUE(std::holds_alternative<double>(log_value{0.5F}.get()));
}

TEST(LogKey, IsShortStableAndNotTheKey) {
    const std::string key = "order-4711-of-alice";

    EXPECT_THAT(log_key(key), ::testing::MatchesRegex("[0-9a-f]{12}"));
    EXPECT_EQ(log_key(key), log_key(key));
    EXPECT_NE(log_key(key), log_key("order-4712-of-alice"));
    EXPECT_EQ(log_key(""), "2d06800538d3") << "the same in every version";
}

// printf %s order-4711-of-alice | openssl dgst -sha256 -hmac s3cret
TEST(LogKey, CannotBeFoundByTryingWhereThereIsASecret) {
    hash_keys_with("s3cret");
    const std::string shown = log_key("order-4711-of-alice");
    hash_keys_with("");

    EXPECT_EQ(shown, "6f69944022a3");
}

TEST(LogKey, IsTheKeyItselfWhereTheOperatorAsksForIt) {
    show_keys(keys_in_logs::plain);
    const std::string shown = log_key("order-4711");
    show_keys(keys_in_logs::hashed);

    EXPECT_EQ(shown, "order-4711");
    EXPECT_NE(log_key("order-4711"), "order-4711");
}

TEST(NullLogger, WantsNothing) {
    const auto to = null_logger();

    EXPECT_FALSE(to->enabled(log_level::error));
    to->write(log_level::error, "lost", {});
    EXPECT_EQ(to, null_logger());
}

} // namespace
} // namespace semel
