#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "sqlite_fixture.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class SqliteStore : public sqlite_test {
protected:
    // A finished record of that fence, whose retention ends at fence + 1 s.
    static void finish(store& in, const std::string& key, std::int64_t fence) {
        const auto mine = said<answers::started>(in.call(id_of(key), begin_by(anna), at(fence)));
        auto what = complete_with(mine.by, "answer");
        what.retention = std::chrono::seconds{1};
        said<answers::stored>(in.call(id_of(key), what, at(fence)));
    }
};

// Whoever opens the path gets another file, and would execute the same keys again.
TEST_F(SqliteStore, NothingIsClaimedInAFileThatWasMovedOrReplaced) {
    const auto store = open();
    ASSERT_TRUE(store->call(id_of("k"), begin_by(anna)).has_value());
    const std::string away = path() + ".away";
    std::filesystem::rename(path(), away);

    const auto moved = store->call(id_of("other"), begin_by(anna));
    ASSERT_FALSE(moved.has_value());
    EXPECT_EQ(moved.error().code, errc::unavailable);
    EXPECT_EQ(moved.error().possible, effect::none);
    EXPECT_THAT(moved.error().detail, HasSubstr("moved or deleted"));
    std::filesystem::copy_file(away, path());
    EXPECT_FALSE(store->call(id_of("other"), begin_by(anna)).has_value());

    std::filesystem::rename(away, path());
    EXPECT_TRUE(store->call(id_of("other"), begin_by(anna)).has_value());
}

TEST_F(SqliteStore, KeepsWhatWasAcknowledgedWhenItIsOpenedAgain) {
    {
        const auto first = open();
        const auto mine = said<answers::started>(first->call(id_of("k"), begin_by(anna)));
        said<answers::stored>(first->call(id_of("k"), complete_with(mine.by, "answer")));
    }

    const auto replay = said<answers::replay>(open()->call(id_of("k"), begin_by(bert)));

    EXPECT_EQ(replay.result.body, "answer");
    EXPECT_TRUE(holds(replay.result));
}

TEST_F(SqliteStore, AnswersWithTheWallClockUnlessATestSaysOtherwise) {
    const auto store = open();
    const auto before = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());

    const auto got = store->call(id_of("k"), begin_by(anna));
    const auto told = store->call(id_of("k"), commands::lookup{}, at(5));

    const auto after = std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
    EXPECT_GE(got.value().now, before);
    EXPECT_LE(got.value().now, after);
    EXPECT_EQ(told.value().now, at(5));
}

TEST_F(SqliteStore, TwoStoresOnOneFileSeeEachOther) {
    const auto first = open();
    const auto second = open();
    const auto mine = said<answers::started>(first->call(id_of("k"), begin_by(anna)));

    const auto busy = said<answers::in_progress>(second->call(id_of("k"), begin_by(bert)));
    said<answers::stored>(first->call(id_of("k"), complete_with(mine.by, "answer")));

    EXPECT_EQ(busy.holder, mine.by);
    EXPECT_EQ(said<answers::replay>(second->call(id_of("k"), begin_by(bert))).result.body,
              "answer");
}

TEST_F(SqliteStore, TheFenceFloorSurvivesASweepAndAReopen) {
    {
        const auto first = open();
        finish(*first, "k", 5'000'000);
        EXPECT_EQ(first->sweep({.now = at(9'000'000)}).value().removed, 1U);
    }

    // The clock has gone back behind the removed fence.
    const auto again =
        said<answers::started>(open()->call(id_of("k"), begin_by(anna), at(1'000'000)));

    EXPECT_EQ(again.by.fence, 5'000'001U);
}

TEST_F(SqliteStore, AFloorRaisedByAnotherStoreCounts) {
    const auto first = open();
    const auto second = open();
    said<answers::started>(first->call(id_of("warm"), begin_by(anna), at(1)));
    finish(*second, "k", 7'000'000);
    said<answers::removed>(
        second->call(id_of("k"), commands::remove{.actor = "op"}, at(7'000'001)));

    const auto fresh = said<answers::started>(first->call(id_of("k"), begin_by(anna), at(10)));

    EXPECT_EQ(fresh.by.fence, 7'000'001U);
}

TEST_F(SqliteStore, SweepsInBoundedStepsWhatHasExpired) {
    const auto store = open();
    for (int i = 0; i < 10; ++i) finish(*store, std::to_string(i), 1'000'000 + i);
    finish(*store, "alive", 60'000'000);

    const auto first = store->sweep({.records_max = 7, .now = at(30'000'000)}).value();
    const auto second = store->sweep({.records_max = 7, .now = at(30'000'000)}).value();

    EXPECT_EQ(first.removed, 7U);
    EXPECT_EQ(first.state, sweep_state::more);
    EXPECT_EQ(second.removed, 3U);
    EXPECT_EQ(second.state, sweep_state::done);
    EXPECT_EQ(sql("SELECT CAST(key AS TEXT) FROM semel_record"), "alive");
}

