#include "semel/store/memory.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/forked.hpp"
#include "support/noon.hpp"

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

using test::noon;

record_id id_of(const std::string& key) {
    return {"acme", "ORDER_CREATE", key};
}

result<reply> begin(store& it, const std::string& key, time_point now) {
    return it.call(id_of(key), commands::begin{.owner = {1, 1}, .lease = seconds{30}}, now);
}

// Begins and completes with a retention of an hour.
void must_fill(store& it, const std::string& key, time_point now, std::string body = "x") {
    const auto begun = begin(it, key, now);
    ASSERT_TRUE(begun) << describe(begun.error());
    const auto by = std::get<answers::started>(begun->said).by;
    const auto done = it.call(
        id_of(key),
        commands::complete{.by = by, .result = {.body = std::move(body)}, .retention = hours{1}},
        now);
    ASSERT_TRUE(done);
}

// What the child runs, the parent would not know of.
TEST(MemoryStore, ACopyInAForkedChildIsRefused) {
    const auto it = open_memory_store();
    must_fill(*it, "a", noon);

    const auto child = testing_support::said_by_child([&] {
        const auto got = begin(*it, "b", noon);
        const bool all = !got && !it->sweep({}) && !it->audit(id_of("a")) && !it->search({});
        return all ? describe(got.error()) : "answered";
    });

    EXPECT_NE(child.find("the store was opened before fork()"), std::string::npos) << child;
    EXPECT_TRUE(begin(*it, "b", noon));
}

TEST(MemoryStore, RefusesBeginsOverTheRecordBoundByName) {
    const auto it = open_memory_store({.records_max = 3});
    for (const char* key : {"a", "b", "c"}) must_fill(*it, key, noon);

    const auto got = begin(*it, "d", noon);

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::no_space);
    EXPECT_EQ(got.error().possible, effect::none);
    EXPECT_NE(got.error().detail.find("3 records"), std::string::npos) << got.error().detail;
}

TEST(MemoryStore, RefusesBeginsOverTheByteBound) {
    const auto it = open_memory_store({.bytes_max = 100'000});
    must_fill(*it, "large", noon, std::string(100'000, 'x'));

    const auto got = begin(*it, "small", noon);

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::no_space);
}

TEST(MemoryStore, FullStoreStillReplaysAndCompletes) {
    const auto it = open_memory_store({.records_max = 2});
    must_fill(*it, "done", noon);
    const auto begun = begin(*it, "running", noon);
    const auto by = std::get<answers::started>(begun->said).by;

    const auto replay = begin(*it, "done", noon);
    const auto done = it->call(id_of("running"), commands::complete{.by = by}, noon);

    EXPECT_TRUE(std::holds_alternative<answers::replay>(replay.value().said));
    EXPECT_TRUE(std::holds_alternative<answers::stored>(done.value().said));
}

TEST(MemoryStore, NeverEvictsALiveRecordToMakeRoom) {
    const auto it = open_memory_store({.records_max = 3});
    for (const char* key : {"a", "b", "c"}) must_fill(*it, key, noon);

    for (int i = 0; i < 20; ++i) {
        EXPECT_FALSE(begin(*it, "new " + std::to_string(i), noon + seconds{60}));
    }

    for (const char* key : {"a", "b", "c"}) {
        const auto got = begin(*it, key, noon + seconds{60});
        EXPECT_TRUE(std::holds_alternative<answers::replay>(got.value().said)) << key;
    }
}

TEST(MemoryStore, WhatHasExpiredAnywhereMakesRoom) {
    const auto it = open_memory_store({.records_max = 20});
    for (int i = 0; i < 20; ++i) must_fill(*it, "old " + std::to_string(i), noon);
    const time_point later = noon + hours{2};

    for (int i = 0; i < 20; ++i) {
        const auto got = begin(*it, "new " + std::to_string(i), later);
        ASSERT_TRUE(got) << i << ": " << describe(got.error());
    }
}

TEST(MemoryStore, BytesOfExpiredRecordsAreGivenBack) {
    const auto it = open_memory_store({.bytes_max = 100'000});
    time_point now = noon;

    for (int i = 0; i < 20; ++i) {
        must_fill(*it, "key " + std::to_string(i), now, std::string(100'000, 'x'));
        now += hours{2};
    }
}

TEST(MemoryStore, RemovedRecordMakesRoom) {
    const auto it = open_memory_store({.records_max = 1});
    must_fill(*it, "a", noon);
    ASSERT_FALSE(begin(*it, "b", noon));

    ASSERT_TRUE(it->call(id_of("a"), commands::remove{}, noon));

    EXPECT_TRUE(begin(*it, "b", noon));
}

TEST(MemoryStore, SweepReportsWhetherThereIsMore) {
    const auto it = open_memory_store();
    for (int i = 0; i < 30; ++i) must_fill(*it, std::to_string(i), noon);
    const time_point later = noon + hours{2};

    const auto first = it->sweep({.records_max = 20, .now = later}).value();
    const auto second = it->sweep({.records_max = 20, .now = later}).value();

    EXPECT_EQ(first.removed, 20U);
    EXPECT_EQ(first.state, sweep_state::more);
    EXPECT_EQ(second.removed, 10U);
    EXPECT_EQ(second.state, sweep_state::done);
}

TEST(MemoryStore, ForgetsTheOldestAuditEntriesFirst) {
    const auto it = open_memory_store({.audit_entries_max = 2});
    for (const char* reason : {"one", "two", "three"}) {
        must_fill(*it, "a", noon);
        ASSERT_TRUE(it->call(id_of("a"), commands::remove{.reason = reason}, noon));
    }

    const auto kept = it->audit(id_of("a")).value();

    ASSERT_EQ(kept.size(), 2U);
    EXPECT_EQ(kept[0].reason, "two");
    EXPECT_EQ(kept[1].reason, "three");
}

TEST(MemoryStore, IsInMemoryAndNotDurable) {
    const auto traits = open_memory_store()->traits();

    EXPECT_TRUE(traits.in_memory);
    EXPECT_FALSE(traits.durable);
}

TEST(MemoryStore, SearchLooksAtABoundedNumberOfRecordsForAPage) {
    const auto it = open_memory_store({});
    constexpr int records = 100'200;
    for (int i = 0; i < records; ++i) ASSERT_TRUE(begin(*it, std::to_string(i), noon));
    record_query query{.states = {record_state::succeeded}, .now = noon};

    const auto first = it->search(query).value();
    query.cursor = first.cursor;
    const auto second = it->search(query).value();

    EXPECT_TRUE(first.records.empty());
    EXPECT_NE(first.cursor, "");
    EXPECT_EQ(second.cursor, "");
}

} // namespace
} // namespace semel
