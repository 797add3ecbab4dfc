// Sinks that need no server, and how sinks are opened.
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "messaging/events.hpp"

namespace semel::messaging_test {
namespace {

using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

class FileSink : public testing::Test {
protected:
    FileSink() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
    }
    ~FileSink() override { std::filesystem::remove_all(folder_); }

    std::vector<std::string> lines() const {
        std::ifstream file{folder_ / "events.jsonl"};
        std::vector<std::string> made;
        for (std::string line; std::getline(file, line);) made.push_back(line);
        return made;
    }
    std::string url(const std::string& parameters = {}) const {
        return "file:" + (folder_ / "events.jsonl").string() + parameters;
    }

    std::filesystem::path folder_;
};

// Payloads are nobody else's business.
TEST_F(FileSink, OnlyItsOwnerMayReadTheFile) {
    const mode_t before = ::umask(022);

    auto sink = outbox::open_sink(url()).value();

    ::umask(before);
    EXPECT_EQ(std::filesystem::status(folder_ / "events.jsonl").permissions(),
              std::filesystem::perms{0600});
}

TEST_F(FileSink, WritesALineOfJsonPerEvent) {
    auto sink = outbox::open_sink(url()).value();
    auto batch = events(2, {"k\n\"1"});
    batch[1].event.payload = std::string{"\0\xFF", 2};

    const auto answers = deliver(*sink, batch);

    EXPECT_EQ(count(answers, delivered::yes), 2U);
    ASSERT_EQ(lines().size(), 2U);
    const auto first = nlohmann::json::parse(lines()[0]);
    EXPECT_EQ(first["id"], "e-1");
    EXPECT_EQ(first["key"], "k\n\"1");
    EXPECT_EQ(first["payload"], "payload 1");
    EXPECT_EQ(first["headers"][0][1], "k-1");
    EXPECT_EQ(nlohmann::json::parse(lines()[1])["payload_base64"], "AP8=");
}

TEST_F(FileSink, EndsALineThatACrashHasCutShort) {
    std::ofstream{folder_ / "events.jsonl"} << "{\"id\":\"e-";
    auto sink = outbox::open_sink(url("?sync=no")).value();

    deliver(*sink, events(1));

    ASSERT_EQ(lines().size(), 2U);
    EXPECT_EQ(nlohmann::json::parse(lines()[1])["id"], "e-1");
}

TEST_F(FileSink, WhatAFullDiskHasNotTakenIsLaterAndItsKeyHeld) {
    auto sink = outbox::open_sink(url("?sync=no")).value();
    deliver(*sink, events(1));
    const auto line_bytes = std::filesystem::file_size(folder_ / "events.jsonl");
    const auto before = std::signal(SIGXFSZ, SIG_IGN);
    rlimit saved{};
    ::getrlimit(RLIMIT_FSIZE, &saved);
    const rlimit tight{.rlim_cur = line_bytes * 5 / 2, .rlim_max = saved.rlim_max};

    ::setrlimit(RLIMIT_FSIZE, &tight); // the second half of the second line does not fit
    const auto answers = deliver(*sink, events(4, {"a", "b"}), order::per_key);
    ::setrlimit(RLIMIT_FSIZE, &saved);
    std::signal(SIGXFSZ, before);
    const int rounds = deliver_all(*sink, events(1));

    EXPECT_THAT(kinds(answers),
                ElementsAre(delivered::yes, delivered::later, delivered::later, delivered::held));
    EXPECT_THAT(answers[1].error, HasSubstr("write"));
    EXPECT_EQ(rounds, 1);
    EXPECT_EQ(nlohmann::json::parse(lines().back())["id"], "e-1");
}

TEST_F(FileSink, EndsALineThatAnotherWorkerWasCutShortIn) {
    auto mine = outbox::open_sink(url("?sync=no")).value();
    auto others = outbox::open_sink(url("?sync=no")).value();
    deliver(*mine, events(1));
    // As a full disk would have it, and then it has room again.
    std::ofstream{folder_ / "events.jsonl", std::ios::app} << "{\"id\":\"e-";

    deliver(*others, events(1));
    deliver(*mine, events(1));

    ASSERT_EQ(lines().size(), 4U);
    EXPECT_EQ(nlohmann::json::parse(lines()[2])["id"], "e-1");
    EXPECT_EQ(nlohmann::json::parse(lines()[3])["id"], "e-1");
}

TEST(OpenSink, AnUnknownSchemeListsTheKnownOnes) {
    const auto got = outbox::open_sink("kafka://127.0.0.1");

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_THAT(got.error().detail,
                AllOf(HasSubstr("'kafka:***'"), HasSubstr("file:path"), HasSubstr("redis://"),
                      HasSubstr("nats://"), HasSubstr("https://"), HasSubstr("stdout:")));
}

TEST(OpenSink, WhatItDoesNotKnowIsNamed) {
    const auto detail = [](const char* url) { return outbox::open_sink(url).error().detail; };

    EXPECT_THAT(detail("file:x?sink=1"), HasSubstr("'sink'"));
    EXPECT_THAT(detail("file:"), HasSubstr("needs a path"));
    EXPECT_THAT(detail("file:x?sync=maybe"), HasSubstr("yes or no"));
    EXPECT_THAT(detail("stdout:x"), HasSubstr("no path"));
    EXPECT_THAT(detail("redis://h?streams=x"), HasSubstr("'streams'"));
    EXPECT_THAT(detail("redis://h?ca_file=x"), HasSubstr("rediss://"));
    EXPECT_THAT(detail("nats://h/path"), HasSubstr("without a path"));
    EXPECT_THAT(detail("nats://h?topic=x"), HasSubstr("'topic'"));
    EXPECT_THAT(detail("http://h/#retries=x"), HasSubstr("'retries'"));
    EXPECT_THAT(detail("http://h/a b"), HasSubstr("%20"));
    EXPECT_THAT(detail("http://h/#secret_file=nowhere"), HasSubstr("nowhere"));
    EXPECT_THAT(detail("http://h/#ca_file=x"), HasSubstr("https://"));
}

TEST(OpenSink, CountsWhatBecameOfMessages) {
    outbox::sink_metrics metrics;
    auto sink = outbox::open_sink("redis://127.0.0.1:1", {.metrics = &metrics}).value();

    deliver(*sink, events(3, {"a", "a", "b"}), order::per_key);

    const auto& seen = metrics;
    EXPECT_EQ(seen.batches, 1U);
    EXPECT_EQ(seen.later, 2U);
    EXPECT_EQ(seen.held, 1U);
    EXPECT_EQ(seen.latency.snapshot().count(), 1U);
}

} // namespace
} // namespace semel::messaging_test
