// The gateway on a store that answers from a thread of its own.
#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>

#include "http/support/rig.hpp"
#include "semel/databases/sqlite.hpp"

namespace semel::edge::durable_test {
namespace {

using namespace support;

class database {
public:
    database() {
        static int nth = 0;
        file_ = std::filesystem::temp_directory_path() /
                ("semel-http-" + std::to_string(getpid()) + "-" + std::to_string(++nth) + ".db");
    }
    ~database() {
        for (const char* end : {"", "-wal", "-shm"}) {
            std::error_code ignored;
            std::filesystem::remove(file_.string() + end, ignored);
        }
    }
    database(const database&) = delete;
    database& operator=(const database&) = delete;

    [[nodiscard]] rig_options options() const {
        return {.records = open_sqlite_store({.path = file_.string()}).value()};
    }

private:
    std::filesystem::path file_;
};

TEST(Durable, ManyKeysAtOnceAreEachExecutedOnce) {
    const database file;
    rig all{file.options()};
    for (int round = 0; round < 2; ++round) {
        std::vector<std::unique_ptr<client>> clients;
        for (int i = 0; i < 100; ++i) {
            clients.push_back(std::make_unique<client>(all.port()));
            clients.back()->send(post_text({.key = "k" + std::to_string(i)}));
        }
        for (const auto& one : clients) {
            const answer got = one->receive();
            EXPECT_EQ(got.status, 201);
            EXPECT_EQ(got.replayed(), round == 1);
        }
    }
    EXPECT_EQ(all.behind.requests(), 100);
}

TEST(Durable, ParallelRepeatsReachTheUpstreamOnce) {
    const database file;
    rig all{file.options()};
    std::vector<std::unique_ptr<client>> clients;
    for (int i = 0; i < 100; ++i) {
        clients.push_back(std::make_unique<client>(all.port()));
        clients.back()->send(post_text({.key = "one"}));
    }
    for (const auto& one : clients) EXPECT_EQ(one->receive().body, "order 1");
    EXPECT_EQ(all.behind.requests(), 1);
}

TEST(Durable, AnotherGatewayOnTheSameStoreReplays) {
    const database file;
    {
        rig first{file.options()};
        EXPECT_EQ(first.post("k").status, 201);
        EXPECT_EQ(first.gateway().drain(), drained::all);
    }
    rig second{file.options()};
    EXPECT_TRUE(second.post("k").replayed());
    EXPECT_EQ(second.behind.requests(), 0);
}

TEST(Durable, ClientsThatGoAtOnceAreExecutedAndStored) {
    const database file;
    rig all{file.options()};
    for (int i = 0; i < 30; ++i) {
        client gone{all.port()};
        gone.send(post_text({.key = "k" + std::to_string(i)}));
    }
    ASSERT_TRUE(eventually([&] { return all.gateway().counts().guarded == 30; }));
    ASSERT_TRUE(all.settles());
    for (int i = 0; i < 30; ++i) EXPECT_TRUE(all.post("k" + std::to_string(i)).replayed());
    EXPECT_EQ(all.behind.requests(), 30);
}

TEST(Durable, AGatewayThatIsCutOffLeavesNothingHanging) {
    const database file;
    gate_flag over;
    rig_options options = file.options();
    options.adjust = [](gateway_options& with) { with.drain_time = std::chrono::milliseconds{20}; };
    rig all{std::move(options)};
    all.behind.now_does([&](const seen_request&, socket&) { over.wait(); });
    std::vector<std::unique_ptr<client>> clients;
    for (int i = 0; i < 20; ++i) {
        clients.push_back(std::make_unique<client>(all.port()));
        clients.back()->send(post_text({.key = "k" + std::to_string(i)}));
    }
    ASSERT_TRUE(eventually([&] { return all.behind.requests() > 0; }));
    EXPECT_EQ(all.gateway().drain(), drained::cut_off);
    all.stop();
    over.open();
    EXPECT_TRUE(eventually([&] { return all.engine().counters().running == 0; }));
}

} // namespace
} // namespace semel::edge::durable_test
