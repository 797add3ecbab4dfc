#include "engine/lease_keeper.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <utility>

#include "support/manual_runtime.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

// A store that answers renewals when and how the test says.
class renewals final : public store {
public:
    void submit(envelope what, completion done) override {
        asked.push_back({std::get<commands::renew>(what.what), std::move(done)});
        if (answering) answer(answers::renewed{.lease_until = now + asked.back().what.lease});
    }
    void answer(semel::answer with) { take()(reply{.said = std::move(with), .now = now}); }
    void fail(failure why) { take()(std::move(why)); }

    result<sweep_report> sweep(const sweep_request&) override { return sweep_report{}; }
    result<std::vector<audit_entry>> audit(const record_id&) override {
        return std::vector<audit_entry>{};
    }
    result<record_page> search(const record_query&) override { return record_page{}; }
    [[nodiscard]] store_traits traits() const override { return {}; }

    struct question {
        commands::renew what;
        completion done;
    };
    std::deque<question> asked;
    int answered = 0;
    bool answering = false;
    time_point now{std::chrono::hours{24 * 365 * 50}};

private:
    completion take() {
        ++answered;
        auto done = std::move(asked.front().done);
        asked.pop_front();
        return done;
    }
};

class LeaseKeeper : public testing::Test {
protected:
    LeaseKeeper() { keeper_.bind(alive_); }

    std::shared_ptr<lease> add(duration term = 30s) {
        auto one = std::make_shared<lease>();
        one->id = &id_;
        one->hash = ++hash_;
        one->by = {.fence = hash_, .owner = {.low = 1}};
        one->term = term;
        one->sent_at = time_.now();
        one->granted = term;
        keeper_.add(one);
        return one;
    }
    bool stopped(const std::shared_ptr<lease>& one) {
        return keeper_.stop_token(*one).stop_requested();
    }

    const record_id id_{"t", "o", "k"};
    std::uint64_t hash_ = 0;
    support::manual_runtime time_;
    renewals store_;
    std::shared_ptr<int> alive_ = std::make_shared<int>(0);
    lease_keeper keeper_{store_, time_};
};

TEST_F(LeaseKeeper, RenewsAtAThirdOfTheLease) {
    const auto one = add(30s);

    time_.pass(10s - 1us);
    EXPECT_TRUE(store_.asked.empty());
    time_.pass(1us);

    ASSERT_EQ(store_.asked.size(), 1U);
    EXPECT_EQ(store_.asked.front().what.by, one->by);
    EXPECT_EQ(store_.asked.front().what.lease, 30s);
}

TEST_F(LeaseKeeper, KeepsALeaseForEverWhileRenewalsAreConfirmed) {
    store_.answering = true;
    const auto one = add(30s);

    time_.pass(1h);

    EXPECT_FALSE(stopped(one));
    EXPECT_EQ(store_.answered, 360);
    EXPECT_EQ(keeper_.lost(), 0U);
}

TEST_F(LeaseKeeper, R_28_LosesALeaseWhoseRenewalIsRefused) {
    const auto one = add(30s);
    const auto other = add(30s);
    const auto token = keeper_.stop_token(*one);
    time_.pass(10s);

    store_.answer(answers::fenced_off{});
    EXPECT_FALSE(token.stop_requested()) << "not on the store's or the keeper's thread";
    time_.run_posted();

    EXPECT_TRUE(stopped(one));
    EXPECT_FALSE(stopped(other));
    EXPECT_EQ(keeper_.lost(), 1U);
}

TEST_F(LeaseKeeper, LosesALeaseThatMayNotBeKeptAliveAnyLonger) {
    const auto one = add(30s);
    time_.pass(10s);

    store_.answer(answers::not_renewed{});
    time_.run_posted();

    EXPECT_TRUE(stopped(one));
}

TEST_F(LeaseKeeper, R_28_LosesALeaseWhoseRenewalIsUnansweredByTheEndLessAMargin) {
    const auto one = add(30s);

    time_.pass(27s - 1us);
    EXPECT_FALSE(stopped(one));
    time_.pass(1us);

    EXPECT_TRUE(stopped(one));
}

TEST_F(LeaseKeeper, ALateAnswerDoesNotBringALeaseBack) {
    const auto one = add(30s);
    time_.pass(27s);

    store_.answer(answers::renewed{.lease_until = store_.now + 30s});
    time_.pass(1h);

    EXPECT_TRUE(store_.asked.empty());
    EXPECT_EQ(keeper_.lost(), 1U);
}

TEST_F(LeaseKeeper, CountsARenewedLeaseFromWhenTheQuestionLeft) {
    const auto one = add(30s);
    time_.pass(10s);
    time_.pass(15s);

    store_.answer(answers::renewed{.lease_until = store_.now + 30s});

    time_.pass(12s - 1us); // 10 s + 27 s
    EXPECT_FALSE(stopped(one));
    time_.pass(1us);
    EXPECT_TRUE(stopped(one));
}

TEST_F(LeaseKeeper, TellsOnceWhenAnEndIsOverdueAlsoWithoutALease) {
    int told = 0;
    const auto early = add(30s);
    const auto late = add(30s);
    const auto lost = add(1s);
    time_.pass(2s);
    keeper_.expect_end(*early, time_.now() + 5s, [&] { told += 1; });
    keeper_.expect_end(*late, time_.now() + 5s, [&] { told += 10; });
    keeper_.expect_end(*lost, time_.now() + 5s, [&] { told += 100; });

    time_.pass(4s);
    keeper_.remove(*early);
    EXPECT_EQ(told, 0);
    time_.pass(1s);
    EXPECT_EQ(told, 110);
    time_.pass(1h);
    EXPECT_EQ(told, 110);
}