TEST_F(SqliteStore, SweepsMoreThanOneChunk) {
    const auto store = open();
    sql("WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 1000) "
        "INSERT INTO semel_record SELECT i, x'61', x'62', CAST(i AS BLOB), 1, i, zeroblob(16), 1, "
        "0,"
        " 0, 0, 1, 0, 0, 0, 100, 0, 0, NULL, 0, 0, 0, x'', x'', x'', x'', x'' FROM n");

    const auto report = store->sweep({.records_max = 5'000}).value();

    EXPECT_EQ(report.removed, 1'000U);
    EXPECT_EQ(report.state, sweep_state::done);
    EXPECT_EQ(sql("SELECT value FROM semel_meta WHERE name = 'fence_floor'"), "1000");
}

TEST_F(SqliteStore, SweepsTheForsakenAndNotTheHeld) {
    const auto store = open();
    auto retried = begin_by(anna);
    retried.policy.processing_max = std::chrono::seconds{60};
    auto held = retried;
    held.policy.on_lease_expiry = lease_expiry::hold;
    said<answers::started>(store->call(id_of("retried"), retried, at(0)));
    said<answers::started>(store->call(id_of("held"), held, at(0)));

    EXPECT_EQ(store->sweep({.now = at(59'999'999)}).value().removed, 0U);
    EXPECT_EQ(store->sweep({.now = at(60'000'000)}).value().removed, 1U);

    EXPECT_EQ(sql("SELECT CAST(key AS TEXT) FROM semel_record"), "held");
}

TEST_F(SqliteStore, CheckpointsLiveAndGoWithTheirRecord) {
    const auto store = open();
    const auto mine = said<answers::started>(store->call(id_of("k"), begin_by(anna), at(0)));
    for (const char* step : {"charge", "ship"}) {
        said<answers::stored>(store->call(
            id_of("k"), commands::checkpoint{.by = mine.by, .step = {.name = step, .data = "1"}},
            at(1)));
    }

    const auto taken =
        said<answers::started>(store->call(id_of("k"), begin_by(bert), at(90'000'000)));
    EXPECT_EQ(taken.kind, answers::start_kind::taken_over);
    EXPECT_EQ(taken.checkpoints,
              (std::vector<checkpoint>{{.name = "charge", .data = "1"}, {"ship", "1"}}));
    said<answers::stored>(
        store->call(id_of("k"), complete_with(taken.by, "answer"), at(90'000'001)));
    EXPECT_EQ(sql("SELECT count(*) FROM semel_checkpoint"), "0");
}

TEST_F(SqliteStore, SweptRecordsLeaveNoCheckpointsBehind) {
    const auto store = open();
    const auto mine = said<answers::started>(store->call(id_of("k"), begin_by(anna), at(0)));
    const commands::checkpoint step{.by = mine.by, .step = {.name = "charge", .data = "1"}};
    said<answers::stored>(store->call(id_of("k"), step, at(1)));

    EXPECT_EQ(store->sweep({.now = at(100'000'000'000)}).value().removed, 1U);

    EXPECT_EQ(sql("SELECT count(*) FROM semel_checkpoint"), "0");
}

TEST_F(SqliteStore, KeepsAnAuditTrailPerRecord) {
    const auto store = open();
    const auto mine = said<answers::started>(store->call(id_of("k"), begin_by(anna), at(3)));
    said<answers::started>(store->call(id_of("other"), begin_by(anna), at(3)));
    const commands::remove gone{.actor = "olga", .reason = "asked to"};
    said<answers::removed>(store->call(id_of("k"), gone, at(4)));
    said<answers::removed>(store->call(id_of("other"), gone, at(5)));

    const auto trail = store->audit(id_of("k")).value();

    const audit_entry expected{.at = at(4),
                               .act = "remove",
                               .actor = "olga",
                               .reason = "asked to",
                               .fence = mine.by.fence,
                               .from = record_state::processing};
    EXPECT_EQ(trail, std::vector<audit_entry>{expected});
}

TEST_F(SqliteStore, ARowThatCannotBeReadIsAnErrorAndNeverAbsent) {
    const auto store = open();
    said<answers::started>(store->call(id_of("k"), begin_by(anna)));
    for (const char* damage : {"state = 9", "owner = x'00'", "fingerprint = x'01'",
                               "on_lease_expiry = 7", "checkpoints = 3", "attempts = -1"}) {
        SCOPED_TRACE(damage);
        const std::string kept =
            sql("SELECT quote(state) || ',' || quote(owner) FROM semel_record");
        sql("CREATE TABLE backup AS SELECT * FROM semel_record; UPDATE semel_record SET " +
            std::string{damage});

        const auto begun = store->call(id_of("k"), begin_by(bert));
        const auto looked = store->call(id_of("k"), commands::lookup{});

        ASSERT_FALSE(begun);
        EXPECT_EQ(begun.error().code, errc::corrupt);
        EXPECT_EQ(begun.error().possible, effect::none);
        ASSERT_FALSE(looked);
        EXPECT_EQ(looked.error().code, errc::corrupt);
        sql("DELETE FROM semel_record; INSERT INTO semel_record SELECT * FROM backup; "
            "DROP TABLE backup");
    }
    said<answers::in_progress>(store->call(id_of("k"), begin_by(bert)));
}

TEST_F(SqliteStore, DamagedResultBytesAreReturnedAsTheyAre) {
    const auto store = open();
    const auto mine = said<answers::started>(store->call(id_of("k"), begin_by(anna)));
    said<answers::stored>(store->call(id_of("k"), complete_with(mine.by, "answer")));
    sql("UPDATE semel_record SET result = CAST('bnswer' AS BLOB)");

    const auto replay = said<answers::replay>(store->call(id_of("k"), begin_by(bert)));

    EXPECT_EQ(replay.result.body, "bnswer");
    EXPECT_FALSE(holds(replay.result));
}

TEST_F(SqliteStore, ALostFenceFloorStopsNewClaims) {
    const auto store = open();
    sql("DELETE FROM semel_meta WHERE name = 'fence_floor'");

    const auto got = store->call(id_of("k"), begin_by(anna));

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::corrupt);
    EXPECT_EQ(sql("SELECT count(*) FROM semel_record"), "0");
}

TEST_F(SqliteStore, ALockHeldByAnotherTimesOutAndReadsGoOn) {
    const auto store = open({.path = path(), .lock_wait = std::chrono::milliseconds{5}});
    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);

    const auto got = store->call(id_of("k"), begin_by(anna));
    said<answers::found>(store->call(id_of("k"), commands::lookup{}));
    sqlite3_exec(other, "COMMIT", nullptr, nullptr, nullptr);
    sqlite3_close(other);

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::timed_out);
    EXPECT_EQ(got.error().possible, effect::none);
    EXPECT_THAT(got.error().detail, HasSubstr("raise lock_wait"));
    said<answers::started>(store->call(id_of("k"), begin_by(anna)));
}

TEST_F(SqliteStore, RepeatsAfterRepeatsNeedNoWriteLock) {
    auto store = open({.path = path(), .lock_wait = std::chrono::milliseconds{50}});
    const auto id = id_of("k");
    const auto started = said<answers::started>(store->call(id, begin_by(anna)));
    said<answers::stored>(store->call(id, complete_with(started.by, "first")));
    said<answers::replay>(store->call(id, begin_by(bert)));

    sqlite3* other = nullptr;
    ASSERT_EQ(sqlite3_open(path().c_str(), &other), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(other, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr), SQLITE_OK);
    EXPECT_EQ(said<answers::replay>(store->call(id, begin_by(bert))).result.body, "first");
    EXPECT_EQ(store->call(id_of("new"), begin_by(bert)).error().code, errc::timed_out);
    sqlite3_close(other);

    EXPECT_EQ(said<answers::started>(store->call(id_of("new"), begin_by(bert))).by.owner, bert);
}

TEST_F(SqliteStore, BytesOfEveryKindComeBackAsTheyWere) {
    const auto store = open();
    std::string all;
    for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
    const record_id odd{.tenant = all.substr(0, 64), .operation = std::string(3, '\0'), .key = all};
    const std::string large = std::string(1 << 20, '\xff');
    const auto mine = said<answers::started>(store->call(odd, begin_by(anna)));
    auto what = complete_with(mine.by, large);
    what.result.type = all;
    what.result.ref = all;

    said<answers::stored>(store->call(odd, what));

    const auto replay = said<answers::replay>(store->call(odd, begin_by(bert)));
    EXPECT_EQ(replay.result, what.result);
}

TEST_F(SqliteStore, IsDurableAndNotInMemory) {
    const auto traits = open()->traits();

    EXPECT_TRUE(traits.durable);
    EXPECT_FALSE(traits.in_memory);
}

} // namespace
} // namespace semel
