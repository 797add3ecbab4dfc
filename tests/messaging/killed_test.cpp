// Consumers in processes of their own, killed at any moment, and how failures are judged.
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <random>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "consumer/loop.hpp"
#include "http/support/upstream.hpp"
#include "messaging/brokers.hpp"
#include "semel/open.hpp"
#include "semel/store/memory.hpp"

namespace semel::messaging_test {
namespace {

using namespace std::chrono_literals;

class KilledConsumer : public testing::TestWithParam<broker_kind> {
protected:
    KilledConsumer() {
        std::string name = (std::filesystem::temp_directory_path() / "semel-XXXXXX").string();
        folder_ = ::mkdtemp(name.data());
        static_cast<void>(open_store("sqlite:" + file()).value()); // makes the tables
        sqlite3_open(file().c_str(), &database_);
        sqlite3_busy_timeout(database_, 20'000);
        sqlite3_exec(database_, "CREATE TABLE effects (id TEXT)", nullptr, nullptr, nullptr);
    }
    ~KilledConsumer() override {
        sqlite3_close(database_);
        std::filesystem::remove_all(folder_);
    }

    std::string file() const { return (folder_ / "inbox.db").string(); }

    int count(const char* what) {
        const std::string query = std::string{"SELECT count("} + what + ") FROM effects";
        sqlite3_stmt* statement = nullptr;
        sqlite3_prepare_v2(database_, query.c_str(), -1, &statement, nullptr);
        const int made =
            sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int(statement, 0) : -1;
        sqlite3_finalize(statement);
        return made;
    }

    pid_t start() {
        const std::string program = std::string{SEMEL_BINARY_DIR} + "/tests/consumer_process";
        const std::string url = broker_->consumer_url();
        const std::string database = file();
        const pid_t made = ::fork();
        if (made == 0) {
            ::execl(program.c_str(), program.c_str(), url.c_str(), database.c_str(), nullptr);
            ::_exit(127);
        }
        return made;
    }

    std::unique_ptr<broker> broker_ = make_broker(GetParam());
    std::filesystem::path folder_;
    sqlite3* database_ = nullptr;
};

TEST_P(KilledConsumer, EveryEffectTakesPlaceOnce) {
    constexpr int messages = 600;
    broker_->publish(events(messages));
    std::mt19937 random{42};

    for (int kills = 0; kills < 6; ++kills) {
        const int before = count("*");
        const pid_t one = start();
        // Somewhere after its first effects: in a batch, a transaction or an acknowledgement.
        const int more = std::uniform_int_distribution{1, 60}(random);
        edge::support::eventually([&] { return count("*") >= std::min(before + more, messages); });
        ::kill(one, SIGKILL);
        ::waitpid(one, nullptr, 0);
    }
    const pid_t last = start();
    const bool all = edge::support::eventually([&] { return count("DISTINCT id") == messages; });
    const bool settled = edge::support::eventually([&] { return broker_->unacknowledged() == 0; });
    ::kill(last, SIGTERM);
    int status = -1;
    ::waitpid(last, &status, 0);

    EXPECT_TRUE(all);
    EXPECT_TRUE(settled);
    EXPECT_EQ(count("*"), messages);
    EXPECT_EQ(status, 0);
}

INSTANTIATE_TEST_SUITE_P(Redis, KilledConsumer, testing::Values(broker_kind::redis));
INSTANTIATE_TEST_SUITE_P(Nats, KilledConsumer, testing::Values(broker_kind::nats));

TEST(Disposal, FollowsFromWhatCameOfTheMessage) {
    using kind = consumer::disposal::kind;
    const consumer::consumer_options options{.attempts_max = 3, .retry_first = 1s, .retry_max = 5s};
    const consumer::received second{.event = {}, .deliveries = 2};
    const auto of = [&](consumed how, std::uint32_t attempts) {
        return consumer::dispose({.how = how, .attempts = attempts, .error = "e"}, second, options);
    };

    EXPECT_EQ(of(consumed::executed, 1).what, kind::acknowledge);
    EXPECT_EQ(of(consumed::duplicate, 0).what, kind::acknowledge);
    EXPECT_EQ(of(consumed::in_progress, 0).what, kind::again);
    EXPECT_EQ(of(consumed::in_progress, 0).after, duration{2s});
    EXPECT_EQ(of(consumed::unavailable, 0).what, kind::again);
    EXPECT_EQ(of(consumed::failed, 1).what, kind::again);
    EXPECT_EQ(of(consumed::failed, 2).after, duration{2s});
    EXPECT_EQ(of(consumed::failed, 3).what, kind::park);
    EXPECT_EQ(of(consumed::failed, 0).what, kind::park); // its record says: never again
    EXPECT_EQ(consumer::pause_after(1'000, options), duration{5s});
}

TEST(OnceEach, AMessageThatKeepsKillingIsNotRunAgain) {
    engine with{open_memory_store(), {}, {.log = null_logger()}};
    int runs = 0;
    auto handler = consumer::once_each(with, {.tenant = "a", .operation = "B"},
                                       [&](const consumer::received&, execution&) {
                                           ++runs;
                                           throw std::runtime_error("bad");
                                       });
    consumer::received again{.event = {.id = "e-1", .topic = "t"}, .deliveries = 2};

    handler({&again, 1}, 1);
    const auto refused = handler({&again, 1}, 1);
    again.deliveries = 1; // an operator has put it into the stream once more
    handler({&again, 1}, 1);

    EXPECT_EQ(runs, 2);
    EXPECT_EQ(refused[0].how, consumed::failed);
    EXPECT_EQ(refused[0].attempts, 2U);
}

} // namespace
} // namespace semel::messaging_test
