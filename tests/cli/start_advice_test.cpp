// What a server says once at its start, and how it logs who came in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "security_log.hpp"
#include "start_advice.hpp"

namespace semel::app {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

config::secret given(const std::string& text) {
    return {.written = text, .text = text};
}

TEST(StartAdvice, NamesPasswordsThatLeaveTheMachineInPlain) {
    for (const char* url :
         {"redis://:hunter2@cache.internal/0", "mysql://u:hunter2@10.0.0.7/d",
          "nats://u:hunter2@broker:4222", "postgres://u:hunter2@db/d",
          "postgres://db/d?user=u&password=hunter2", "postgres://u:hunter2@db/d?sslmode=prefer"}) {
        const std::string said = plain_password("store.url", url);

        EXPECT_THAT(said, HasSubstr("without TLS")) << url;
        EXPECT_THAT(said, Not(HasSubstr("hunter2"))) << url;
    }
}

TEST(StartAdvice, IsSilentAboutTlsLoopbackAndNoPassword) {
    for (const char* url :
         {"rediss://:p@cache/0", "redis://:p@127.0.0.1/0", "redis://cache/0", "redis://:p@[::1]/0",
          "mysql://u:p@10.0.0.7/d?tls=unverified", "mysql://u:p@localhost/d", "mysql://u@db/d",
          "nats+tls://u:p@broker", "nats://broker", "postgres://u:p@db/d?sslmode=verify-full",
          "postgres://u@db/d", "postgres:///d?host=/run/postgresql&password=p", "sqlite:semel.db",
          "memory:", "http://u/p"}) {
        EXPECT_EQ(plain_password("store.url", url), "") << url;
    }
}

TEST(StartAdvice, NamesFilesThatEverybodyCanRead) {
    std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
    const std::string folder = ::mkdtemp(name.data());
    for (const char* file : {"a.db", "url", "key", "events", "signing"}) {
        std::ofstream{folder + "/" + file} << "x";
        ::chmod((folder + "/" + file).c_str(), 0644);
    }
    config::config with;
    with.store.url = {.written = "file:" + folder + "/url", .text = "sqlite:" + folder + "/a.db"};
    with.store.keys = {"k file:" + folder + "/key"};
    with.relays.push_back({.sink = given("file:" + folder + "/events?sync=no")});
    with.relays.push_back({.sink = given("http://h/x#secret_file=" + folder + "/signing")});

    const auto wide = start_advice(with);
    for (const auto& file : std::filesystem::directory_iterator{folder}) {
        std::filesystem::permissions(file, std::filesystem::perms{0640});
    }
    const auto narrow = start_advice(with);

    EXPECT_EQ(wide.size(), 5U);
    for (const std::string& one : wide) EXPECT_THAT(one, HasSubstr("every user")) << one;
    EXPECT_THAT(narrow, IsEmpty());
    std::filesystem::remove_all(folder);
}

TEST(SecurityLog, LogsSomeOfAFloodAndCountsAllOfIt) {
    using kind = edge::security_event::kind;
    std::ostringstream lines;
    security_log to{open_spdlog_logger({.to = &lines})};
    const security_log::clock::time_point start{std::chrono::hours{1}};
    const edge::security_event bad{.what = kind::token_refused, .at = "center", .peer = "10.0.0.7"};

    for (int i = 0; i < 100; ++i) to.add(bad, start);
    to.add({.what = kind::signed_in, .at = "console", .tenant = "ops", .token = "0123456789ab"},
           start);
    to.add(bad, start + std::chrono::seconds{1});

    const auto counts = to.counts();
    EXPECT_EQ(counts.seen.at(static_cast<std::size_t>(kind::token_refused)), 101U);
    EXPECT_EQ(counts.seen.at(static_cast<std::size_t>(kind::signed_in)), 1U);
    EXPECT_EQ(counts.unlogged, 90U);
    const std::string text = lines.str();
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 12);
    EXPECT_THAT(text, HasSubstr("event=signed_in at=console"));
    EXPECT_THAT(text, HasSubstr("token=0123456789ab"));
    EXPECT_THAT(text, HasSubstr("left_out_before=90"));
}

} // namespace
} // namespace semel::app