TEST_F(LeaseKeeper, StopsInTimeWhereTheStoreGrantedLess) {
    const auto one = add(30s);
    time_.pass(10s);

    store_.answer(answers::renewed{.lease_until = store_.now + 12s});
    time_.pass(9s);

    EXPECT_TRUE(stopped(one));
}

TEST_F(LeaseKeeper, AsksAgainSoonWhileTheStoreIsAwayAndStopsInTime) {
    const auto one = add(30s);
    time_.pass(10s);

    store_.fail({.code = errc::unavailable});
    time_.pass(3s);
    ASSERT_EQ(store_.asked.size(), 1U);
    for (int i = 0; i < 4; ++i) {
        store_.fail({.code = errc::unavailable});
        time_.pass(3s);
    }
    EXPECT_FALSE(stopped(one));
    store_.fail({.code = errc::unavailable}); // the next try would come after the end
    const auto other = add(1s);               // and another tick comes before it
    keeper_.remove(*other);
    time_.pass(2s);

    EXPECT_TRUE(stopped(one));
}

TEST_F(LeaseKeeper, ForgetsAnAttemptThatIsOver) {
    const auto one = add(30s);
    const auto other = add(30s);

    keeper_.remove(*one);
    keeper_.remove(*one);
    time_.pass(10s);

    ASSERT_EQ(store_.asked.size(), 1U);
    EXPECT_EQ(store_.asked.front().what.by, other->by);
    EXPECT_EQ(one.use_count(), 1);
}

TEST_F(LeaseKeeper, GivesUpAllLeasesWhenTheEngineEnds) {
    const auto one = add(30s);

    keeper_.clear();
    time_.pass(1h);

    EXPECT_TRUE(stopped(one));
    EXPECT_TRUE(store_.asked.empty());
    EXPECT_EQ(one.use_count(), 1);
}

TEST_F(LeaseKeeper, TheTokenOfALeaseThatWasLostBeforeAnybodyAskedIsStopped) {
    const auto one = add(30s);
    EXPECT_FALSE(keeper_.has_lost(*one));
    time_.pass(27s);

    EXPECT_TRUE(keeper_.stop_token(*one).stop_requested());
    EXPECT_TRUE(keeper_.has_lost(*one));
}

TEST_F(LeaseKeeper, TheTokenOfALeaseThatWasLostBeforeTheEngineEndedIsStopped) {
    const auto one = add(30s);
    time_.pass(27s);

    keeper_.clear();
    time_.run_posted();

    EXPECT_TRUE(stopped(one));
    EXPECT_EQ(keeper_.lost(), 1U);
}

TEST_F(LeaseKeeper, KnowsALeaseThatEndedWhileTheMachineSlept) {
    const auto one = add(30s);
    const auto other = add(30s);
    time_.sleep(27s - 1us);
    EXPECT_FALSE(keeper_.has_lost(*one));
    EXPECT_FALSE(stopped(other));

    time_.sleep(1us);

    EXPECT_TRUE(keeper_.has_lost(*one));
    EXPECT_TRUE(stopped(other));
    EXPECT_EQ(keeper_.lost(), 2U);
    time_.pass(1h);
    EXPECT_TRUE(store_.asked.empty());
    EXPECT_EQ(keeper_.lost(), 2U);
}

TEST_F(LeaseKeeper, ATokenThatWasGivenBeforeTheMachineSleptFiresOnTheCallbackThread) {
    const auto one = add(30s);
    const auto token = keeper_.stop_token(*one);
    time_.sleep(27s);

    EXPECT_TRUE(stopped(one)) << "a new look need not wait for the callback thread";
    EXPECT_FALSE(token.stop_requested());
    time_.run_posted();

    EXPECT_TRUE(token.stop_requested());
}

TEST_F(LeaseKeeper, WhoHasHeardThatALeaseIsLostNeverHearsOtherwise) {
    const auto one = add(30s);
    time_.pass(10s);
    time_.sleep(17s);
    EXPECT_TRUE(keeper_.has_lost(*one));

    store_.answer(answers::renewed{.lease_until = store_.now + 30s});

    EXPECT_TRUE(keeper_.has_lost(*one));
    EXPECT_TRUE(stopped(one));
}

TEST_F(LeaseKeeper, DoesNothingOnceTheEngineIsGone) {
    const auto one = add(30s);
    const auto token = keeper_.stop_token(*one);

    alive_.reset();
    time_.pass(1h);

    EXPECT_TRUE(store_.asked.empty());
    EXPECT_FALSE(token.stop_requested());
}

TEST_F(LeaseKeeper, ALeaseWithAnEarlierEndIsLookedAtInTime) {
    store_.answering = true;
    const auto slow = add(30s);
    const auto quick = add(3s);

    time_.pass(1s);

    EXPECT_EQ(store_.answered, 1);
    time_.pass(9s);
    EXPECT_EQ(store_.answered, 10 + 1);
}

TEST_F(LeaseKeeper, TicksDoNotMultiply) {
    store_.answering = true;
    const auto steady = add(30s);

    // Short work comes and goes, also with shorter leases, so that ticks are planned anew.
    for (int i = 0; i < 2000; ++i) {
        const auto one = add(i % 7 == 0 ? 3s : 30s);
        time_.pass(100ms);
        keeper_.remove(*one);
    }

    EXPECT_LE(time_.timers(), 16U);
    EXPECT_EQ(keeper_.lost(), 0U);
}

} // namespace
} // namespace semel
