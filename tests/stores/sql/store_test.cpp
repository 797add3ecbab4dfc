// What is seen behind the back of a store with tables; everything else is in the conformance suite.
#include <thread>
#include <vector>

#include "database.hpp"

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

class SqlStore : public database_test {
protected:
    std::string column(const std::string& name) {
        return sql("SELECT " + name + " FROM " + record_table());
    }
};

TEST_F(SqlStore, R_19_TimeIsTheServers) {
    const auto store = open();
    const auto got = store->call(id_of("k"), begin_by(anna));
    const auto started = said<answers::started>(got);

    EXPECT_EQ(column("begun_at"), std::to_string(got->now.time_since_epoch().count()));
    EXPECT_EQ(column("fence"), std::to_string(started.by.fence));
    EXPECT_EQ(column("CASE WHEN abs(" + clock_seconds + " - begun_at / 1e6) < 60 THEN 1 END"), "1");
}

TEST_F(SqlStore, SoIsThatOfACompletion) {
    const auto store = open();
    const claim by = said<answers::started>(store->call(id_of("k"), begin_by(anna))).by;

    const auto got = store->call(id_of("k"), complete_with(by, "x"));

    const auto microseconds = [](time_point of) {
        return std::to_string(of.time_since_epoch().count());
    };
    const time_point expires_at = said<answers::stored>(got).expires_at;
    EXPECT_EQ(column("updated_at"), microseconds(got->now));
    EXPECT_EQ(column("expires_at"), microseconds(expires_at));
    EXPECT_GT(expires_at, got->now);
    EXPECT_EQ(column("CASE WHEN abs(" + clock_seconds + " - updated_at / 1e6) < 60 THEN 1 END"),
              "1");
}

TEST_F(SqlStore, AFenceIsAboveTheFloorAlsoAfterManyNewKeys) {
    const auto store = open();
    for (int i = 0; i < 40; ++i) {
        (void)said<answers::started>(store->call(id_of(std::to_string(i)), begin_by(anna)));
    }
    const std::string floor = "9000000000000000000";
    sql("UPDATE " + prefix() + "meta SET value = " + floor + " WHERE name = 'fence_floor'");

    const auto got = said<answers::started>(store->call(id_of("k"), begin_by(anna)));

    EXPECT_GT(got.by.fence, std::stoull(floor));
    EXPECT_EQ(sql("SELECT fence FROM " + record_table() + " WHERE " + key_column + " = 'k'"),
              std::to_string(got.by.fence));
}

// The insert reads the fence floor, then waits for whoever is removing the record: the fence must
// still be above what was removed, though the clock went back.
TEST_F(SqlStore, AFenceIsAboveTheOneThatWasRemovedMeanwhile) {
    const auto store = open();
    const time_point later{hours{24 * 366 * 60}};
    const auto first = said<answers::started>(store->call(id_of("k"), begin_by(anna), later)).by;
    database_client remover;
    remover.sql("BEGIN");
    remover.sql("UPDATE " + prefix() + "meta SET value = " + std::to_string(first.fence) +
                " WHERE name = 'fence_floor'");
    remover.sql("DELETE FROM " + record_table());

    // The row is still there for the insert until the remover commits, in the middle of things.
    std::jthread committer{[&] {
        std::this_thread::sleep_for(std::chrono::milliseconds{20});
        remover.sql("COMMIT");
    }};
    claim second;
    while (second.fence == 0) {
        const auto got = store->call(id_of("k"), begin_by(bert), later - hours{1});
        if (got && std::holds_alternative<answers::started>(got->said)) {
            second = std::get<answers::started>(got->said).by;
        }
    }

    EXPECT_GT(second.fence, first.fence);
    EXPECT_EQ(column("fence"), std::to_string(second.fence));
}

TEST_F(SqlStore, SweepsAndRemovalsAtTheSameTimeNeverLowerTheFloor) {
    const auto left = open();
    const auto right = open();
    constexpr int records = 200;
    std::uint64_t highest = 0;
    for (int i = 0; i < records; ++i) {
        const auto id = id_of(std::to_string(i));
        const auto by = said<answers::started>(left->call(id, begin_by(anna))).by;
        highest = std::max(highest, by.fence);
        if (i % 2 == 0) (void)left->call(id, complete_with(by, "x"));
    }
    put_in_the_past("expires_at", "state = 1");
    {
        std::vector<std::jthread> all;
        for (const auto* one : {&left, &right}) {
            all.emplace_back([one] {
                for (int i = 0; i < 20; ++i) (void)(*one)->sweep({.records_max = 10}).value();
            });
            all.emplace_back([one] {
                for (int i = 1; i < records; i += 2) {
                    (void)(*one)->call(id_of(std::to_string(i)), commands::remove{}).value();
                }
            });
        }
    }

    EXPECT_EQ(sql("SELECT count(*) FROM " + record_table()), "0");
    EXPECT_EQ(sql("SELECT value FROM " + prefix() + "meta WHERE name = 'fence_floor'"),
              std::to_string(highest));
    EXPECT_EQ(sql("SELECT count(*) FROM " + prefix() + "audit"), std::to_string(records / 2));
}

TEST_F(SqlStore, CheckpointsGoWithTheirRecord) {
    const auto store = open();
    const auto checkpoints = "SELECT count(*) FROM " + prefix() + "checkpoint";
    for (const char* key : {"completed", "swept", "removed"}) {
        const auto by = said<answers::started>(store->call(id_of(key), begin_by(anna))).by;
        for (const char* name : {"one", "two"}) {
            (void)said<answers::stored>(store->call(
                id_of(key), commands::checkpoint{.by = by, .step = {.name = name, .data = "x"}}));
        }
        if (key == std::string{"completed"}) {
            (void)said<answers::stored>(store->call(id_of(key), complete_with(by, "x")));
        }
    }
    EXPECT_EQ(sql(checkpoints), "4");

    (void)said<answers::removed>(store->call(id_of("removed"), commands::remove{}));
    EXPECT_EQ(sql(checkpoints), "2");
    sql("UPDATE " + record_table() + " SET begun_at = 1 WHERE " + key_column + " = 'swept'");
    put_in_the_past("lease_until", key_column + " = 'swept'");
    EXPECT_EQ(store->sweep({}).value().removed, 1U);
    EXPECT_EQ(sql(checkpoints), "0");
}

TEST_F(SqlStore, ARowNobodyHasWrittenIsCorruptAndIsLeftAlone) {
    const auto store = open();
    (void)said<answers::started>(store->call(id_of("k"), begin_by(anna)));
    sql("UPDATE " + record_table() + " SET on_lease_expiry = 7");

    const auto got = store->call(id_of("k"), begin_by(bert));

    EXPECT_EQ(why(got).code, errc::corrupt) << why(got).detail;
    EXPECT_EQ(column("on_lease_expiry"), "7");
}

} // namespace
} // namespace semel
