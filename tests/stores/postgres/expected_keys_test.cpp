// After many new keys in a row the next are taken for new, after many repeats for repeats. What if
// they are not?
#include <gmock/gmock.h>

#include <latch>
#include <thread>
#include <vector>

#include "postgres_fixture.hpp"

namespace semel {
namespace {

constexpr int enough = 256;

class expected_keys : public postgres_test {
protected:
    // In one batch.
    std::vector<answer> begin_all(const std::vector<std::string>& keys) {
        std::vector<answer> got(keys.size());
        std::latch done{static_cast<std::ptrdiff_t>(keys.size())};
        std::vector<submission> all;
        for (std::size_t i = 0; i < keys.size(); ++i) {
            all.push_back({.what = {.id = id_of(keys[i]), .what = begin_by(anna)},
                           .done = [&, i](result<reply> with) {
                               got[i] = std::move(with).value().said;
                               done.count_down();
                           }});
        }
        store_->submit_all(std::move(all));
        done.wait();
        return got;
    }

    claim start(const std::string& key) {
        return said<answers::started>(store_->call(id_of(key), begin_by(anna))).by;
    }

    // What `ask` costs.
    template <class Ask> std::uint64_t round_trips(Ask ask) {
        const auto before = counted().round_trips;
        ask();
        return counted().round_trips - before;
    }

    // Who waits for a commit waits until it comes, also on a busy machine.
    [[nodiscard]] std::unique_ptr<store> open_patient() {
        auto patient = options();
        patient.lock_timeout = std::chrono::seconds{10};
        return open_postgres_store(patient).value();
    }

    const std::unique_ptr<store> store_ = open_patient();
};

class PostgresNewKeys : public expected_keys {
protected:
    PostgresNewKeys() {
        std::vector<std::string> keys;
        for (int i = 0; i < enough; ++i) keys.push_back("new " + std::to_string(i));
        (void)begin_all(keys);
    }
};

class PostgresKnownKeys : public expected_keys {
protected:
    PostgresKnownKeys() {
        const claim by = start("done");
        (void)said<answers::stored>(store_->call(id_of("done"), complete_with(by, "x")));
        for (int i = 0; i < enough; ++i) repeat();
    }

    void repeat() {
        const auto got = said<answers::replay>(store_->call(id_of("done"), begin_by(bert)));
        EXPECT_EQ(got.result.body, "x");
    }
};

TEST_F(PostgresNewKeys, OnlyTheFirstRepeatCostsASecondRoundTrip) {
    const auto repeat = [&] {
        (void)said<answers::in_progress>(store_->call(id_of("new 0"), begin_by(bert)));
    };

    EXPECT_EQ(round_trips([&] { start("k"); }), 1U);
    EXPECT_EQ(round_trips(repeat), 2U);
    EXPECT_EQ(round_trips(repeat), 1U);
    EXPECT_EQ(round_trips([&] { start("l"); }), 1U);
}

TEST_F(PostgresNewKeys, ARepeatAmongThemIsFoundAndTheOthersAreClaimedOnce) {
    const claim by = start("done");
    (void)said<answers::stored>(store_->call(id_of("done"), complete_with(by, "x")));

    const auto got = begin_all({"a", "done", "b", "new 7"});

    EXPECT_EQ(name(got[0]), "started");
    EXPECT_EQ(std::get<answers::replay>(got[1]).result.body, "x");
    EXPECT_EQ(name(got[2]), "started");
    EXPECT_EQ(name(got[3]), "in_progress");
    EXPECT_EQ(sql("SELECT count(*) FROM " + record_table()), "259");
    for (const int i : {0, 2}) {
        const auto& claimed = std::get<answers::started>(got[static_cast<std::size_t>(i)]).by;
        (void)said<answers::stored>(
            store_->call(id_of(i == 0 ? "a" : "b"), complete_with(claimed, "y")));
    }
}

TEST_F(PostgresNewKeys, AFenceIsAboveTheFloorThoughTheClockIsNot) {
    const std::string floor = "9000000000000000000";
    sql("UPDATE " + prefix() + "meta SET value = " + floor + " WHERE name = 'fence_floor'");

    EXPECT_GT(start("k").fence, std::stoull(floor));
}

// The insert waits for whoever removes the record, and has the time of before.
TEST_F(PostgresNewKeys, AFenceIsAboveTheOneThatWasRemovedMeanwhile) {
    const std::uint64_t removed = 9'000'000'000'000'000'000;
    (void)start("k");
    testing_support::postgres_client remover;
    remover.sql("BEGIN");
    remover.sql("UPDATE " + prefix() + "meta SET value = " + std::to_string(removed) +
                " WHERE name = 'fence_floor'");
    remover.sql("DELETE FROM " + record_table() + " WHERE key = 'k'");
    const std::jthread committer{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        remover.sql("COMMIT");
    }};

    EXPECT_GT(start("k").fence, removed);
}

TEST_F(PostgresKnownKeys, OnlyTheFirstNewOneCostsASecondRoundTrip) {
    EXPECT_EQ(round_trips([&] { repeat(); }), 1U);
    EXPECT_EQ(round_trips([&] { start("k"); }), 2U);
    EXPECT_EQ(round_trips([&] { start("l"); }), 1U);
    EXPECT_EQ(round_trips([&] { repeat(); }), 1U);
}

TEST_F(PostgresKnownKeys, NewOnesAmongThemAreClaimedOnce) {
    const auto got = begin_all({"a", "done", "b", "done"});

    EXPECT_EQ(name(got[0]), "started");
    EXPECT_EQ(std::get<answers::replay>(got[1]).result.body, "x");
    EXPECT_EQ(name(got[2]), "started");
    EXPECT_EQ(std::get<answers::replay>(got[3]).result.body, "x");
    EXPECT_EQ(sql("SELECT count(*) FROM " + record_table()), "3");
    EXPECT_EQ(name(begin_all({"a"})[0]), "in_progress");
}

TEST_F(PostgresKnownKeys, OneThatHasExpiredStartsAnew) {
    sql("UPDATE " + record_table() + " SET expires_at = 1");

    EXPECT_EQ(name(begin_all({"done"})[0]), "started");
}

// Their owner has not committed yet: the look does not see them, the insert behind it waits.
TEST_F(PostgresKnownKeys, OneThatIsJustBeingClaimedIsWaitedFor) {
    (void)start("k");
    for (int i = 0; i < enough; ++i) repeat();
    testing_support::postgres_client other;
    other.sql("BEGIN");
    sql("CREATE TABLE " + prefix() + "moved AS SELECT * FROM " + record_table() +
        " WHERE key = 'k'");
    sql("DELETE FROM " + record_table() + " WHERE key = 'k'");
    other.sql("INSERT INTO " + record_table() + " SELECT * FROM " + prefix() + "moved");
    const std::jthread committer{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        other.sql("COMMIT");
    }};

    EXPECT_EQ(name(begin_all({"k"})[0]), "in_progress");
    sql("DROP TABLE " + prefix() + "moved");
}

} // namespace
} // namespace semel
