// What the near cache gives up: by time, and by bytes.
#include <gtest/gtest.h>

#include "unit/decorators/watched_store.hpp"

namespace semel::testing {
namespace {

using namespace std::chrono_literals;

TEST(CachedTime, ServesUntilTheRecordExpiresAndNotAtThatMoment) {
    cached_fixture it{{.age_max = 10h}};
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done", 1h).value();

    it.clock.advance(1h - 1us);
    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, print('a'))), "done"); }), 0);
    it.clock.advance(1us);
    EXPECT_TRUE(std::holds_alternative<answers::started>(it.begin(id, print('a')).value().said));
}

TEST(CachedTime, ExpiresByTheLocalClockEvenIfTheStoresStandsStill) {
    cached_fixture it{{.age_max = 10h}};
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done", 1h).value();

    it.clock.local += 1h;

    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 1);
}

TEST(CachedTime, CountsFromBeforeTheStoreWasAsked) {
    cached_fixture it{{.age_max = 10h}};
    const record_id id = order("1");
    it.finished_elsewhere(id, print('a'), "done", 1h);
    it.inner->holding = true;
    it.outer->submit({.id = id, .what = begin_with(print('a'))}, [](result<reply>) {});
    it.inner->execute();
    it.clock.local += 40min;
    it.inner->deliver();

    it.clock.local += 19min;
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 0);
    it.clock.local += 1min;
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 1);
}

TEST(CachedTime, TellsTheStoresTimeAsItMustBeByNow) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    it.clock.advance(17s);

    EXPECT_EQ(it.begin(id, print('a')).value().now, it.clock.store);
}

TEST(CachedTime, AsksAgainOnceTheAnswerIsOld) {
    cached_fixture it{{.age_max = 1min}};
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    it.clock.advance(1min - 1us);
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 0);
    it.clock.advance(1us);
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 1);
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 0) << "refreshed";
}

TEST(CachedTime, SeesWhatAnOperatorDidElsewhereByTheAgeBound) {
    cached_fixture it{{.age_max = 1min}};
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();
    it.elsewhere(id, commands::remove{}).value();

    it.clock.advance(59s);
    EXPECT_EQ(body_in(it.begin(id, print('a'))), "done");
    it.clock.advance(1s);
    EXPECT_TRUE(std::holds_alternative<answers::started>(it.begin(id, print('a')).value().said));
}

TEST(CachedTime, HitsDoNotProlongTheAge) {
    cached_fixture it{{.age_max = 1min}};
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();

    for (int i = 0; i < 5; ++i) {
        it.clock.advance(10s);
        EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 0);
    }
    it.clock.advance(10s);

    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 1);
}

TEST(CachedTime, JudgesByTheTestsTimeWhereItIsGiven) {
    cached_fixture it{{.age_max = 10h}};
    const record_id id = order("1");
    const time_point at = it.clock.store;
    const auto by = std::get<answers::started>(it.begin(id, print('a'), at).value().said).by;
    commands::complete what{.by = by, .result = body_of("done")};
    what.retention = 1h;
    it.outer->call(id, std::move(what), at).value();

    EXPECT_EQ(it.trips_of(
                  [&] { EXPECT_EQ(it.begin(id, print('a'), at + 59min).value().now, at + 59min); }),
              0);
    EXPECT_EQ(it.trips_of([&] {
        const auto said = it.begin(id, print('a'), at + 1h).value().said;
        EXPECT_TRUE(std::holds_alternative<answers::started>(said));
    }),
              1);
}

TEST(CachedTime, KeepsTestTimeAndRealTimeApart) {
    cached_fixture it;
    const record_id id = order("1");
    it.finished_elsewhere(id, print('a'), "done");
    it.begin(id, print('a')).value();

    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a'), it.clock.store).value(); }), 1);
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a'), it.clock.store).value(); }), 0);
    EXPECT_EQ(it.trips_of([&] { it.begin(id, print('a')).value(); }), 1);
}

TEST(CachedTime, ForgetsWhatASweepUnderTestTimeMayHaveTaken) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done", 1h).value();

    EXPECT_EQ(it.outer->sweep({.now = it.clock.store + 2h}).value().removed, 1U);

    EXPECT_TRUE(std::holds_alternative<answers::started>(it.begin(id, print('a')).value().said));
}

