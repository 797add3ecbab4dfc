// The plans of the statements: records by their key, sweeps by their index, whatever the
// statistics.
#include <gmock/gmock.h>

#include "databases/postgres/store/session.hpp"
#include "databases/postgres/transaction/transaction_texts.hpp"
#include "postgres_fixture.hpp"

namespace semel {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class PostgresPlans : public postgres_test {
protected:
    PostgresPlans() {
        to_ = postgres::read_target({.url = testing_support::postgres_url(),
                                     .connect_timeout = std::chrono::seconds{5},
                                     .answer_timeout = std::chrono::seconds{60},
                                     .lock_timeout = std::chrono::seconds{1}})
                  .value();
        on_ = postgres::connection::start(to_).value();
        EXPECT_EQ(on_->advance(deadline()).value(), postgres::connection::progress::ready);
    }

    static local_time deadline() { return local_clock::now() + std::chrono::seconds{60}; }

    // As every connection of the store is.
    void set_up() { postgres::set_up(*on_, to_).value(); }

    std::string plan(const std::string& text, std::size_t parameters) {
        std::string values;
        for (std::size_t i = 0; i < parameters; ++i) values += i == 0 ? "NULL" : ", NULL";
        on_->query("DEALLOCATE ALL; PREPARE asked AS " + text, deadline()).value();
        const auto got =
            on_->query("EXPLAIN (COSTS off) EXECUTE asked (" + values + ")", deadline()).value();
        std::string lines;
        for (int row = 0; row < got.count(); ++row) {
            lines += std::string{got.bytes(row, 0)} + "\n";
        }
        return lines;
    }
    std::string plan(const postgres::batch_statement& of) {
        std::size_t parameters = 0;
        for (const auto& group : of.groups) parameters += group.size();
        return plan(of.text, parameters);
    }

    // Many running records and fresh statistics: what makes the index of what is due look
    // attractive.
    void fill() {
        const std::string copies = record_table();
        const auto store = open();
        (void)said<answers::started>(store->call(id_of("first"), begin_by(anna)));
        sql("INSERT INTO " + copies +
            " (fence, lease_until, begun_at, created_at, updated_at, grace, processing_max, "
            "attempts_max, owner, state, on_lease_expiry, tenant, operation, key) SELECT fence, "
            "lease_until + n, begun_at, created_at, updated_at, grace, processing_max, "
            "attempts_max, owner, CASE WHEN n % 100 = 0 THEN 0 ELSE 1 END, on_lease_expiry, "
            "tenant, operation, decode(md5(n::text), 'hex') FROM " +
            copies + ", generate_series(1, 20000) n");
        sql("ANALYZE " + copies);
    }

    void expect_lookups_by_key() {
        const auto by_key = HasSubstr("Index Scan using " + prefix() + "record_pkey");
        const auto scans = HasSubstr("Seq Scan on " + record_table());
        const auto due = HasSubstr(prefix() + "record_due");
        for (const auto* one : {&texts_.complete, &texts_.fail, &texts_.renew, &texts_.load,
                                &texts_.load_rest, &texts_.save, &texts_.erase}) {
            EXPECT_THAT(plan(*one), AllOf(by_key, Not(scans), Not(due))) << one->name;
        }
        EXPECT_THAT(plan(texts_.complete_there),
                    AllOf(HasSubstr("Tid Scan on " + record_table()), Not(scans), Not(by_key)));
    }

