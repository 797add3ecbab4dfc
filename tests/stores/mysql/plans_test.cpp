// The plans of the statements: records by their key, sweeps by their index, whatever the
// statistics.
#include <algorithm>

#include <gmock/gmock.h>

#include "mysql_fixture.hpp"
#include "stores/mysql/row.hpp"
#include "stores/mysql/statements.hpp"

namespace semel {
namespace {

using testing::HasSubstr;
using testing::Not;

class MysqlPlans : public mysql_test {
protected:
    std::string plan(const std::string& text) { return sql("EXPLAIN FORMAT=JSON " + text); }

    // Many records, most of them finished, and fresh statistics.
    void fill() {
        const auto store = open();
        (void)said<answers::started>(store->call(id_of("first"), begin_by(anna)));
        sql("INSERT INTO " + record_table() +
            " (tenant, operation, `key`, version, state, fence, owner, lease_until, begun_at, "
            "due_at, created_at, updated_at, on_lease_expiry, attempts_max, grace, "
            "processing_max) SELECT tenant, operation, MD5(seq), seq, IF(seq % 100 = 0, 0, 1), "
            "fence, owner, lease_until, begun_at, due_at + seq, created_at, updated_at, "
            "on_lease_expiry, attempts_max, grace, processing_max FROM " +
            record_table() + ", seq_1_to_20000");
        sql("ANALYZE TABLE " + record_table());
    }

    static mysql::row_buffer keys(int count) {
        mysql::row_buffer made;
        for (int i = 0; i < count; ++i) mysql::add_id(made.add_row(), id_of(std::to_string(i)));
        return made;
    }

    static mysql::row_buffer completions(int count) {
        mysql::row_buffer made;
        for (int i = 0; i < count; ++i) {
            mysql::add_id(made.add_row(), id_of(std::to_string(i)));
            made.add_sql("@n").add(std::int64_t{7}).add(anna).add(std::int64_t{1});
            made.add(std::int64_t{0}).add(std::int64_t{5});
            made.add(std::string_view{"t"}).add(std::string_view{}).add(std::string_view{"body"});
        }
        return made;
    }

    // How the plan finds the rows of that table.
    static std::string access(const std::string& plan, const std::string& table) {
        const std::string mark = "\"access_type\": \"";
        const auto named = plan.find("\"table_name\": \"" + table + "\"");
        if (named == std::string::npos) return "none: " + plan.substr(0, 500);
        const auto at = plan.find(mark, named) + mark.size();
        return plan.substr(at, plan.find('"', at) - at);
    }

    void expect_lookups_by_key() {
        for (const int count : {2, 256}) {
            const std::string load =
                plan(texts_.load(keys(count), mysql::statement_texts::with::checkpoints));
            EXPECT_EQ(access(load, "r"), "range") << count;
            EXPECT_EQ(access(load, "c"), "ref") << count;
            EXPECT_THAT(load,
                        HasSubstr("\"used_key_parts\": [\"tenant\", \"operation\", \"key\"]"));
            const auto update = mysql::complete_update();
            EXPECT_EQ(access(plan(texts_.update(update, completions(count))), "r"), "eq_ref");
            EXPECT_EQ(access(plan(texts_.erase_all(keys(count))), "r"), "eq_ref") << count;
            EXPECT_EQ(access(plan(texts_.forget_all_checkpoints(keys(count))), "c"), "ref");
        }
    }

    const mysql::statement_texts texts_{prefix(), mysql_dialect::mariadb};
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
        EXPECT_THAT(one, HasSubstr("\"key\": \"due\"")) << one;
        EXPECT_THAT(one, Not(HasSubstr("filesort"))) << one;
    }
}

TEST_F(MysqlPlans, AuditsAreFoundByTheirIndex) {
    EXPECT_THAT(plan(texts_.audit(keys(1))), HasSubstr("\"key\": \"record\""));
}

// The floor must be read behind the row: what does not depend on it would be read before, and a
// removal in between be missed. It is a look-up by key all the same.
TEST_F(MysqlPlans, ALoneBeginReadsTheFenceFloorBehindItsRow) {
    std::string text = texts_.prepare();
    const std::size_t from = text.find('\'') + 1;
    text = text.substr(from, text.find("';PREPARE") - from);
    std::erase(text, '\\');
    std::replace(text.begin(), text.end(), '?', '1');

    const std::string got = plan(text);

    EXPECT_EQ(access(got, "m"), "eq_ref") << got;
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

    EXPECT_THAT(ids, HasSubstr("\"key\": \"PRIMARY\"")) << ids;
    EXPECT_THAT(ids, HasSubstr("\"used_key_parts\": [\"tenant\", \"operation\", \"key\"]"));
    EXPECT_THAT(ids, Not(HasSubstr("filesort")));
    EXPECT_THAT(search(path::result_ref), HasSubstr("\"key\": \"ref\""));
    const auto stuck = search(path::stuck);
    EXPECT_THAT(stuck, HasSubstr("\"key\": \"due\"")) << stuck;
    EXPECT_THAT(stuck, Not(HasSubstr("filesort"))) << stuck;
}

} // namespace
} // namespace semel
