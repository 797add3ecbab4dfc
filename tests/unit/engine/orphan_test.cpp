// The search for a claim whose begin was given up, step by step.
#include <gtest/gtest.h>

#include "core/orphan_machine.hpp"
#include "semel/core/record.hpp"
#include "support/noon.hpp"

namespace semel {
namespace {

using namespace std::chrono_literals;
class OrphanMachine : public testing::Test {
protected:
    using last_seen = orphan_steps::gave_up::last_seen;
    static constexpr local_time start{std::chrono::hours{1}};
    static constexpr owner_id owner{.high = 1, .low = 2};
    static constexpr owner_id other{.high = 3, .low = 4};

    static reply seen(std::optional<record> it) {
        return {.said = answers::found{.current = std::move(it)}, .now = test::noon};
    }
    static record claimed(owner_id by, std::uint32_t attempts = 1) {
        record made;
        made.state = record_state::processing;
        made.holder = {.fence = 5, .owner = by};
        made.lease_until = test::noon + 30s;
        made.attempts = attempts;
        return made;
    }
    template <class Step> static const Step* as(const orphan_step& step) {
        return std::get_if<Step>(&step);
    }

    orphan_machine machine_{{.owner = owner,
                             .look_until = start + 60s,
                             .looks = {.first = 100ms, .last = 10s},
                             .seed = 42}};
};

TEST_F(OrphanMachine, LooksAfterAMomentAndOnlyReads) {
    const auto first = machine_.start(start);

    ASSERT_NE(as<orphan_steps::wait>(first), nullptr);
    EXPECT_LE(as<orphan_steps::wait>(first)->until, start + 100ms);
    const auto next = machine_.on_timer(start + 100ms);
    ASSERT_NE(as<orphan_steps::ask>(next), nullptr);
    EXPECT_TRUE(std::holds_alternative<commands::lookup>(as<orphan_steps::ask>(next)->what));
}

TEST_F(OrphanMachine, FindsItsClaimWithWhatItHasReplaced) {
    const auto step = machine_.on_reply(seen(claimed(owner, 3)), start);

    ASSERT_NE(as<orphan_steps::found>(step), nullptr);
    const answers::started& claim = as<orphan_steps::found>(step)->claim;
    EXPECT_EQ(claim.by, (semel::claim{.fence = 5, .owner = owner}));
    ASSERT_NE(claim.replaced, nullptr);
    EXPECT_EQ(claim.replaced->attempts, 2U);
}

TEST_F(OrphanMachine, LeavesTheClaimsOfOthersAndFinishedRecordsAlone) {
    record finished = claimed(owner);
    finished.state = record_state::succeeded;
    for (const auto& one : {seen(claimed(other)), seen(finished), seen(std::nullopt)}) {
        const auto step = machine_.on_reply(one, start);
        EXPECT_NE(as<orphan_steps::wait>(step), nullptr);
    }
}

TEST_F(OrphanMachine, LeavesTheClaimThatWasRunAlone) {
    orphan_machine after_work{{.owner = owner, .ran = 5, .look_until = start + 60s}};
    record later = claimed(owner);
    later.holder.fence = 6;

    EXPECT_NE(as<orphan_steps::wait>(after_work.on_reply(seen(claimed(owner)), start)), nullptr);
    EXPECT_NE(as<orphan_steps::found>(after_work.on_reply(seen(later), start)), nullptr);
}

TEST_F(OrphanMachine, GoesOnLookingSinceABeginMayArriveLate) {
    local_time now = start;
    int looks = 0;
    auto step = machine_.start(now);
    while (const auto* pause = as<orphan_steps::wait>(step)) {
        now = pause->until;
        ++looks;
        ASSERT_NE(as<orphan_steps::ask>(machine_.on_timer(now)), nullptr);
        step = machine_.on_reply(seen(std::nullopt), now);
    }

    ASSERT_NE(as<orphan_steps::gave_up>(step), nullptr);
    EXPECT_EQ(as<orphan_steps::gave_up>(step)->as, last_seen::absent);
    EXPECT_GT(now, start + 50s);
    EXPECT_GT(looks, 8);
    EXPECT_LT(looks, 30);
}

TEST_F(OrphanMachine, GoesOnLookingForTheClaimsOfBeginsThatWereSentAgain) {
    const reply first = seen(claimed(owner, 3));
    EXPECT_NE(as<orphan_steps::found>(machine_.on_reply(first, start)), nullptr);
    EXPECT_NE(as<orphan_steps::wait>(machine_.on_given_back(start + 1s)), nullptr);
    record again = claimed(owner, 3);
    again.holder.fence = 6;

    // What is given back keeps the holder.
    EXPECT_NE(as<orphan_steps::wait>(machine_.on_reply(first, start + 2s)), nullptr);
    EXPECT_NE(as<orphan_steps::found>(machine_.on_reply(seen(again), start + 3s)), nullptr);
    machine_.hurry(start + 5s);
    EXPECT_NE(as<orphan_steps::gave_up>(machine_.on_given_back(start + 4s)), nullptr);
}

// The look was sent, the process paused, the begin arrived, and the answer is older than the claim.
TEST_F(OrphanMachine, EndsWithALookThatWasSentAtTheEndOrLater) {
    const local_time after = start + 61s;
    (void)machine_.start(start);
    (void)machine_.on_timer(start + 100ms);

    const auto old = machine_.on_reply(seen(std::nullopt), after);

    ASSERT_NE(as<orphan_steps::wait>(old), nullptr);
    EXPECT_EQ(as<orphan_steps::wait>(old)->until, after);
    ASSERT_NE(as<orphan_steps::ask>(machine_.on_timer(after)), nullptr);
    ASSERT_NE(as<orphan_steps::found>(machine_.on_reply(seen(claimed(owner)), after)), nullptr);
    const auto over = machine_.on_given_back(after);
    ASSERT_NE(as<orphan_steps::gave_up>(over), nullptr);
    EXPECT_EQ(as<orphan_steps::gave_up>(over)->as, last_seen::absent);
}

TEST_F(OrphanMachine, SaysIfTheStoreWasAwayToTheEnd) {
    (void)machine_.on_reply(seen(std::nullopt), start);

    const auto step = machine_.on_failure(start + 60s);

    ASSERT_NE(as<orphan_steps::gave_up>(step), nullptr);
    EXPECT_EQ(as<orphan_steps::gave_up>(step)->as, last_seen::unknown);
}

TEST_F(OrphanMachine, InAHurryTheNextAnswerDecides) {
    machine_.hurry(start + 5s);

    EXPECT_NE(as<orphan_steps::ask>(machine_.start(start)), nullptr);
    EXPECT_NE(as<orphan_steps::wait>(machine_.on_failure(start + 1s)), nullptr);
    const auto over = machine_.on_reply(seen(std::nullopt), start + 2s);
    EXPECT_NE(as<orphan_steps::gave_up>(over), nullptr);
    EXPECT_NE(as<orphan_steps::gave_up>(machine_.on_failure(start + 5s)), nullptr);
}

} // namespace
} // namespace semel
