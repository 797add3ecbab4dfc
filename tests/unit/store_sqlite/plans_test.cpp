// The plans of the statements: one index range each, no scan, no sort.
#include <sqlite3.h>

#include <vector>

#include "databases/sqlite/store/statements.hpp"
#include "sqlite_fixture.hpp"

namespace semel {
namespace {

class SqlitePlans : public sqlite_test {
protected:
    // The plan's lines, joined.
    std::string plan(const std::string& text) {
        sqlite3* db = nullptr;
        EXPECT_EQ(sqlite3_open(path().c_str(), &db), SQLITE_OK);
        sqlite3_stmt* made = nullptr;
        EXPECT_EQ(
            sqlite3_prepare_v2(db, ("EXPLAIN QUERY PLAN " + text).c_str(), -1, &made, nullptr),
            SQLITE_OK)
            << sqlite3_errmsg(db);
        std::string lines;
        while (sqlite3_step(made) == SQLITE_ROW) {
            lines += reinterpret_cast<const char*>(sqlite3_column_text(made, 3));
            lines += "; ";
        }
        sqlite3_finalize(made);
        sqlite3_close(db);
        return lines;
    }

    const std::unique_ptr<store> made_ = open();
    const sqlite::statement_texts texts_{"semel_"};
};

constexpr auto by_key = "semel_record USING INDEX sqlite_autoindex_semel_record_1 "
                        "(tenant=? AND operation=? AND key=?); ";

TEST_F(SqlitePlans, CompletionsGoByTheKeyAndNotByTheIndexOfRunningRecords) {
    EXPECT_EQ(plan(texts_.complete), std::string{"SEARCH "} + by_key);
}

TEST_F(SqlitePlans, LoadsGoByTheKey) {
    EXPECT_EQ(plan(texts_.load), std::string{"SEARCH "} + by_key);
}

TEST_F(SqlitePlans, SavesAndRemovalsGoByTheRow) {
    EXPECT_EQ(plan(texts_.save), "SEARCH semel_record USING INTEGER PRIMARY KEY (rowid=?); ");
    EXPECT_EQ(plan(texts_.erase), "SEARCH semel_record USING INTEGER PRIMARY KEY (rowid=?); ");
}

TEST_F(SqlitePlans, SweepsWalkAnIndexInItsOrder) {
    EXPECT_EQ(plan(texts_.find_expired),
              "SEARCH semel_record USING INDEX semel_record_expired (expires_at<?); ");
    EXPECT_EQ(plan(texts_.find_forsaken),
              "SEARCH semel_record USING INDEX semel_record_forsaken (<expr><?); ");
}

TEST_F(SqlitePlans, CheckpointsAndAuditsGoByTheirIndex) {
    EXPECT_EQ(plan(texts_.load_checkpoints),
              "SEARCH semel_checkpoint USING INDEX sqlite_autoindex_semel_checkpoint_1 "
              "(record=?); ");
    EXPECT_EQ(plan(texts_.load_audit), "SEARCH semel_audit USING INDEX semel_audit_record "
                                       "(tenant=? AND operation=? AND key=?); ");
}

TEST_F(SqlitePlans, SearchesWalkTheIdsInOrderOrGoByTheIndexThatLeavesTheFewest) {
    EXPECT_EQ(plan(texts_.search_ids),
              "SEARCH semel_record USING INDEX sqlite_autoindex_semel_record_1 "
              "((tenant,operation,key)>(?,?,?) AND (tenant,operation,key)<(?,?,?)); ");
    EXPECT_EQ(plan(texts_.search_failed),
              "SEARCH semel_record USING INDEX semel_record_failed "
              "((tenant,operation,key)>(?,?,?) AND (tenant,operation,key)<(?,?,?)); ");
    EXPECT_EQ(plan(texts_.search_ref), "SEARCH semel_record USING INDEX semel_record_ref "
                                       "(result_ref=?); USE TEMP B-TREE FOR ORDER BY; ");
    EXPECT_EQ(plan(texts_.search_stuck), "SEARCH semel_record USING INDEX semel_record_lapsed "
                                         "(lease_until>? AND lease_until<?); "
                                         "USE TEMP B-TREE FOR RIGHT PART OF ORDER BY; ");
}

} // namespace
} // namespace semel
