// Rows that strangers hold locked.
#include <gmock/gmock.h>

#include <latch>

#include "database.hpp"

namespace semel {
namespace {

// So long that a busy machine is not taken for a lock.
constexpr duration lock_timeout = std::chrono::seconds{1};

template <class Options> Options patient(Options made) {
    made.lock_timeout = lock_timeout;
    return made;
}

class SqlLocks : public database_test {
protected:
    // Holds the row of this key until let_go().
    void hold(const std::string& key) {
        stranger_.sql("BEGIN");
        // By its whole key: else a server may lock every row that it looks at.
        stranger_.sql("SELECT 1 FROM " + record_table() +
                      " WHERE tenant = 'acme' AND operation = 'ORDER_CREATE' AND " + key_column +
                      " = '" + key + "' FOR UPDATE");
    }
    void let_go() { stranger_.sql("ROLLBACK"); }

    claim start(const std::string& key) {
        return said<answers::started>(store_->call(id_of(key), begin_by(anna))).by;
    }

    const std::unique_ptr<store> store_ = open_database(patient(options())).value();
    database_client stranger_;
};

TEST_F(SqlLocks, ALockedRowFailsItsOwnCommandAndNoOther) {
    constexpr std::size_t keys = 40;
    std::vector<claim> claims;
    for (std::size_t i = 0; i < keys; ++i) claims.push_back(start(std::to_string(i)));
    hold("17");

    std::latch answered{keys};
    std::vector<result<reply>> got(keys, failure{.code = errc::internal});
    std::vector<submission> many;
    for (std::size_t i = 0; i < keys; ++i) {
        many.push_back(
            {.what = {.id = id_of(std::to_string(i)), .what = complete_with(claims[i], "x")},
             .done = [&, i](result<reply> one) {
                 got[i] = std::move(one);
                 answered.count_down();
             }});
    }
    const local_time before = local_clock::now();
    store_->submit_all(std::move(many));
    answered.wait();
    const auto took = local_clock::now() - before;
    let_go();

    for (std::size_t i = 0; i < keys; ++i) {
        if (i == 17) {
            EXPECT_EQ(why(got[i]).code, errc::timed_out) << why(got[i]).detail;
            EXPECT_EQ(why(got[i]).possible, effect::none);
        } else {
            (void)said<answers::stored>(got[i]);
        }
    }
    EXPECT_LT(took, lock_timeouts_max * lock_timeout);
    (void)said<answers::stored>(store_->call(id_of("17"), complete_with(claims[17], "x")));
}

TEST_F(SqlLocks, ARecordThatWasJustFoundLockedDelaysNobodyAgain) {
    const claim locked = start("locked");
    const claim free = start("free");
    hold("locked");
    EXPECT_EQ(why(store_->call(id_of("locked"), complete_with(locked, "x"))).code, errc::timed_out);
    const local_time before = local_clock::now();

    EXPECT_EQ(why(store_->call(id_of("locked"), complete_with(locked, "x"))).code, errc::timed_out);
    (void)said<answers::stored>(store_->call(id_of("free"), complete_with(free, "x")));

    EXPECT_LT(local_clock::now() - before, lock_timeout);
    let_go();
}

TEST_F(SqlLocks, AReadIsNeverHeldUpByALock) {
    const claim by = start("k");
    (void)said<answers::stored>(store_->call(id_of("k"), complete_with(by, "x")));
    hold("k");
    const local_time before = local_clock::now();

    (void)said<answers::replay>(store_->call(id_of("k"), begin_by(bert)));

    EXPECT_LT(local_clock::now() - before, first_wait() + lock_timeout);
    let_go();
}

// As the transaction of a colleague does that is not yet committed.
TEST_F(SqlLocks, AnUncommittedRecordOfTheSameKeyTimesOutAndIsReplayedLater) {
    const claim by = start("template");
    (void)said<answers::stored>(store_->call(id_of("template"), complete_with(by, "done")));
    const std::string columns = columns_but_key();
    stranger_.sql("BEGIN");
    stranger_.sql("INSERT INTO " + record_table() + " (" + key_column + ", " + columns +
                  ") SELECT 'new', " + columns + " FROM " + record_table() + " WHERE " +
                  key_column + " = 'template'");

    const auto early = store_->call(id_of("new"), begin_by(bert));
    stranger_.sql("COMMIT");
    const auto late = store_->call(id_of("new"), begin_by(bert));

    EXPECT_EQ(why(early).code, errc::timed_out) << why(early).detail;
    EXPECT_EQ(why(early).possible, effect::none);
    EXPECT_EQ(said<answers::replay>(late).result.body, "done");
}

TEST_F(SqlLocks, ASweepLeavesLockedRowsForLater) {
    const claim by = start("locked");
    const claim other = start("free");
    (void)said<answers::stored>(store_->call(id_of("locked"), complete_with(by, "x")));
    (void)said<answers::stored>(store_->call(id_of("free"), complete_with(other, "x")));
    put_in_the_past("expires_at");
    hold("locked");

    EXPECT_EQ(store_->sweep({}).value().removed, 1U);
    let_go();
    EXPECT_EQ(store_->sweep({}).value().removed, 1U);
}

} // namespace
} // namespace semel
