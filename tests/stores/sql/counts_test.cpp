// What an operation costs: round trips, commits, record writes.
#include <latch>

#include "database.hpp"
#include "semel/store/decorators.hpp"

namespace semel {
namespace {

struct cost {
    std::uint64_t round_trips;
    std::uint64_t commits;
    std::uint64_t record_writes;

    friend bool operator==(const cost&, const cost&) = default;
    friend std::ostream& operator<<(std::ostream& to, const cost& it) {
        return to << it.round_trips << " round trips, " << it.commits << " commits, "
                  << it.record_writes << " writes";
    }
};

class SqlCosts : public database_test {
protected:
    result<reply> ask(const std::string& key, command what) {
        const auto before = counted();
        auto got = store_->call(id_of(key), std::move(what));
        const auto after = counted();
        last_ = {.round_trips = after.round_trips - before.round_trips,
                 .commits = after.commits - before.commits,
                 .record_writes = after.record_writes - before.record_writes};
        return got;
    }

    claim start(const std::string& key) {
        return said<answers::started>(ask(key, begin_by(anna))).by;
    }

    const std::unique_ptr<store> store_ = open();
    cost last_ = {};
};

constexpr cost one_write{.round_trips = 1, .commits = 1, .record_writes = 1};
constexpr cost one_look{.round_trips = 1, .commits = 0, .record_writes = 0};

TEST_F(SqlCosts, AFirstExecutionIsTwoRoundTrips) {
    const claim by = start("k");
    EXPECT_EQ(last_, one_write);

    (void)said<answers::stored>(ask("k", complete_with(by, "x")));
    EXPECT_EQ(last_, one_write);
}

TEST_F(SqlCosts, AReplayIsOneRoundTripAndWritesNothing) {
    const claim by = start("k");
    (void)said<answers::stored>(ask("k", complete_with(by, "x")));

    (void)said<answers::replay>(ask("k", begin_by(bert)));

    EXPECT_EQ(last_, one_look);
}

TEST_F(SqlCosts, ANewKeyAmongManyRepeatsIsAtMostOneLookMore) {
    const claim by = start("k");
    (void)said<answers::stored>(ask("k", complete_with(by, "x")));
    for (int i = 0; i < 40; ++i) {
        EXPECT_EQ(said<answers::replay>(ask("k", begin_by(bert))).result.body, "x");
        EXPECT_EQ(last_, one_look);
    }

    (void)start("new");
    EXPECT_LE(last_.round_trips, 2U);
    EXPECT_EQ(last_.commits, 1U);
    EXPECT_EQ(last_.record_writes, 1U);

    (void)start("newer");
    EXPECT_EQ(last_, one_write);
}

TEST_F(SqlCosts, ARepeatAmongManyNewKeysIsAtMostOneRoundTripMore) {
    for (int i = 0; i < 40; ++i) {
        (void)start(std::to_string(i));
        EXPECT_EQ(last_, one_write);
    }

    (void)said<answers::in_progress>(ask("0", begin_by(bert)));
    EXPECT_LE(last_.round_trips, 2U);
    EXPECT_EQ(last_.commits, 0U);
    EXPECT_EQ(last_.record_writes, 0U);

    (void)said<answers::in_progress>(ask("1", begin_by(bert)));
    EXPECT_EQ(last_, one_look);
}

TEST_F(SqlCosts, NewKeysInABatchOfRepeatsAreClaimedOnce) {
    const claim by = start("k");
    (void)said<answers::stored>(ask("k", complete_with(by, "x")));
    for (int i = 0; i < 300; ++i) (void)said<answers::replay>(ask("k", begin_by(bert)));
    std::latch done{3};
    std::vector<submission> batch;
    const auto add = [&](const std::string& key, const std::string& expected) {
        batch.push_back({.what = {.id = id_of(key), .what = begin_by(anna)},
                         .done = [&done, expected](result<reply> got) {
                             EXPECT_EQ(name(std::move(got).value().said), expected);
                             done.count_down();
                         }});
    };
    add("a", "started");
    add("b", "started");
    add("k", "replay");

    store_->submit_all(std::move(batch));
    done.wait();

    EXPECT_EQ(sql("SELECT count(*) FROM " + record_table()), "3");
    (void)said<answers::in_progress>(ask("a", begin_by(bert)));
}

TEST_F(SqlCosts, ACachedReplayIsNoRoundTrip) {
    const auto near = open_cached_store(open());
    const claim by = said<answers::started>(near->call(id_of("k"), begin_by(anna))).by;
    (void)said<answers::stored>(near->call(id_of("k"), complete_with(by, "x")));
    (void)said<answers::replay>(near->call(id_of("k"), begin_by(bert)));
    const auto before = counted().round_trips;

    EXPECT_EQ(said<answers::replay>(near->call(id_of("k"), begin_by(bert))).result.body, "x");

    EXPECT_EQ(counted().round_trips, before);
}

TEST_F(SqlCosts, RefusalsAndLookupsAreOneRoundTripAndWriteNothing) {
    (void)start("k");

    (void)said<answers::in_progress>(ask("k", begin_by(bert)));
    EXPECT_EQ(last_, one_look);
    (void)said<answers::found>(ask("k", commands::lookup{}));
    EXPECT_EQ(last_, one_look);
    (void)said<answers::found>(ask("nothing", commands::lookup{}));
    EXPECT_EQ(last_, one_look);
}

TEST_F(SqlCosts, RenewalsAndFailuresAreOneRoundTrip) {
    const claim by = start("k");

    (void)said<answers::renewed>(
        ask("k", commands::renew{.by = by, .lease = std::chrono::hours{1}}));
    EXPECT_EQ(last_, one_write);
    (void)said<answers::stored>(ask("k", commands::fail{.by = by, .error = "no"}));
    EXPECT_EQ(last_, one_write);
}

TEST_F(SqlCosts, ATakeOverIsALookAndAGuardedWrite) {
    (void)start("k");
    put_in_the_past("lease_until");

    (void)said<answers::started>(ask("k", begin_by(bert)));

    EXPECT_EQ(last_, (cost{.round_trips = 2, .commits = 1, .record_writes = 1}));
}

TEST_F(SqlCosts, ABatchOfManyIsStillOneRoundTripAndOneCommit) {
    std::vector<submission> many;
    for (int i = 0; i < 100; ++i) {
        many.push_back({.what = {.id = id_of(std::to_string(i)), .what = begin_by(anna)},
                        .done = [](result<reply> got) { (void)said<answers::started>(got); }});
    }
    const auto before = counted();

    store_->submit_all(std::move(many));
    (void)ask("last", commands::lookup{});

    const auto after = counted();
    EXPECT_EQ(after.commits - before.commits, 1U);
    EXPECT_EQ(after.record_writes - before.record_writes, 100U);
    EXPECT_LE(after.round_trips - before.round_trips, 2U); // the look-up may come by itself
    EXPECT_EQ(after.batch_commands - before.batch_commands, 101U);
}

} // namespace
} // namespace semel
