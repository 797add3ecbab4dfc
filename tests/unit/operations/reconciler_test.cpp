#include "semel/log.hpp"
#include "semel/operations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "operations/chore_claim.hpp"
#include "operations/reconcile_pass.hpp"
#include "semel/store/memory.hpp"
#include "support/forked.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;

constexpr time_point noon{std::chrono::hours{24 * 365 * 50}};

record_id id_of(std::string key) {
    return {.tenant = "acme", .operation = "PAY", .key = std::move(key)};
}

class Reconciler : public ::testing::Test {
protected:
    // Begun at noon with a lease of half a minute; its owner never comes back.
    std::uint64_t abandon(const std::string& key, lease_expiry policy = lease_expiry::probe,
                          std::uint32_t attempts_max = 100) {
        const auto got = store_->call(
            id_of(key),
            commands::begin{
                .owner = {1, 1},
                .lease = 30s,
                .policy = {.on_lease_expiry = policy, .attempts_max = attempts_max, .grace = 0s}},
            noon);
        return std::get<answers::started>(got.value().said).by.fence;
    }

    reconciler_options options(duration later) {
        reconcile_rule rule;
        rule.probe = [this](const found_record& about) -> probe_answer {
            asked_.push_back(about.id.key);
            return answer_;
        };
        return {.operations = {{"PAY", rule}},
                .probes_at_once = 1,
                .on_alert = [this](const alert& one) { alerts_.push_back(one); },
                .now = noon + 30s + later};
    }
    reconcile_report pass(duration later) {
        return reconciler{*store_, options(later)}.pass().value();
    }
    std::optional<record> look(const std::string& key, duration later) {
        const auto got = store_->call(id_of(key), commands::lookup{}, noon + 30s + later);
        return std::get<answers::found>(got.value().said).current;
    }

    std::unique_ptr<store> store_ = open_memory_store();
    probe_answer answer_ = probes::committed{{.body = "paid", .type = "text/plain"}};
    std::vector<std::string> asked_;
    std::vector<alert> alerts_;
};

TEST_F(Reconciler, IsRefusedAndMayBeDestroyedInAForkedChild) {
    auto mine = std::make_unique<reconciler>(*store_, options(1min));
    mine->start();

    const auto child = testing_support::said_by_child([&] {
        const auto got = mine->pass();
        mine->stop();
        mine.reset();
        return got ? "passed" : describe(got.error());
    });

    EXPECT_NE(child.find("the reconciler was opened before fork()"), std::string::npos) << child;
    EXPECT_TRUE(mine->pass());
}

TEST_F(Reconciler, LeavesWhatIsNotStuckLongEnough) {
    abandon("k");

    EXPECT_EQ(pass(4min).stuck, 0);
    EXPECT_TRUE(asked_.empty());
    EXPECT_TRUE(alerts_.empty());
}

TEST_F(Reconciler, TellsOnceAfterFiveMinutes) {
    abandon("a");
    abandon("b");

    const auto first = pass(6min);
    const auto second = pass(7min);

    EXPECT_EQ(first.alerted, 2);
    EXPECT_EQ(second.alerted, 0);
    ASSERT_EQ(alerts_.size(), 1);
    EXPECT_EQ(alerts_[0].operation, "PAY");
    EXPECT_EQ(alerts_[0].count, 2);
    EXPECT_EQ(alerts_[0].oldest, 6min);
    EXPECT_EQ(alerts_[0].summary, "2 records of PAY are stuck, the oldest for 6 min");
    EXPECT_TRUE(asked_.empty());
}

TEST_F(Reconciler, TellsOfOneRecordInTheSingular) {
    abandon("a");

    (void)pass(6min);

    ASSERT_EQ(alerts_.size(), 1);
    EXPECT_EQ(alerts_[0].summary, "1 record of PAY is stuck, for 6 min");
    EXPECT_EQ(alerts_[0].key, log_key("a"));
    EXPECT_FALSE(alerts_[0].tenant.empty());
}

TEST_F(Reconciler, StoresWhatTheProbeSaysAfterTenMinutes) {
    const auto fence = abandon("k");

    const auto did = pass(10min);

    EXPECT_EQ(did.committed, 1);
    EXPECT_TRUE(alerts_.empty()) << "settled: nobody needs to look";
    const auto now = look("k", 11min);
    ASSERT_TRUE(now);
    EXPECT_EQ(now->state, record_state::succeeded);
    EXPECT_EQ(now->result.body, "paid");
    EXPECT_TRUE(holds(now->result));
    const auto trail = store_->audit(id_of("k")).value();
    ASSERT_EQ(trail.size(), 1);
    EXPECT_EQ(trail[0].actor, "reconciler");
    EXPECT_EQ(trail[0].act, "resolve: committed");
    EXPECT_EQ(trail[0].fence, fence);
    EXPECT_EQ(trail[0].from, record_state::processing);
    EXPECT_EQ(trail[0].to, record_state::succeeded);
}

TEST_F(Reconciler, MakesWhatWasNotExecutedFreeToRunAgain) {
    abandon("k");
    answer_ = probes::not_executed{};

    EXPECT_EQ(pass(10min).not_executed, 1);

    EXPECT_EQ(look("k", 11min)->state, record_state::failed_retryable);
}

