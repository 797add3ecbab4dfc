// Connections that break, servers that freeze, crash and come back.
#include <arpa/inet.h>
#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <sstream>
#include <thread>
#include <vector>

#include "postgres_fixture.hpp"
#include "private_server.hpp"

namespace semel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class PostgresFaults : public postgres_test {
protected:
    void terminate_backends() {
        sql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%" +
            prefix() + "%' AND pid <> pg_backend_pid()");
    }
};

TEST_F(PostgresFaults, AConnectionThatWasClosedWhileIdleIsMadeAnewUnnoticed) {
    const auto store = open();
    (void)said<answers::started>(store->call(id_of("a"), begin_by(anna)));
    terminate_backends();
    std::this_thread::sleep_for(milliseconds{100});

    (void)said<answers::started>(store->call(id_of("b"), begin_by(anna)));
}

TEST_F(PostgresFaults, ASocketThatNeverAnswersIsGivenUpInTime) {
    const int silent = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&where), size), 0);
    ASSERT_EQ(::listen(silent, 8), 0);
    ::getsockname(silent, reinterpret_cast<sockaddr*>(&where), &size);
    auto silence = options();
    silence.url = "postgres://semel@127.0.0.1:" + std::to_string(ntohs(where.sin_port)) + "/semel";
    silence.connect_timeout = milliseconds{300};
    const local_time before = local_clock::now();

    const auto opened = open_postgres_store(silence);

    ::close(silent);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::unavailable) << describe(opened.error());
    EXPECT_LT(local_clock::now() - before, seconds{2});
}

// ---- a server of the test's own -----------------------------------------------------------------

class PostgresCrashes : public testing::Test {
protected:
    PostgresCrashes() { migrate(server_.url(), migrate_mode::run).value(); }

    std::unique_ptr<store> open() {
        return open_postgres_store({.url = server_.url(),
                                    .lanes = 2,
                                    .connect_timeout = seconds{1},
                                    .statement_timeout = seconds{1}})
            .value();
    }

    // What a client knows for certain about its key.
    struct history {
        std::string key;
        claim by = {};
        enum { doubt, nothing, started, stored } sure = doubt;
    };

    static void run_one(store& on, history& it) {
        const auto begun = on.call(id_of(it.key), begin_by(anna));
        if (!begun) {
            if (begun.error().possible == effect::none) it.sure = history::nothing;
            // As a client would that is told that the server is away.
            std::this_thread::sleep_for(milliseconds{20});
            return;
        }
        it.by = said<answers::started>(begun).by;
        it.sure = history::started;
        if (on.call(id_of(it.key), complete_with(it.by, it.key))) it.sure = history::stored;
    }

    static void check(store& on, const history& it) {
        const auto got = on.call(id_of(it.key), begin_by(bert)).value();
        if (it.sure == history::stored) {
            const auto* replay = std::get_if<answers::replay>(&got.said);
            ASSERT_NE(replay, nullptr) << it.key << " is lost: " << name(got.said);
            EXPECT_EQ(replay->result.body, it.key);
        } else if (it.sure == history::started) {
            // Its completion may or may not have arrived.
            const auto* busy = std::get_if<answers::in_progress>(&got.said);
            if (busy != nullptr)
                EXPECT_EQ(busy->holder, it.by) << it.key;
            else
                EXPECT_TRUE(std::holds_alternative<answers::replay>(got.said)) << name(got.said);
        } else if (it.sure == history::nothing) {
            EXPECT_TRUE(std::holds_alternative<answers::started>(got.said)) << name(got.said);
        } else {
            // Asking again resolves a doubt: it was claimed by us, or it was not.
            const auto* busy = std::get_if<answers::in_progress>(&got.said);
            if (busy != nullptr)
                EXPECT_EQ(busy->holder.owner, anna) << it.key;
            else
                EXPECT_TRUE(std::holds_alternative<answers::started>(got.said)) << name(got.said);
        }
    }

