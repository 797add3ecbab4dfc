// Begins that are given up before their answer comes, and the claims that they may leave.
#include <mutex>

#include "async_call.hpp"
#include "support/shared_store.hpp"

namespace semel::tests {
namespace {

using support::answer_lost;
using support::away;
using support::fails;
using support::fault;

class Orphans : public engine_test {
protected:
    static engine_options impatient() {
        engine_options options;
        options.log = null_logger();
        options.store_patience = 20ms;
        return options;
    }
    // The answers of begins are lost and nothing can be read: each call leaves a claim.
    void lose_begins() {
        script_->on_each([](std::size_t, const command& what) -> std::optional<fault> {
            if (std::holds_alternative<commands::begin>(what)) {
                return fault{fails::after, answer_lost()};
            }
            return fault{fails::before, away()};
        });
    }
    static operation_policy held() {
        return {.lease = 600ms, .on_lease_expiry = lease_expiry::hold, .grace = 1ms};
    }
};

TEST_F(Orphans, AreFoundAndGivenBackAndLeaveNothingInDoubt) {
    auto& engine = make(held(), impatient());
    lose_begins();
    EXPECT_EQ(engine.execute<std::string>(order("k"), never).kind(), outcome_kind::unavailable);
    EXPECT_EQ(engine.counters().orphans, 1U);

    script_->well();

    EXPECT_TRUE(soon([&] { return engine.counters().orphans_released == 1; }));
    EXPECT_TRUE(
        engine.execute<std::string>(order("k"), [] { return std::string{"made"}; }).executed());
}

TEST_F(Orphans, OfAsynchronousCallersAndOfBatchesAreGivenBackToo) {
    auto& engine = make(held(), impatient());
    lose_begins();
    async_call call{engine, order("k")};
    EXPECT_EQ(call.get().kind, outcome_kind::unavailable);
    const auto batch = engine.consume_batch(order(""), {{.key = "a"}, {.key = "b"}},
                                            [](std::size_t, execution&) { ADD_FAILURE(); });
    EXPECT_EQ(batch, (std::vector{consumed::unavailable, consumed::unavailable}));

    script_->well();

    EXPECT_TRUE(soon([&] { return engine.counters().orphans_released == 3; }));
}

TEST_F(Orphans, ThatAppearLateAreGivenBackToo) {
    auto& engine = make(held(), impatient());
    std::mutex mutex;
    std::optional<command> lost;
    script_->on_each([&](std::size_t, const command& what) -> std::optional<fault> {
        const std::lock_guard lock{mutex};
        if (std::holds_alternative<commands::begin>(what)) lost = what;
        return fault{fails::before, answer_lost()};
    });
    EXPECT_EQ(engine.execute<std::string>(order("k"), never).kind(), outcome_kind::unavailable);
    script_->well();
    const std::size_t before = script_->questions("lookup");
    ASSERT_TRUE(soon([&] { return script_->questions("lookup") > before + 1; })); // not there

    for (const std::uint64_t nth : {1, 2}) { // the begin was sent more than once
        ASSERT_TRUE(engine.records().call(id_of(order("k")), *lost));
        EXPECT_TRUE(soon([&] { return engine.counters().orphans_released == nth; }));
    }
}

// The begin is sent twice, and the first one arrives when the work is over.
TEST_F(Orphans, ThatAppearAfterTheWorkAreGivenBackAndTheWorkIsNot) {
    auto& engine = make(held(), impatient());
    std::mutex mutex;
    std::optional<command> lost;
    script_->on_each([&](std::size_t, const command& what) -> std::optional<fault> {
        const std::lock_guard lock{mutex};
        if (lost || !std::holds_alternative<commands::begin>(what)) return std::nullopt;
        lost = what;
        return fault{fails::before, answer_lost()};
    });
    async_call call{engine, order("k")};
    call.wait_started();
    std::this_thread::sleep_for(200ms); // nothing is looked for yet
    EXPECT_EQ(stored(order("k"))->state, record_state::processing);
    call.end(threw_end{std::make_exception_ptr(std::runtime_error{"no"})});
    EXPECT_EQ(call.get().kind, outcome_kind::failed);

    ASSERT_TRUE(engine.records().call(id_of(order("k")), *lost));

    EXPECT_TRUE(soon([&] { return engine.counters().orphans_released == 1; }));
    EXPECT_EQ(stored(order("k"))->attempts, 1U);
    script_->well(); // the search goes on
}

TEST_F(Orphans, GiveBackTheAttemptTheyHaveContinued) {
    auto& engine = make({.lease = 600ms}, impatient());
    EXPECT_THROW((void)engine.execute<void>(order("k"), [] { throw std::runtime_error{"no"}; }),
                 std::runtime_error);
    lose_begins();
    EXPECT_EQ(engine.execute<std::string>(order("k"), never).kind(), outcome_kind::unavailable);
    script_->well();
    ASSERT_TRUE(soon([&] { return engine.counters().orphans_released == 1; }));

    const auto out = engine.execute<std::string>(
        order("k"), [](execution& run) { return std::to_string(run.attempt()); });

    EXPECT_EQ(out.value(), "2");
}

TEST_F(Orphans, AreBoundedAndCounted) {
    auto options = impatient();
    options.limits.orphans_max = 1;
    auto& engine = make(held(), options);
    lose_begins();

    for (const char* key : {"a", "b", "c"}) {
        EXPECT_EQ(engine.execute<std::string>(order(key), never).kind(), outcome_kind::unavailable);
    }

    EXPECT_EQ(engine.counters().orphans, 1U);
    EXPECT_EQ(engine.counters().orphans_left, 2U);
    script_->well();
    EXPECT_TRUE(soon([&] { return engine.counters().orphans_released == 1; }));
}

TEST_F(Orphans, AreNotLookedForWhereNothingWasSent) {
    auto& engine = make(held(), impatient());
    script_->fail_all("begin", {});

    EXPECT_EQ(engine.execute<std::string>(order("k"), never).kind(), outcome_kind::unavailable);

    EXPECT_EQ(engine.counters().orphans, 0U);
}

TEST_F(Orphans, AreWaitedForByTheEnginesDestructor) {
    const std::shared_ptr<store> records = open_memory_store();
    auto options = impatient();
    options.store_patience = 300ms;
    engine_.emplace(std::make_unique<support::faulty_store>(
                        std::make_unique<support::shared_store>(records), script_),
                    held(), options);
    lose_begins();
    EXPECT_EQ(engine_->execute<std::string>(order("k"), never).kind(), outcome_kind::unavailable);
    std::thread repair{[&] {
        std::this_thread::sleep_for(50ms);
        script_->well();
    }};

    engine_.reset();

    const auto got = records->call(id_of(order("k")), commands::lookup{});
    EXPECT_FALSE(std::get<answers::found>(got.value().said).current.has_value());
    repair.join();
}

TEST_F(Orphans, KeepNoEngineWhoseStoreStaysAway) {
    auto& engine = make(held(), impatient());
    lose_begins();
    EXPECT_EQ(engine.execute<std::string>(order("k"), never).kind(), outcome_kind::unavailable);
    const auto before = local_clock::now();

    engine_.reset();

    EXPECT_LT(local_clock::now() - before, 5s);
}

} // namespace
} // namespace semel::tests
