// What claims lock and how they find their rows.
#include <gmock/gmock.h>

#include "databases/mysql/client/schema.hpp"
#include "databases/mysql/outbox/texts.hpp"
#include "databases/postgres/outbox/statements.hpp"
#include "databases/postgres/store/session.hpp"
#include "databases/sqlite/outbox/table.hpp"
#include "outbox/places.hpp"

namespace semel::outbox {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr claim_range ranges[]{claim_range::fresh, claim_range::due, claim_range::expired,
                               claim_range::expired_often};

// ---- MariaDB and MySQL --------------------------------------------------------------------------

class OutboxMysqlLocks : public testing::TestWithParam<testing_support::mysql_kind> {
protected:
    std::string claim_text(claim_range range) {
        return mysql::with_prefix(my::claim({.shard = 0,
                                             .range = range,
                                             .by = {.owner = {1, 2}, .token = 3},
                                             .lease = 30s,
                                             .rows_max = 100}),
                                  at_.prefix());
    }
    // As a relay's session.
    void begin(testing_support::mysql_client& on) {
        on.sql("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED");
        on.sql("SET SESSION innodb_lock_wait_timeout=1");
        on.sql("SET @n=" + std::string{my::clock});
        on.sql("START TRANSACTION");
    }
    int locked(testing_support::mysql_client& on) {
        const std::string thread = on.sql("SELECT CONNECTION_ID()");
        return std::stoi(root_.sql("SELECT trx_rows_locked FROM information_schema.innodb_trx "
                                   "WHERE trx_mysql_thread_id=" +
                                   thread));
    }
    // A column of EXPLAIN, a line for each row.
    std::string explain(const std::string& sql) {
        std::string made;
        MYSQL* const on = client_.native();
        const std::string text = "EXPLAIN FORMAT=TRADITIONAL " + sql;
        if (mysql_real_query(on, text.data(), text.size()) != 0) return mysql_error(on);
        MYSQL_RES* const got = mysql_store_result(on);
        while (MYSQL_ROW row = mysql_fetch_row(got)) {
            for (unsigned i = 0; i < mysql_num_fields(got); ++i) {
                made += std::string{row[i] == nullptr ? "-" : row[i]} + " ";
            }
            made += "\n";
        }
        mysql_free_result(got);
        return made;
    }