    static void check_all(store& on, const std::vector<history>& all) {
        constexpr std::size_t hands = 16;
        std::vector<std::jthread> clients;
        for (std::size_t first = 0; first < hands; ++first) {
            clients.emplace_back([&, first] {
                for (std::size_t i = first; i < all.size(); i += hands) check(on, all[i]);
            });
        }
    }

    static int count(const std::vector<history>& all, int sure) {
        return static_cast<int>(std::count_if(
            all.begin(), all.end(), [&](const history& one) { return one.sure == sure; }));
    }

    testing_support::private_postgres server_;
};

TEST_F(PostgresCrashes, EveryDefiniteAnswerSurvivesACrashUnderLoadAndNobodyHangs) {
    const auto store = open();
    std::atomic<bool> stop = false;
    std::atomic<duration::rep> slowest = 0;
    std::mutex mutex;
    std::vector<history> all;
    {
        std::vector<std::jthread> clients;
        for (int client = 0; client < 8; ++client) {
            clients.emplace_back([&, client] {
                for (int i = 0; !stop; ++i) {
                    history one{.key = std::to_string(client) + "-" + std::to_string(i)};
                    const local_time before = local_clock::now();
                    run_one(*store, one);
                    const auto took = (local_clock::now() - before).count();
                    auto seen = slowest.load();
                    while (took > seen && !slowest.compare_exchange_weak(seen, took)) {
                    }
                    const std::lock_guard lock{mutex};
                    all.push_back(std::move(one));
                }
            });
        }
        for (int crash = 0; crash < 3; ++crash) {
            std::this_thread::sleep_for(milliseconds{700});
            server_.crash();
            std::this_thread::sleep_for(milliseconds{200});
            server_.start();
        }
        std::this_thread::sleep_for(milliseconds{700});
        stop = true;
    }

    check_all(*open(), all);
    RecordProperty("stored", count(all, history::stored));
    RecordProperty("in_doubt", count(all, history::doubt) + count(all, history::started));
    RecordProperty("slowest_us", static_cast<int>(slowest.load()));
    EXPECT_GT(count(all, history::stored), 100);
    // Two calls, each by its own time-outs.
    EXPECT_LT(slowest.load(), duration{seconds{5}}.count());
}

TEST_F(PostgresCrashes, AFrozenServerHangsNobodyAndLeavesADoubt) {
    const auto store = open();
    (void)said<answers::started>(store->call(id_of("a"), begin_by(anna)));
    server_.freeze();
    const local_time before = local_clock::now();

    const auto first = store->call(id_of("b"), begin_by(anna));
    const auto looked = store->call(id_of("c"), commands::lookup{});
    const auto took = local_clock::now() - before;
    server_.thaw();

    EXPECT_EQ(why(first).code, errc::timed_out) << why(first).detail;
    EXPECT_EQ(why(first).possible, effect::unknown);
    EXPECT_EQ(why(looked).possible, effect::none) << "a look-up changes nothing";
    EXPECT_LT(took, seconds{4});
    const local_time patience = local_clock::now() + seconds{20};
    result<reply> later = failure{.code = errc::internal};
    while (!later && local_clock::now() < patience) {
        later = store->call(id_of("d"), begin_by(anna));
    }
    (void)said<answers::started>(later);
}

TEST_F(PostgresCrashes, WithoutAServerABatchIsRefusedAtOnceAndTheStoreComesBack) {
    const auto store = open();
    server_.crash();
    (void)store->call(id_of("a"), begin_by(anna));
    const local_time before = local_clock::now();

    const auto refused = store->call(id_of("b"), begin_by(anna));

    EXPECT_EQ(why(refused).code, errc::unavailable) << why(refused).detail;
    EXPECT_EQ(why(refused).possible, effect::none);
    EXPECT_LT(local_clock::now() - before, seconds{1});
    server_.start();
    const local_time patience = local_clock::now() + seconds{20};
    result<reply> later = failure{.code = errc::internal};
    while (!later && local_clock::now() < patience) {
        later = store->call(id_of("c"), begin_by(anna));
        if (!later) std::this_thread::sleep_for(milliseconds{20});
    }
    (void)said<answers::started>(later);
}

} // namespace
} // namespace semel
