#include "store/memory/stripe.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "support/noon.hpp"

namespace semel {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

using test::noon;
constexpr std::uint64_t same_hash = 42;

class Stripe : public testing::Test {
protected:
    answer send(const std::string& key, command what, time_point now) {
        return it.execute({"t", "o", key}, same_hash, std::move(what), now).value().said;
    }
    claim start(const std::string& key, time_point now, record_policy policy = {}) {
        const answer got = send(
            key, commands::begin{.owner = {1, 1}, .lease = seconds{30}, .policy = policy}, now);
        EXPECT_TRUE(std::holds_alternative<answers::started>(got)) << name(got);
        return std::get<answers::started>(got).by;
    }
    void finish(const std::string& key, const claim& by, duration retention, time_point now) {
        const answer got = send(key, commands::complete{.by = by, .retention = retention}, now);
        ASSERT_TRUE(std::holds_alternative<answers::stored>(got)) << name(got);
    }
    bool there(const std::string& key, time_point now) {
        return std::get<answers::found>(send(key, commands::lookup{}, now)).current.has_value();
    }

    memory_budget budget{.options = {}};
    stripe it{budget};
};

TEST_F(Stripe, RecordsWithEqualHashesAreToldApart) {
    finish("a", start("a", noon), hours{1}, noon);

    EXPECT_FALSE(there("b", noon));
    start("b", noon);
    EXPECT_TRUE(there("a", noon));
}

TEST_F(Stripe, EveryExpiredRecordOfOneHashIsSwept) {
    for (int i = 0; i < 10; ++i) {
        const std::string key = std::to_string(i);
        finish(key, start(key, noon), hours{1 + i}, noon);
    }

    EXPECT_EQ(it.sweep(100, noon + hours{24}).removed, 10U);
    EXPECT_EQ(budget.records, 0U);
    EXPECT_EQ(budget.bytes, 0U);
}

TEST_F(Stripe, ExpiredRecordIsSweptBesideOneOfTheSameHashThatStays) {
    start("held", noon, {.on_lease_expiry = lease_expiry::hold});
    finish("long", start("long", noon), hours{1'000}, noon);
    finish("short", start("short", noon), hours{1}, noon);

    EXPECT_EQ(it.sweep(100, noon + hours{2}).removed, 1U);

    EXPECT_TRUE(there("held", noon + hours{2}));
    EXPECT_TRUE(there("long", noon + hours{2}));
    EXPECT_EQ(it.sweep(100, noon + hours{2'000}).removed, 1U);
    EXPECT_TRUE(there("held", noon + hours{2'000}));
}

TEST_F(Stripe, SweepBeforeAnythingIsDueLooksAtNothing) {
    for (int i = 0; i < 100; ++i) {
        const std::string key = std::to_string(i);
        finish(key, start(key, noon), hours{1}, noon);
    }
    const std::size_t hints = it.hints();

    const auto report = it.sweep(1'000, noon + seconds{60});

    EXPECT_EQ(report.removed, 0U);
    EXPECT_EQ(report.state, sweep_state::done);
    EXPECT_EQ(it.hints(), hints);
}

TEST_F(Stripe, RenewalsAndRetriesDoNotPileUpHints) {
    const claim by = start("a", noon);
    for (int i = 1; i < 100; ++i) {
        const time_point now = noon + seconds{i};
        send("a", commands::renew{.by = by, .lease = seconds{30}}, now);
        send("a", commands::checkpoint{.by = by, .step = {std::to_string(i), "x"}}, now);
    }

    EXPECT_EQ(it.hints(), 1U);
}

TEST_F(Stripe, ProlongedRecordIsSweptAtItsLaterTime) {
    const claim first = start("a", noon);
    send("a", commands::fail{.by = first, .retry_after = seconds{0}, .retention = hours{1}}, noon);
    finish("a", start("a", noon), hours{10}, noon);

    EXPECT_EQ(it.sweep(100, noon + hours{2}).removed, 0U);
    EXPECT_EQ(it.sweep(100, noon + hours{20}).removed, 1U);
}

TEST_F(Stripe, ForsakenRecordIsSweptAfterProcessingMax) {
    start("a", noon, {.processing_max = hours{1}});

    EXPECT_EQ(it.sweep(100, noon + seconds{3'599}).removed, 0U);
    EXPECT_EQ(it.sweep(100, noon + hours{2}).removed, 1U);
}

TEST_F(Stripe, BeginsTakeExpiredRecordsAlong) {
    for (int i = 0; i < 50; ++i) {
        const std::string key = "old " + std::to_string(i);
        finish(key, start(key, noon), hours{1}, noon);
    }

    for (int i = 0; i < 50; ++i) start("new " + std::to_string(i), noon + hours{2});

    EXPECT_EQ(budget.records, 50U);
}

TEST_F(Stripe, FencesStayAboveWhatWasSwept) {
    const claim first = start("a", noon);
    finish("a", first, hours{1}, noon);
    ASSERT_EQ(it.sweep(100, noon + hours{2}).removed, 1U);

    EXPECT_GT(start("a", noon - hours{1}).fence, first.fence);
}

TEST_F(Stripe, BudgetFollowsTheSizeOfTheRecord) {
    const claim by = start("a", noon);
    const std::size_t begun = budget.bytes;

    send("a", commands::complete{.by = by, .result = {.body = std::string(1'000, 'x')}}, noon);
    const std::size_t completed = budget.bytes;
    start("a", noon + hours{1});

    EXPECT_EQ(completed, begun + 1'000);
    EXPECT_EQ(budget.bytes, begun);
    EXPECT_EQ(budget.records, 1U);
}

} // namespace
} // namespace semel
