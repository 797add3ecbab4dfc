// Callbacks of the user that throw or block: what they do costs no other caller anything.
#include <atomic>
#include <deque>
#include <stdexcept>
#include <stop_token>

#include "async_call.hpp"
#include "support/scripted_transaction.hpp"

namespace semel::tests {
namespace {

using started = unique_function<void(work_end)>;

void never_started(execution&, started) {
    ADD_FAILURE() << "work that must not run has run";
}

// A follower whose `done` throws once it has been told.
void follow_and_throw(engine& on, const request& what, std::atomic<int>& told) {
    on.start(what, never_started, [&](const raw_outcome&) {
        ++told;
        throw std::runtime_error{"not my day"};
    });
}

class Callbacks : public on_every_store {};
SEMEL_ON_EVERY_STORE(Callbacks);

TEST_P(Callbacks, ThatThrowCostNeitherOtherFollowersNorTheBlockingLeaderTheirAnswer) {
    auto& engine = open();
    std::atomic<int> told = 0;
    std::deque<async_call> others;

    const auto out = engine.execute<std::string>(order("k"), [&] {
        follow_and_throw(engine, order("k"), told);
        others.emplace_back(engine, order("k"));
        follow_and_throw(engine, order("k"), told);
        others.emplace_back(engine, order("k"));
        return std::string{"made"};
    });

    EXPECT_TRUE(out.executed());
    for (auto& one : others) EXPECT_EQ(one.get().result.body, "made");
    EXPECT_TRUE(soon([&] { return engine.counters().callbacks_threw == 2; }));
    EXPECT_EQ(told, 2);
    EXPECT_EQ(engine.counters().waiting, 0U);
    EXPECT_EQ(engine.counters().running, 0U);
}

TEST_P(Callbacks, OfALeaderThatThrowCostItsFollowersNothing) {
    auto& engine = open();
    std::promise<started> work;
    engine.start(
        order("k"), [&](execution&, started done) { work.set_value(std::move(done)); },
        [](const raw_outcome&) { throw std::runtime_error{"not my day"}; });
    auto end = work.get_future().get();
    async_call follower{engine, order("k")};

    end(answered_with("made"));

    EXPECT_EQ(follower.get().result.body, "made");
    EXPECT_TRUE(soon([&] { return engine.counters().callbacks_threw == 1; }));
    EXPECT_TRUE(soon([&] { return engine.counters().running == 0; }));
    EXPECT_TRUE(engine.execute<std::string>(order("k"), never).replayed()); // the store goes on
}

class OneCallback : public engine_test {};

TEST_F(OneCallback, AboutAMismatchThatThrowsLeavesTheAnswerAlone) {
    engine_options options;
    options.on_mismatch = [](const mismatch_seen&) { throw std::runtime_error{"not my day"}; };
    auto& engine = make({}, options);
    (void)engine.execute<void>(order("k", "a"), [] {});

    EXPECT_EQ(engine.execute<void>(order("k", "b"), [] {}).kind(), outcome_kind::mismatch);

    EXPECT_EQ(engine.counters().callbacks_threw, 1U);
}

TEST_F(OneCallback, ThatThrowsDoesNotReachTheCallerOfStart) {
    auto& engine = make();
    std::atomic<int> told = 0;

    follow_and_throw(engine, order(""), told); // refused at once

    EXPECT_EQ(told, 1);
    EXPECT_EQ(engine.counters().callbacks_threw, 1U);
}

TEST_F(OneCallback, OfATransactionMayThrowToo) {
    auto& engine = make();
    support::scripted_database database;
    support::scripted_transaction port{database};

    detail::transaction_start{engine, port}(
        order("k"), [](execution&, started done) { done(answered_with("paid")); },
        [](const raw_outcome&) { throw std::runtime_error{"not my day"}; });

    EXPECT_EQ(engine.counters().callbacks_threw, 1U);
    EXPECT_TRUE(database.records.contains(id_of(order("k"))));
}

TEST_F(OneCallback, ThatBlocksKeepsTheNewsFromNoOtherCaller) {
    auto& engine = make();
    async_call leader{engine, order("k")};
    leader.wait_started();
    const auto blocked = std::make_shared<gate>(); // also of the callback, which may end last
    engine.start(order("k"), never_started, [blocked](const raw_outcome&) { blocked->wait(); });
    async_call other{engine, order("k")};

    std::thread worker{[&] { leader.end(answered_with("made")); }};

    EXPECT_TRUE(soon([&] { return leader.answered() && other.answered(); }));
    blocked->open();
    worker.join();
}

TEST_F(OneCallback, ForAStopThatBlocksDelaysNoTimerOfAnotherAttempt) {
    engine_options options;
    options.confirm_max = 20ms;
    auto& engine = make({.lease = 60ms}, options);
    async_call first{engine, order("first")};
    async_call second{engine, order("second")};
    first.wait_started();
    second.wait_started();
    gate blocked;
    std::atomic<bool> stopping = false;
    const std::stop_callback stop{first.stop(), [&] {
                                      stopping = true;
                                      blocked.wait();
                                  }};
    script_->on_each([](std::size_t, const command&) {
        return std::optional<support::fault>{support::fault{}};
    });
    ASSERT_TRUE(soon([&] { return stopping.load(); })); // no renewal has come through

    second.end(answered_with("made"));

    EXPECT_TRUE(soon([&] { return second.answered(); }));
    blocked.open();
    script_->well();
    first.end(answered_with("made"));
    EXPECT_EQ(second.get().kind, outcome_kind::unconfirmed);
}

} // namespace
} // namespace semel::tests
