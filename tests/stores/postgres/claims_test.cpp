// Completions go to where the claim's row was put. What if it is not there any more?
#include <gmock/gmock.h>

#include "postgres_fixture.hpp"

namespace semel {
namespace {

class PostgresClaims : public postgres_test {
protected:
    claim start(const std::string& key) {
        return said<answers::started>(store_->call(id_of(key), begin_by(anna))).by;
    }
    std::string column(const std::string& name, const std::string& key) {
        return sql("SELECT " + name + " FROM " + record_table() + " WHERE key = '" + key + "'");
    }

    const std::unique_ptr<store> store_ = open();
};

TEST_F(PostgresClaims, ARowThatHasMovedIsFoundByItsKey) {
    const claim by = start("k");
    sql("UPDATE " + record_table() + " SET grace = grace + 1");
    const auto before = counted();

    (void)said<answers::stored>(store_->call(id_of("k"), complete_with(by, "x")));

    EXPECT_EQ(column("result", "k"), "\\x78");
    EXPECT_EQ(counted().round_trips - before.round_trips, 2U);
    EXPECT_EQ(counted().record_writes - before.record_writes, 1U);
}

// Even one with the same owner and fence, as records that were begun together may have.
TEST_F(PostgresClaims, AnotherRowInThatPlaceIsLeftAlone) {
    const claim by = start("gone");
    const std::string place = column("ctid", "gone");
    sql("CREATE TEMP TABLE moved AS SELECT * FROM " + record_table());
    sql("TRUNCATE " + record_table());
    sql("UPDATE moved SET key = 'other'");
    sql("INSERT INTO " + record_table() + " SELECT * FROM moved");
    ASSERT_EQ(column("ctid", "other"), place);

    (void)said<answers::fenced_off>(store_->call(id_of("gone"), complete_with(by, "x")));

    EXPECT_EQ(column("state", "other"), "0");
}

TEST_F(PostgresClaims, AClaimThatWasTakenOverIsRefused) {
    const claim by = start("k");
    sql("UPDATE " + record_table() + " SET lease_until = 1, grace = 0");
    (void)said<answers::started>(store_->call(id_of("k"), begin_by(bert)));

    (void)said<answers::fenced_off>(store_->call(id_of("k"), complete_with(by, "x")));

    EXPECT_EQ(column("state", "k"), "0");
}

} // namespace
} // namespace semel
