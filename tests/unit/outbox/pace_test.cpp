#include "outbox/pace.hpp"

#include <gtest/gtest.h>

#include "outbox/header_text.hpp"

namespace semel::outbox {
namespace {

using namespace std::chrono_literals;

TEST(RetryDelay, DoublesUpToItsEndAndIsSpread) {
    const retry_policy policy{.first = 100ms, .last = 1s};
    for (std::uint64_t random : {std::uint64_t{0}, std::uint64_t{12345}, ~std::uint64_t{0}}) {
        duration whole = 100ms;
        for (std::int32_t attempts = 1; attempts < 100; ++attempts) {
            const duration made = retry_delay(policy, attempts, random);
            EXPECT_GE(made, whole / 2) << attempts;
            EXPECT_LE(made, whole) << attempts;
            whole = std::min<duration>(whole * 2, 1s);
        }
    }
    EXPECT_NE(retry_delay(policy, 3, 1), retry_delay(policy, 3, 2));
}

TEST(PollPace, GrowsWhileNothingIsFoundAndStartsAgain) {
    poll_pace pace{{.poll_first = 1ms, .poll_last = 1s}, 7};
    EXPECT_LE(pace.next(), 1ms);
    for (int i = 0; i < 20; ++i) static_cast<void>(pace.next());
    EXPECT_GE(pace.next(), 500ms);
    EXPECT_LE(pace.next(), 1s);
    pace.found();
    EXPECT_LE(pace.next(), 1ms);
}

TEST(HeaderText, ReadsWhatItWrites) {
    const std::vector<event_header> all{{"a", "b"}, {"x-trace", ": odd: "}, {"empty", ""}};
    std::string text;
    for (const auto& one : all) add_header_line(text, one);

    std::vector<event_header> read;
    read_header_lines(text, read);

    EXPECT_EQ(read, all);
    EXPECT_FALSE(is_header_name("a:b"));
    EXPECT_FALSE(is_header_name(""));
    EXPECT_FALSE(is_header_value("a\nb"));
    EXPECT_FALSE(is_header_value(" a"));
    EXPECT_TRUE(is_header_value(""));
}

} // namespace
} // namespace semel::outbox
