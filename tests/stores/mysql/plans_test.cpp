// The plans of the statements: records by their key, sweeps by their index, whatever the
// statistics.
#include "plans.hpp"

namespace semel {
namespace {

using testing::HasSubstr;

class MysqlPlans : public mysql_plans {
protected:
    void expect_lookups_by_key() {
        for (const int count : {2, 256}) {
            const std::string load =
                plan(texts_.load(keys(count), mysql::statement_texts::with::checkpoints));
            EXPECT_EQ(access(load, "r"), "range") << count;
            EXPECT_EQ(access(load, "c"), "ref") << count;
            EXPECT_THAT(load, HasSubstr(whole_key));
            const auto update = mysql::complete_update();
            EXPECT_EQ(access(plan(texts_.update(update, completions(count))), "r"), "eq_ref");
            EXPECT_EQ(access(plan(texts_.erase_all(keys(count))), "r"), "eq_ref") << count;
            EXPECT_EQ(access(plan(texts_.forget_all_checkpoints(keys(count))), "c"), "ref");
        }
    }
};

TEST_F(MysqlPlans, RecordsAreFoundByTheirKeyInAnEmptyTable) {
    expect_lookups_by_key();
}

TEST_F(MysqlPlans, RecordsAreFoundByTheirKeyAmongMany) {
    fill();
    expect_lookups_by_key();
}

TEST_F(MysqlPlans, SweepsWalkTheirIndexInItsOrder) {
    fill();
    const std::string now{mysql::clock_expression};
    for (const auto& one :
         {plan(texts_.find_expired(1, now, 200)), plan(texts_.find_forsaken(now, 200))}) {
        EXPECT_THAT(one, HasSubstr("\"key\":\"due\"")) << one;
        EXPECT_FALSE(sorts(one)) << one;
    }
}

TEST_F(MysqlPlans, AuditsAreFoundByTheirIndex) {
    EXPECT_THAT(plan(texts_.audit(keys(1))), HasSubstr("\"key\":\"record\""));
}

// Else every begin would stand in the way of whoever removes a record. The first begin inserts at
// once; after one that found its key taken, the next looks first.
TEST_F(MysqlPlans, ReadingTheFenceFloorLocksNothing) {
    auto one_lane = options();
    one_lane.lanes = 1;
    one_lane.lock_timeout = std::chrono::seconds{3}; // a busy machine is not to be taken for a lock
    const auto store = open_mysql_store(one_lane).value();
    testing_support::mysql_client stranger;
    stranger.sql("BEGIN");
    stranger.sql("UPDATE " + prefix() + "meta SET value = value + 1 WHERE name = 'fence_floor'");
    const local_time before = local_clock::now();

    (void)said<answers::started>(store->call(id_of("k"), begin_by(anna)));
    (void)said<answers::in_progress>(store->call(id_of("k"), begin_by(bert)));
    (void)said<answers::started>(store->call(id_of("l"), begin_by(anna)));

    // And after many new keys the next is taken for one.
    for (int i = 0; i < 40; ++i) {
        (void)said<answers::started>(store->call(id_of(std::to_string(i)), begin_by(anna)));
    }

    EXPECT_LT(local_clock::now() - before, one_lane.lock_timeout);
    stranger.sql("ROLLBACK");
}

TEST_F(MysqlPlans, SearchesWalkTheIdsInOrderOrGoByTheIndexThatLeavesTheFewest) {
    using path = row_request::path;
    fill();
    const record_query query{.result_ref = "o-1", .stuck_for = duration{1}};
    const auto search = [&](path by) {
        return plan(texts_.search(query,
                                  {.by = by,
                                   .from = {"acme", "ORDER_CREATE", "a"},
                                   .until = {std::string(2'048, '\xff'), "", ""},
                                   .most = 100},
                                  mysql::clock_expression));
    };
    const auto ids = search(path::ids);

    EXPECT_THAT(ids, HasSubstr("\"key\":\"PRIMARY\"")) << ids;
    EXPECT_THAT(ids, HasSubstr(whole_key));
    EXPECT_FALSE(sorts(ids)) << ids;
    EXPECT_THAT(search(path::result_ref), HasSubstr("\"key\":\"ref\""));
    const auto stuck = search(path::stuck);
    EXPECT_THAT(stuck, HasSubstr("\"key\":\"due\"")) << stuck;
    EXPECT_FALSE(sorts(stuck)) << stuck;
}

} // namespace
} // namespace semel
