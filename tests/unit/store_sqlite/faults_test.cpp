// A full disk, failing fsyncs, and how often the disk is asked at all.
#include <sqlite3.h>

#include "fault_vfs.hpp"
#include "sqlite_fixture.hpp"

namespace semel {
namespace {

class SqliteFaults : public sqlite_test {
protected:
    fault_vfs disk_;
    const std::unique_ptr<store> store_ = open();
};

TEST_F(SqliteFaults, ABeginAndACompletionAreSyncedOnceEach) {
    said<answers::started>(store_->call(id_of("first"), begin_by(anna)));
    const int before = disk_.set.syncs;

    const auto mine = said<answers::started>(store_->call(id_of("k"), begin_by(anna)));
    said<answers::stored>(store_->call(id_of("k"), complete_with(mine.by, "answer")));

    EXPECT_EQ(disk_.set.syncs - before, 2);
}

TEST_F(SqliteFaults, ReplaysRefusalsAndReadsWriteNothing) {
    const auto mine = said<answers::started>(store_->call(id_of("done"), begin_by(anna)));
    said<answers::stored>(store_->call(id_of("done"), complete_with(mine.by, "answer")));
    said<answers::started>(store_->call(id_of("busy"), begin_by(anna)));
    const int syncs = disk_.set.syncs;
    const int writes = disk_.set.writes;

    said<answers::replay>(store_->call(id_of("done"), begin_by(bert)));
    said<answers::in_progress>(store_->call(id_of("busy"), begin_by(bert)));
    said<answers::fenced_off>(store_->call(id_of("busy"), complete_with({}, "late")));
    said<answers::stored>(store_->call(id_of("done"), complete_with(mine.by, "answer")));
    said<answers::found>(store_->call(id_of("none"), commands::lookup{}));
    said<answers::kept>(store_->call(id_of("busy"), commands::purge{}));
    EXPECT_EQ(store_->sweep({}).value().removed, 0U);

    EXPECT_EQ(disk_.set.syncs, syncs);
    EXPECT_EQ(disk_.set.writes, writes);
}

TEST_F(SqliteFaults, AFullDiskRefusesWritesAndStillAnswersRepeats) {
    const auto mine = said<answers::started>(store_->call(id_of("done"), begin_by(anna)));
    said<answers::stored>(store_->call(id_of("done"), complete_with(mine.by, "answer")));
    disk_.set.full = true;

    const auto refused = store_->call(id_of("new"), begin_by(anna));
    const auto replay = said<answers::replay>(store_->call(id_of("done"), begin_by(bert)));

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::no_space);
    EXPECT_EQ(refused.error().possible, effect::none);
    EXPECT_EQ(replay.result.body, "answer");
}

TEST_F(SqliteFaults, WhenThereIsRoomAgainTheStoreGoesOn) {
    disk_.set.full = true;
    ASSERT_FALSE(store_->call(id_of("k"), begin_by(anna)));

    disk_.set.full = false;

    EXPECT_FALSE(said<answers::found>(store_->call(id_of("k"), commands::lookup{})).current);
    said<answers::started>(store_->call(id_of("k"), begin_by(bert)));
}

TEST_F(SqliteFaults, AFailedSyncIsInDoubtAndNotVisible) {
    disk_.set.sync_fails = true;
    const auto refused = store_->call(id_of("k"), begin_by(anna));
    disk_.set.sync_fails = false;

    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, errc::unavailable);
    EXPECT_EQ(refused.error().possible, effect::unknown);
    EXPECT_FALSE(said<answers::found>(store_->call(id_of("k"), commands::lookup{})).current);
    said<answers::started>(store_->call(id_of("k"), begin_by(bert)));
}

TEST_F(SqliteFaults, ASweepOnAFullDiskRemovesNothing) {
    const auto mine = said<answers::started>(store_->call(id_of("k"), begin_by(anna), at(1)));
    said<answers::stored>(store_->call(id_of("k"), complete_with(mine.by, "answer"), at(2)));
    disk_.set.full = true;

    const auto swept = store_->sweep({});
    disk_.set.full = false;

    ASSERT_FALSE(swept);
    EXPECT_EQ(swept.error().code, errc::no_space);
    EXPECT_EQ(sql("SELECT count(*) FROM semel_record"), "1");
    EXPECT_EQ(store_->sweep({}).value().removed, 1U);
}

TEST_F(SqliteFaults, AFullDiskAtTheFirstOpenIsNamed) {
    disk_.set.full = true;

    const failure why = open_failure({.path = folder() + "/another.db"});

    disk_.set.full = false;
    EXPECT_EQ(why.code, errc::no_space);
    EXPECT_EQ(why.possible, effect::none);
}

} // namespace
} // namespace semel