    mysql_place at_{GetParam()};
    testing_support::mysql_client client_{GetParam()};
    testing_support::mysql_client root_{testing_support::mysql_port(GetParam()), "root", ""};
};
INSTANTIATE_TEST_SUITE_P(All, OutboxMysqlLocks,
                         testing::Values(testing_support::mysql_kind::mariadb,
                                         testing_support::mysql_kind::mysql),
                         name_of_server);

TEST_P(OutboxMysqlLocks, AClaimLocksOnlyWhatItTakes) {
    at_.fill(1'000, 50, 0, 1);
    testing_support::mysql_client other{GetParam()};
    begin(client_);
    begin(other);

    client_.sql(claim_text(claim_range::fresh));
    other.sql(claim_text(claim_range::fresh));

    // The entry of the index and the row of each; one more where the scan ended.
    EXPECT_GE(locked(client_), 100);
    EXPECT_LE(locked(client_), 305);
    EXPECT_EQ(at_.sql("SELECT 1"), "1");
    client_.sql("COMMIT");
    other.sql("COMMIT");
    EXPECT_EQ(at_.count("status = 1"), "200") << "each has got a hundred of its own";
}

TEST_P(OutboxMysqlLocks, AClaimOfAnEmptyShardLetsAppendsPass) {
    begin(client_);
    client_.sql(claim_text(claim_range::fresh));

    at_.fill(10, 50, 0, 1); // 1205 after a second, if there were a lock on the gap

    client_.sql("COMMIT");
    EXPECT_EQ(at_.count(), "10");
}

TEST_P(OutboxMysqlLocks, EveryStatementGoesByItsIndexHoweverSmallTheTable) {
    for (const int rows : {0, 3, 2'000}) {
        if (rows > 0) at_.fill(rows, 50, 0, 2);
        for (const claim_range range : ranges) {
            const std::string plan = explain(claim_text(range));
            EXPECT_THAT(plan, AllOf(HasSubstr("idx_claim"), Not(HasSubstr("filesort")))) << rows;
            // Where the planner sees that there is nothing it says so, and reads nothing.
            EXPECT_THAT(plan, testing::AnyOf(HasSubstr("eq_ref PRIMARY"), HasSubstr("no matching")))
                << rows << "\n"
                << plan;
        }
        const settlement done{.of = {.owner = {1, 2}, .token = 3}, .done = {1, 2, 3}};
        for (const auto& text : my::settle(done, my::lock_guard(done.of), on_ack::remove)) {
            EXPECT_THAT(explain(mysql::with_prefix(text, at_.prefix())),
                        AllOf(HasSubstr("range PRIMARY"), Not(HasSubstr(" ALL "))))
                << rows;
        }
    }
}

// ---- PostgreSQL ---------------------------------------------------------------------------------

class OutboxPostgresPlans : public testing::Test {
protected:
    OutboxPostgresPlans() {
        to_ = postgres::read_target({.url = testing_support::postgres_url(),
                                     .connect_timeout = 5s,
                                     .answer_timeout = 60s,
                                     .lock_timeout = 1s})
                  .value();
        on_ = postgres::connection::start(to_).value();
        EXPECT_EQ(on_->advance(deadline()).value(), postgres::connection::progress::ready);
        postgres::set_up(*on_, to_).value();
    }
    static local_time deadline() { return local_clock::now() + 60s; }

    std::string plan(const pg::text& of, int parameters) {
        std::string values;
        for (int i = 0; i < parameters; ++i) values += i == 0 ? "NULL" : ", NULL";
        on_->query("DEALLOCATE ALL; PREPARE asked AS " + of.sql, deadline()).value();
        const auto got = on_->query("EXPLAIN (COSTS off) EXECUTE asked" +
                                        (values.empty() ? values : " (" + values + ")"),
                                    deadline())
                             .value();
        std::string lines;
        for (int row = 0; row < got.count(); ++row) lines += std::string{got.bytes(row, 0)} + "\n";
        return lines;
    }
    void expect_good_plans() {
        const auto by_claim = HasSubstr("Index Scan using " + at_.prefix() + "outbox_idx_claim");
        const auto by_id = HasSubstr("Index Scan using " + at_.prefix() + "outbox_pkey");
        const auto scan = HasSubstr("Seq Scan on " + at_.table_name());
        for (const auto& one : texts_.claim) {
            EXPECT_THAT(plan(one, 8), AllOf(by_claim, by_id, Not(scan), Not(HasSubstr("Sort"))));
        }
        EXPECT_THAT(plan(texts_.read, 3), AllOf(by_claim, Not(by_id), Not(HasSubstr("Sort"))));
        EXPECT_THAT(plan(texts_.read, 3), HasSubstr("ROW(next_retry_time, lock_until, id) >"));
        EXPECT_THAT(plan(texts_.settle, 3), AllOf(by_id, Not(scan)));
        EXPECT_THAT(plan(texts_.settle_ordered, 4), AllOf(by_id, Not(scan)));
        EXPECT_THAT(plan(texts_.give_back, 7), AllOf(by_id, Not(scan)));
        EXPECT_THAT(plan(texts_.renew, 4), AllOf(by_id, Not(scan)));
        EXPECT_THAT(plan(texts_.give_back_ordered, 8), AllOf(by_id, Not(scan)));
        EXPECT_THAT(plan(texts_.shards_used, 0), HasSubstr("outbox_idx_claim"));
        EXPECT_THAT(plan(texts_.dead_keys, 1), HasSubstr("outbox_dead"));
    }

    postgres_place at_;
    postgres::target to_;
    std::unique_ptr<postgres::connection> on_;
    const pg::statement_texts texts_{at_.prefix(), on_ack::remove};
};

TEST_F(OutboxPostgresPlans, GoByTheirIndexInAnEmptyTable) {
    expect_good_plans();
}

TEST_F(OutboxPostgresPlans, GoByTheirIndexInALargeTableAndAfterItWasEmptied) {
    at_.fill(5'000, 50, 0, 2);
    at_.sql("ANALYZE " + at_.table_name());
    expect_good_plans();
    at_.sql("DELETE FROM " + at_.table_name());
    at_.sql("ANALYZE " + at_.table_name());
    expect_good_plans();
}

// ---- SQLite -------------------------------------------------------------------------------------

TEST(OutboxSqlitePlans, GoByTheirIndex) {
    sqlite_place at;
    at.fill(1'000, 50, 0, 2);
    const auto plan = [&](const std::string& sql) {
        std::string made;
        sqlite3* db = nullptr;
        sqlite3_open(at.url().substr(7).c_str(), &db);
        const auto keep = [](void* to, int, char** values, char**) {
            *static_cast<std::string*>(to) += std::string{values[3]} + "\n";
            return 0;
        };
        sqlite3_exec(db, ("EXPLAIN QUERY PLAN " + sql).c_str(), keep, &made, nullptr);
        sqlite3_close(db);
        return made;
    };

    for (const claim_range range : ranges) {
        EXPECT_THAT(plan(lite::claim_text(range)),
                    AllOf(HasSubstr("INDEX semel_outbox_idx_claim (shard_id=? AND status=?"),
                          Not(HasSubstr("TEMP B-TREE")), Not(HasSubstr("SCAN semel_outbox"))));
    }
    EXPECT_THAT(plan(lite::read_text()),
                AllOf(HasSubstr("INDEX semel_outbox_idx_claim (shard_id=? AND status=? AND "
                                "next_retry_time=? AND lock_until=? AND id>?)"),
                      Not(HasSubstr("TEMP B-TREE"))));
}

} // namespace
} // namespace semel::outbox