    postgres::target to_;
    std::unique_ptr<postgres::connection> on_;
    const postgres::statement_texts texts_{prefix()};
};

TEST_F(PostgresPlans, RecordsAreFoundByTheirKeyInAnEmptyTable) {
    set_up();
    expect_lookups_by_key();
}

TEST_F(PostgresPlans, RecordsAreFoundByTheirKeyAmongManyRunningOnes) {
    fill();
    set_up();
    expect_lookups_by_key();
}

// A pipeline: the setting that the one leaves is gone with the transaction.
TEST_F(PostgresPlans, BehindAnInsertOfNewRecordsNothingIsLookedUp) {
    set_up();
    const std::string none =
        "Index Scan using " + prefix() + "record_pkey on " + record_table() + " r (never executed)";
    const auto looked_up = [&](const char* least_fence) {
        on_->query("BEGIN; SET LOCAL semel.least_fence = " + std::string{least_fence}, deadline())
            .value();
        on_->query("DEALLOCATE ALL; PREPARE asked AS " + texts_.load_rest.text, deadline()).value();
        const auto got = on_->query("EXPLAIN (ANALYZE, COSTS off, TIMING off, SUMMARY off) EXECUTE "
                                    "asked ('{a}', '{b}', '{c}', '{1}')",
                                    deadline())
                             .value();
        on_->query("ROLLBACK", deadline()).value();
        std::string lines;
        for (int row = 0; row < got.count(); ++row) {
            lines += std::string{got.bytes(row, 0)} + "\n";
        }
        return lines;
    };

    EXPECT_THAT(looked_up("77"), HasSubstr(none));
    EXPECT_THAT(looked_up("0"), Not(HasSubstr(none)));
}

// The statements alone must not fall into the trap either, without the settings of the session.
TEST_F(PostgresPlans, CompletionsDoNotWalkTheIndexOfRunningRecordsWithDefaultSettings) {
    fill();
    on_->query("SET plan_cache_mode = force_generic_plan", deadline()).value();
    for (const auto* one : {&texts_.complete, &texts_.fail, &texts_.renew}) {
        EXPECT_THAT(plan(*one), Not(HasSubstr(prefix() + "record_due"))) << one->name;
    }
}

// On the caller's connection the settings are the caller's: a generic plan, as the sixth use is.
TEST_F(PostgresPlans, TransactLooksItsRecordUpByTheKeyWithDefaultSettings) {
    const std::string by_key = "Index Scan using " + prefix() + "record_pkey";
    const postgres::transaction_texts texts{prefix()};
    on_->query("SET plan_cache_mode = force_generic_plan", deadline()).value();

    const auto expect_key = [&](const char* where) {
        EXPECT_THAT(plan(texts.enter.text, 4), HasSubstr(by_key)) << where;
        EXPECT_THAT(plan(texts.enter_joined.text, 6), HasSubstr(by_key)) << where;
        EXPECT_THAT(plan(texts.look.text, 3), HasSubstr(by_key)) << where;
    };
    expect_key("in a new table");
    fill();
    expect_key("in a full table");
}

TEST_F(PostgresPlans, SweepsWalkTheirIndexInItsOrder) {
    fill();
    set_up();
    const auto expired = plan(texts_.sweep_expired.text, 2);
    const auto forsaken = plan(texts_.sweep_forsaken.text, 2);

    EXPECT_THAT(expired, HasSubstr("Index Scan using " + prefix() + "record_due"));
    EXPECT_THAT(forsaken, HasSubstr("Index Scan using " + prefix() + "record_due"));
    for (const auto& one : {expired, forsaken}) {
        EXPECT_THAT(one, Not(HasSubstr("Sort"))) << one;
        EXPECT_THAT(one, Not(HasSubstr("Seq Scan on " + record_table()))) << one;
    }
}

TEST_F(PostgresPlans, AuditsAreFoundByTheirIndex) {
    set_up();
    EXPECT_THAT(plan(texts_.audit.text, 3), HasSubstr(prefix() + "audit_record"));
}

TEST_F(PostgresPlans, SearchesWalkTheIdsInOrderOrGoByTheIndexThatLeavesTheFewest) {
    fill();
    set_up();
    const auto ids = plan(texts_.search_ids.text, 9);
    const auto failed = plan(texts_.search_failed.text, 9);
    const auto ref = plan(texts_.search_ref.text, 10);
    const auto stuck = plan(texts_.search_stuck.text, 8);

    EXPECT_THAT(ids, HasSubstr("Index Scan using " + prefix() + "record_pkey"));
    EXPECT_THAT(ids, HasSubstr("Index Cond: ((ROW(tenant, operation, key) >= "));
    EXPECT_THAT(ids, Not(HasSubstr("Sort")));
    for (const auto& one : {failed, ref}) {
        EXPECT_THAT(one, HasSubstr("Index Scan using " + prefix() + "record_sought")) << one;
        EXPECT_THAT(one, HasSubstr("Index Cond: ((result_ref = ")) << one;
        EXPECT_THAT(one, HasSubstr("(ROW(tenant, operation, key) >= ")) << one;
        EXPECT_THAT(one, Not(HasSubstr("Sort"))) << one;
    }
    EXPECT_THAT(stuck, HasSubstr("Index Scan using " + prefix() + "record_due"));
    // Sorted are only those whose leases end at the same time: a page reads as much as it shows.
    EXPECT_THAT(stuck, HasSubstr("Presorted Key: r.lease_until\n")) << stuck;
    EXPECT_THAT(stuck, HasSubstr("AND (lease_until >= ")) << stuck;
}

} // namespace
} // namespace semel
