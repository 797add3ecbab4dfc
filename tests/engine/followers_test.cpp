// What a caller who waits for another one is told when it gives up: only what is known by then.
#include <atomic>
#include <deque>

#include "async_call.hpp"

namespace semel::tests {
namespace {

using support::fails;
using support::fault;

class Followers : public engine_test {
protected:
    static request waiting(duration how_long) {
        request made = order("k", "body");
        made.with.wait = wait_mode::wait;
        made.with.wait_max = how_long;
        return made;
    }
    static engine_options patient() {
        engine_options options;
        options.store_patience = 1h;
        return options;
    }
    // Another process claims the record, as soon as the store's clock says so.
    claim claimed_elsewhere(duration from_now) {
        const commands::begin theirs{
            .content = waiting({}).content, .owner = {.low = 7}, .lease = 1h};
        const time_point when =
            std::chrono::time_point_cast<duration>(std::chrono::system_clock::now() + from_now);
        const auto begun = engine_->records().call(id_of(order("k")), theirs, when);
        return std::get<answers::started>(begun.value().said).by;
    }
    void finished_elsewhere(claim by) {
        stored_result result{.body = "theirs", .type = "text/plain"};
        seal(result);
        const auto done = engine_->records().call(
            id_of(order("k")),
            commands::complete{.by = by, .result = std::move(result), .retention = 24h});
        ASSERT_TRUE(std::holds_alternative<answers::stored>(done.value().said));
    }
};

TEST_F(Followers, AreToldWhyTheStoreIsAwayWhenTheyHaveWaitedLongEnough) {
    auto& engine = make({}, patient());
    script_->fail_all("begin", {});
    async_call leader{engine, waiting(1h)};
    async_call follower{engine, waiting(30ms)};

    const auto told = follower.get();

    EXPECT_EQ(told.kind, outcome_kind::unavailable);
    EXPECT_EQ(told.why->code, errc::unavailable);
    EXPECT_EQ(told.why->possible, effect::none);
    EXPECT_EQ(told.why->detail, support::away().detail);
    script_->well();
    leader.wait_started();
    leader.end(answered_with("done"));
}

TEST_F(Followers, AreToldWhyTheStoreIsAwayWhenTheyAreCancelled) {
    auto& engine = make({}, patient());
    script_->on_each([](std::size_t, const command&) {
        return std::optional<fault>{{fails::before, support::answer_lost()}};
    });
    async_call leader{engine, waiting(1h)};
    async_call follower{engine, waiting(1h)};

    follower.cancel();

    const auto told = follower.get();
    EXPECT_EQ(told.kind, outcome_kind::unavailable);
    EXPECT_EQ(told.why->code, errc::timed_out);
    EXPECT_EQ(told.why->possible, effect::none); // its own question was never asked
    script_->well();
    leader.wait_started();
    leader.end(answered_with("done"));
}

TEST_F(Followers, AreToldThatTheStoreHasNotAnsweredYet) {
    auto& engine = make({}, patient());
    script_->on_each([](std::size_t place, const command&) -> std::optional<fault> {
        if (place > 0) return std::nullopt;
        return fault{.when = fails::late, .by = 300ms};
    });
    std::thread leader{[&] { EXPECT_TRUE(engine.execute<void>(waiting(1h), [] {}).executed()); }};
    ASSERT_TRUE(soon([&] { return script_->questions() == 1; }));

    async_call follower{engine, waiting(20ms)};

    const auto told = follower.get();
    EXPECT_EQ(told.kind, outcome_kind::unavailable);
    EXPECT_EQ(told.why->code, errc::timed_out);
    leader.join();
}

TEST_F(Followers, WithOtherContentAreNotToldThatItIsInProgress) {
    auto& engine = make({}, patient());
    ASSERT_TRUE(engine.execute<void>(waiting(1h), [] {}).executed());
    request other = waiting(1h);
    other.content = fingerprint::raw("other");
    script_->fail_all("begin", {});
    async_call leader{engine, other};
    other.with.wait_max = 30ms;

    async_call follower{engine, other};

    EXPECT_EQ(follower.get().kind, outcome_kind::unavailable);
    script_->well();
    EXPECT_EQ(leader.get().kind, outcome_kind::mismatch);
}

TEST_F(Followers, OfALeaderThatPollsAreToldThatTheStoreIsAwayNow) {
    auto& engine = make({}, patient());
    (void)claimed_elsewhere(0s);
    async_call leader{engine, waiting(1h)};
    ASSERT_TRUE(soon([&] { return script_->questions("begin") >= 3; }));
    script_->fail_all("begin", {});
    const std::size_t before = script_->questions();
    ASSERT_TRUE(soon([&] { return script_->questions() > before; }));

    async_call follower{engine, waiting(30ms)};

    EXPECT_EQ(follower.get().kind, outcome_kind::unavailable);
    leader.cancel();
    script_->well();
    EXPECT_EQ(leader.get().kind, outcome_kind::in_progress);
}

// A leader polls for an attempt of another process, and its last poll is answered late. Meanwhile
// the attempt ends, and a caller comes who does not want to wait.
class OldPolls : public Followers, public testing::WithParamInterface<duration> {};

TEST_P(OldPolls, AreNotTheWordForWhoComesLaterAndDoesNotWait) {
    auto& engine = make({}, patient());
    const claim theirs = claimed_elsewhere(0s);
    std::thread leader{[&] { (void)engine.execute<void>(waiting(GetParam()), [] {}).kind(); }};
    ASSERT_TRUE(soon([&] { return script_->questions("begin") >= 3; }));
    const std::size_t last = script_->questions("begin");
    script_->on_each([](std::size_t, const command& what) -> std::optional<fault> {
        if (name(what) != "begin") return std::nullopt;
        return fault{.when = fails::late, .by = 600ms};
    });
    ASSERT_TRUE(soon([&] { return script_->questions("begin") > last; }));
    script_->well();
    finished_elsewhere(theirs);
    std::this_thread::sleep_for(300ms);
    request impatient = order("k", "body");
    impatient.with.wait = wait_mode::answer;

    async_call follower{engine, impatient};

    const auto told = follower.get();
    EXPECT_EQ(told.kind, outcome_kind::replayed);
    EXPECT_EQ(told.result.body, "theirs");
    leader.join();
}

// The leader polls again, or its wait has ended by then.
INSTANTIATE_TEST_SUITE_P(Engine, OldPolls, testing::Values(1h, 500ms));

TEST_F(Followers, TakeNoWordOlderThanTheyAreOfALeaderThatDoesNotWait) {
    auto& engine = make({}, patient());
    const claim theirs = claimed_elsewhere(0s);
    script_->fail_all("begin", {.when = fails::late, .by = 600ms});
    request impatient = order("k", "body");
    impatient.with.wait = wait_mode::answer;
    std::thread leader{[&] {
        EXPECT_EQ(engine.execute<void>(impatient, [] {}).kind(), outcome_kind::in_progress);
    }};
    ASSERT_TRUE(soon([&] { return script_->questions("begin") == 2; })); // theirs, the leader's
    std::this_thread::sleep_for(100ms); // the store has answered, and the answer is on its way
    script_->well();
    finished_elsewhere(theirs);

    async_call follower{engine, impatient};

    const auto told = follower.get();
    EXPECT_EQ(told.kind, outcome_kind::replayed);
    EXPECT_EQ(told.result.body, "theirs");
    leader.join();
}

// Nothing is known here until the next leader is answered, but nothing is wrong with the store.
TEST_F(Followers, OfALeaderThatHasJustTakenOverAskTheStoreThemselves) {
    auto& engine = make({}, patient());
    const claim theirs = claimed_elsewhere(0s);
    std::optional<owner_id> first;
    std::atomic<bool> next_has_asked = false;
    script_->on_each([&](std::size_t, const command& what) -> std::optional<fault> {
        const auto* begin = std::get_if<commands::begin>(&what);
        if (begin == nullptr) return std::nullopt;
        if (!first) first = begin->owner;
        if (begin->owner == *first) return std::nullopt;
        next_has_asked = true;
        return fault{.when = fails::late, .by = 500ms};
    });
    async_call leader{engine, waiting(1h)};
    std::thread next{[&] { (void)engine.execute<void>(waiting(1h), [] {}).kind(); }};
    ASSERT_TRUE(soon([&] { return engine.counters().waiting == 1; }));
    async_call follower{engine, waiting(1h)};
    leader.cancel();
    ASSERT_TRUE(soon([&] { return next_has_asked.load(); }));

    follower.cancel();

    EXPECT_EQ(follower.get().kind, outcome_kind::in_progress);
    EXPECT_EQ(leader.get().kind, outcome_kind::in_progress);
    script_->well();
    finished_elsewhere(theirs);
    next.join();
}

TEST_F(Followers, OverTheBoundAreNotToldThatSomethingIsInProgressEither) {
    auto options = patient();
    options.limits.waiters_per_key_max = 1;
    auto& engine = make({}, options);
    script_->fail_all("begin", {});
    std::deque<async_call> calls;

    for (int i = 0; i < 3; ++i) calls.emplace_back(engine, waiting(1h));

    EXPECT_EQ(calls[2].get().kind, outcome_kind::unavailable);
    script_->well();
    calls[0].wait_started();
    calls[0].end(answered_with("done"));
    EXPECT_EQ(calls[1].get().kind, outcome_kind::replayed);
}

TEST_F(Followers, HearFromTheStoreWhatHasBecomeOfAnAttemptThatWasTakenOver) {
    auto& engine = make({.lease = 1h});
    async_call leader{engine, waiting(1h)};
    leader.wait_started();
    finished_elsewhere(claimed_elsewhere(2h));

    async_call follower{engine, waiting(30ms)};

    const auto told = follower.get();
    EXPECT_EQ(told.kind, outcome_kind::replayed);
    EXPECT_EQ(told.result.body, "theirs");
    leader.end(answered_with("too late"));
    EXPECT_EQ(leader.get().result.body, "theirs");
}

TEST_F(Followers, TakeTheWordOfALeaseThatTheStoreHasConfirmedMeanwhile) {
    auto& engine = make({.lease = 300ms});
    async_call leader{engine, waiting(1h)};
    leader.wait_started();

    async_call follower{engine, waiting(750ms)};

    EXPECT_EQ(follower.get().kind, outcome_kind::in_progress);
    EXPECT_EQ(script_->questions("begin"), 1U);
    leader.end(answered_with("done"));
}

TEST_F(Followers, AskOnlyOnceAtTheEndOfTheirWait) {
    auto& engine = make({.lease = 1h}, patient());
    async_call leader{engine, waiting(1h)};
    leader.wait_started();
    script_->fail_all("begin", {});

    async_call follower{engine, waiting(20ms)};

    EXPECT_EQ(follower.get().kind, outcome_kind::unavailable);
    EXPECT_EQ(script_->questions("begin"), 2U);
    leader.end(answered_with("done"));
}

} // namespace
} // namespace semel::tests