TEST_F(Reconciler, AsksAgainLaterAndLaterWhereNobodyKnows) {
    abandon("k");
    answer_ = probes::unknown{};

    EXPECT_EQ(pass(10min).unknown, 1);
    EXPECT_EQ(pass(10min + 29s).asked, 0);
    EXPECT_EQ(pass(10min + 30s).unknown, 1);
    EXPECT_EQ(pass(11min + 29s).asked, 0);
    EXPECT_EQ(pass(11min + 30s).unknown, 1);

    EXPECT_EQ(alerts_.size(), 1) << "somebody should know";
    EXPECT_EQ(look("k", 12min)->state, record_state::processing);
}

TEST_F(Reconciler, AProbeThatThrowsDoesNotKnow) {
    abandon("k");
    auto with = options(10min);
    with.operations["PAY"].probe = [](const found_record&) -> probe_answer {
        throw std::runtime_error("no route to the bank");
    };

    EXPECT_EQ((reconciler{*store_, with}.pass().value().unknown), 1);
}

TEST_F(Reconciler, LeavesHeldRecordsToAnOperatorAndOthersToTheirClients) {
    abandon("held", lease_expiry::hold);
    abandon("retried", lease_expiry::retry);

    const auto did = pass(1h);

    EXPECT_EQ(did.left, 2);
    EXPECT_EQ(did.alerted, 2);
    EXPECT_TRUE(asked_.empty());
}

TEST_F(Reconciler, AsksAboutWhatHasUsedItsAttemptsUp) {
    abandon("poison", lease_expiry::retry, 1);
    abandon("held", lease_expiry::hold, 1);

    const auto did = pass(10min);

    EXPECT_EQ(asked_, std::vector<std::string>{"poison"});
    EXPECT_EQ(did.committed, 1);
    EXPECT_EQ(look("poison", 11min)->state, record_state::succeeded);
}

TEST_F(Reconciler, DoesNotAskWhileAnotherInstanceDoes) {
    abandon("k");
    auto with = options(10min);
    with.operations["PAY"].probe = [&](const found_record&) -> probe_answer {
        EXPECT_EQ(pass(10min).asked, 0) << "the other instance, at the same time";
        return probes::committed{{.body = "first"}};
    };

    EXPECT_EQ((reconciler{*store_, with}.pass().value().committed), 1);

    EXPECT_TRUE(asked_.empty());
    EXPECT_EQ(store_->audit(id_of("k")).value().size(), 1);
}

TEST_F(Reconciler, AVerdictThatComesTooLateIsDropped) {
    const auto fence = abandon("k");
    auto with = options(10min);
    with.operations["PAY"].probe = [&](const found_record&) -> probe_answer {
        const auto said = store_->call(id_of("k"),
                                       commands::resolve{.expected_fence = fence,
                                                         .retention = 1h,
                                                         .actor = "anna",
                                                         .reason = "asked the bank"},
                                       noon + 11min);
        EXPECT_TRUE(said);
        return probes::committed{{.body = "late"}};
    };

    const auto did = reconciler{*store_, with}.pass().value();

    EXPECT_EQ(did.late, 1);
    EXPECT_EQ(did.committed, 0);
    EXPECT_EQ(look("k", 12min)->state, record_state::failed_retryable);
    EXPECT_EQ(store_->audit(id_of("k")).value().size(), 1);
}

TEST_F(Reconciler, NeverReconcilesItsOwnClaims) {
    abandon("k");
    answer_ = probes::unknown{};
    static_cast<void>(pass(10min));

    // Its claims of an instance that died in the middle of a question.
    const record_id own = chore_id("ask", {id_of("other"), {}});
    ASSERT_TRUE(store_->call(own, commands::begin{.owner = {1, 1}, .lease = 30s}, noon));

    EXPECT_TRUE(is_chore(own));
    EXPECT_EQ(pass(10min + 1s).stuck, 1);
}

TEST_F(Reconciler, EachOperationHasItsOwnTimes) {
    abandon("k");
    auto with = options(2min);
    with.operations["PAY"].alert_after = 1min;
    with.operations["PAY"].settle_after = 2min;

    EXPECT_EQ((reconciler{*store_, with}.pass().value().committed), 1);
}

TEST_F(Reconciler, RunsOnAThreadOfItsOwnUntilItIsStopped) {
    abandon("k");
    auto with = options(10min);
    with.every = 1h; // the first pass is at once
    reconciler it{*store_, with};

    it.start();
    while (it.counts().passes == 0) std::this_thread::yield();
    it.stop();

    EXPECT_EQ(it.counts().sum.committed, 1);
    EXPECT_EQ(it.counts().stuck_now, 1);
}

TEST_F(Reconciler, RefusesTimesThatMakeNoSense) {
    EXPECT_THROW((reconciler{*store_, {.every = 0s}}), failure_error);
    EXPECT_THROW((reconciler{*store_, {.defaults = {.alert_after = -1s}}}), failure_error);
}

TEST(AskAgain, DoublesUpToItsMaximum) {
    const reconciler_options with{.ask_again = 30s, .ask_again_max = 10min};

    EXPECT_EQ(ask_again_after(with, 1), 30s);
    EXPECT_EQ(ask_again_after(with, 2), 1min);
    EXPECT_EQ(ask_again_after(with, 5), 8min);
    EXPECT_EQ(ask_again_after(with, 6), 10min);
    EXPECT_EQ(ask_again_after(with, 4'000'000'000), 10min);
}

} // namespace
} // namespace semel
