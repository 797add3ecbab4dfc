// Servers that are silent, freeze, crash and come back.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "database.hpp"
#include "stores/sql/private_server.hpp"

namespace semel {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

using SqlSilence = database_test;

TEST_F(SqlSilence, ASocketThatNeverAnswersIsGivenUpInTime) {
    const int silent = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in where{};
    where.sin_family = AF_INET;
    where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof where;
    ASSERT_EQ(::bind(silent, reinterpret_cast<sockaddr*>(&where), size), 0);
    ASSERT_EQ(::listen(silent, 8), 0);
    ::getsockname(silent, reinterpret_cast<sockaddr*>(&where), &size);
    auto silence = options_at(ntohs(where.sin_port));
    silence.connect_timeout = milliseconds{300};
    const local_time before = local_clock::now();

    const auto opened = open_database(silence);

    ::close(silent);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, errc::unavailable) << describe(opened.error());
    EXPECT_LT(local_clock::now() - before, seconds{2});
}

// ---- a server of the test's own -----------------------------------------------------------------

class SqlCrashes : public testing::Test {
protected:
    SqlCrashes() { migrate(database_url(server_.port()), migrate_mode::run).value(); }

    std::unique_ptr<store> open() {
        auto to = options_at(server_.port());
        to.lanes = 2;
        to.connect_timeout = seconds{1};
        to.statement_timeout = seconds{1};
        return open_database(to).value();
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

    testing_support::private_server server_{database_kind};
};

TEST_F(SqlCrashes, EveryDefiniteAnswerSurvivesACrashUnderLoadAndNobodyHangs) {
    const auto store = open();
    std::atomic<duration::rep> slowest = 0;
    std::mutex mutex;
    std::vector<history> all;
    {
        std::vector<std::jthread> clients;
        for (int client = 0; client < 8; ++client) {
            clients.emplace_back([&, client](const std::stop_token& over) {
                for (int i = 0; !over.stop_requested(); ++i) {
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
    }

    check_all(*open(), all);
    RecordProperty("stored", count(all, history::stored));
    RecordProperty("in_doubt", count(all, history::doubt) + count(all, history::started));
    RecordProperty("slowest_us", static_cast<int>(slowest.load()));
    EXPECT_GT(count(all, history::stored), 100);
    // Two calls, each by its own time-outs.
    EXPECT_LT(slowest.load(), duration{seconds{5}}.count());
}

TEST_F(SqlCrashes, AFrozenServerHangsNobodyAndLeavesADoubt) {
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

TEST_F(SqlCrashes, WithoutAServerABatchIsRefusedAtOnceAndTheStoreComesBack) {
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