TEST(CachedBytes, NeverHoldsMoreThanItsBound) {
    constexpr std::size_t bound = 64 << 10;
    cached_fixture it{{.bytes_max = bound}};
    std::size_t held_max = 0;

    for (int i = 0; i < 2'000; ++i) {
        const record_id id = order(std::to_string(i));
        const auto size = static_cast<std::size_t>(i * 37 % 4'000);
        it.complete(id, it.start(id, {}), std::string(size, 'x')).value();
        held_max = std::max(held_max, static_cast<std::size_t>(it.counters.bytes));
        ASSERT_LE(held_max, bound);
    }

    EXPECT_GT(held_max, bound * 9 / 10) << "the bound is there to be used";
    EXPECT_GT(it.counters.evictions, 0U);
}

TEST(CachedBytes, CountsAtLeastTheBytesItKeeps) {
    cached_fixture it;
    const record_id id = order(std::string(200, 'k'));

    it.complete(id, it.start(id, {}), std::string(10'000, 'x')).value();

    EXPECT_GT(it.counters.bytes, 10'200U);
    EXPECT_LT(it.counters.bytes, 10'700U);
}

TEST(CachedBytes, GivesBackTheBytesOfWhatItForgets) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, {}), "done").value();
    ASSERT_EQ(it.counters.entries, 1U);

    it.outer->call(id, commands::remove{}).value();

    EXPECT_EQ(it.counters.bytes, 0U);
    EXPECT_EQ(it.counters.entries, 0U);
}

TEST(CachedBytes, DoesNotKeepWhatWouldPushEverythingElseOut) {
    cached_fixture it{{.bytes_max = 64 << 10}};
    const record_id small = order("small");
    const record_id large = order("large");
    it.complete(small, it.start(small, {}), "done").value();
    it.complete(large, it.start(large, {}), std::string(20 << 10, 'x')).value();

    EXPECT_EQ(it.trips_of([&] { it.begin(small, {}).value(); }), 0);
    for (int i = 0; i < 2; ++i) {
        EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(large, {})).size(), 20U << 10); }),
                  1);
    }
}

TEST(CachedBytes, KeepsWhatIsAskedForOverWhatIsNot) {
    cached_fixture it{{.bytes_max = 64 << 10}};
    const record_id wanted = order("wanted");
    it.complete(wanted, it.start(wanted, {}), "done").value();

    const int trips = it.trips_of([&] {
        for (int i = 0; i < 1'000; ++i) {
            const record_id id = order(std::to_string(i));
            it.finished_elsewhere(id, {}, std::string(500, 'x'));
            it.begin(id, {}).value();
            EXPECT_EQ(body_in(it.begin(wanted, {})), "done");
        }
    });

    EXPECT_EQ(trips, 3'000) << "three each for the others, none for the wanted one";
}

TEST(CachedBytes, KeepsTheNewOverTheOldWhereNothingIsAskedFor) {
    cached_fixture it{{.bytes_max = 64 << 10}};
    for (int i = 0; i < 1'000; ++i) {
        const record_id id = order(std::to_string(i));
        it.complete(id, it.start(id, {}), std::string(500, 'x')).value();
    }

    int hits = 0;
    for (int i = 950; i < 1'000; ++i) {
        hits += it.trips_of([&] { it.begin(order(std::to_string(i)), {}).value(); }) == 0 ? 1 : 0;
    }

    EXPECT_EQ(hits, 50);
}

TEST(CachedBytes, ABoundOfNothingIsJustTheStore) {
    cached_fixture it{{.bytes_max = 0}};
    const record_id id = order("1");
    it.complete(id, it.start(id, {}), "done").value();

    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, {})), "done"); }), 1);
    EXPECT_EQ(it.trips_of([&] { EXPECT_EQ(body_in(it.begin(id, {})), "done"); }), 1);
}

TEST(CachedCounters, CountHitsMissesAndFillsExactly) {
    cached_fixture it;
    const record_id id = order("1");
    it.complete(id, it.start(id, print('a')), "done").value();
    it.begin(id, print('a')).value();
    it.begin(id, print('a')).value();
    it.begin(id, print('b')).value();

    const auto counted = it.counters;

    EXPECT_EQ(counted.hits, 2U);
    EXPECT_EQ(counted.misses, 2U);
    EXPECT_EQ(counted.fills, 1U);
    EXPECT_EQ(counted.evictions, 0U);
}

} // namespace
} // namespace semel::testing
