#include "store/lane.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace semel {
namespace {

// Notes each batch as the keys in it, with a mark before those of running attempts.
class scripted_backend final : public batch_backend {
public:
    void execute(std::span<job* const> batch) override {
        std::vector<std::string> keys;
        for (job* one : batch) {
            keys.push_back((of_running_attempt(one->what) ? "!" : "") + one->id.key);
            throw_for(one->id.key);
            if (one->id.key == "bad") {
                one->answer = failure{.code = errc::conflict};
            } else {
                one->answer = reply{.said = answers::kept{}};
            }
        }
        batches.push_back(std::move(keys));
        if (meanwhile) std::exchange(meanwhile, nullptr)();
    }

    std::vector<std::vector<std::string>> batches;
    std::function<void()> meanwhile; // runs once, while a batch is being executed

private:
    static void throw_for(const std::string& key) {
        if (key == "no memory") throw std::bad_alloc{};
        if (key == "no luck") throw std::runtime_error{"no luck"};
        if (key == "no name") throw 13;
    }
};

using batches = std::vector<std::vector<std::string>>;

class Lane : public testing::Test {
protected:
    explicit Lane(lane_options options = {}) : lane{backend, [this] { ++wakes; }, options} {}
    ~Lane() override { drain(); }

    void submit(std::string key, command what = commands::lookup{}) {
        lane.submit({.id = {"t", "o", key}, .what = std::move(what)},
                    [this, key](result<reply> got) {
                        answered.push_back(key);
                        if (!got) failures.push_back(got.error().code);
                    });
    }
    void drain() {
        while (lane.pump()) {
        }
    }

    scripted_backend backend;
    int wakes = 0;
    std::vector<std::string> answered;
    std::vector<errc> failures;
    batch_lane lane;
};

class NarrowLane : public Lane {
protected:
    NarrowLane() : Lane({.queue_max = 3, .batch_max = 2}) {}
};

// A base, so that they are made before the lane and outlive it.
struct counters_of_lane {
    store_counters counters;
};

class CountedLane : protected counters_of_lane, public Lane {
protected:
    CountedLane() : Lane({.queue_max = 3, .batch_max = 2, .counters = &counters}) {}
};

TEST_F(CountedLane, CountsWhatWaitsAndWhatIsRefused) {
    for (const char* key : {"a", "b", "c", "d"}) submit(key, commands::begin{});
    EXPECT_EQ(counters.queued, 3U);
    EXPECT_EQ(counters.refused, 1U);

    drain();

    EXPECT_EQ(counters.queued, 0U);
}

class LightLane : public Lane {
protected:
    // Room for two small commands in a batch and four in the queue.
    LightLane()
        : Lane({.queue_bytes_max = 4 * weight({"t", "o", "a"}, commands::lookup{}),
                .batch_bytes_max = 2 * weight({"t", "o", "a"}, commands::lookup{})}) {}
};

TEST_F(Lane, TakesAllThatWaitAsOneBatch) {
    submit("a");
    submit("b");
    submit("c");

    EXPECT_FALSE(lane.pump());

    EXPECT_EQ(backend.batches, (batches{{"a", "b", "c"}}));
}

TEST_F(Lane, AsksForPumpOncePerBurst) {
    submit("a");
    submit("b");

    EXPECT_EQ(wakes, 1);
    drain();
    submit("c");
    EXPECT_EQ(wakes, 2);
}

TEST_F(Lane, PumpWithoutWorkExecutesNothing) {
    EXPECT_FALSE(lane.pump());

    EXPECT_TRUE(backend.batches.empty());
}

TEST_F(Lane, JobsComeSortedByRecordId) {
    submit("c");
    submit("a");
    submit("b");

    drain();

    EXPECT_EQ(backend.batches, (batches{{"a", "b", "c"}}));
}

TEST_F(Lane, RecordOccursOncePerBatchAndKeepsItsOrder) {
    submit("a", commands::purge{});
    submit("b");
    submit("a", commands::remove{});
    submit("a", commands::lookup{});

    EXPECT_TRUE(lane.pump());
    EXPECT_TRUE(lane.pump());
    EXPECT_FALSE(lane.pump());

    EXPECT_EQ(backend.batches, (batches{{"a", "b"}, {"a"}, {"a"}}));
}

TEST_F(Lane, LaterRecordsPassARepeat) {
    submit("a");
    submit("a");
    submit("b");

    drain();

    EXPECT_EQ(backend.batches, (batches{{"a", "b"}, {"a"}}));
}

TEST_F(Lane, RunningAttemptsPassWaitingBegins) {
    submit("a", commands::begin{});
    submit("a", commands::complete{});

    drain();

    EXPECT_EQ(backend.batches, (batches{{"!a"}, {"a"}}));
}

TEST_F(NarrowLane, RunningAttemptsAreTakenFirst) {
    submit("a", commands::begin{});
    submit("b", commands::begin{});
    submit("x", commands::complete{});
    submit("y", commands::renew{});

    drain();

    EXPECT_EQ(backend.batches, (batches{{"!x", "!y"}, {"a", "b"}}));
}

TEST_F(NarrowLane, BatchesAreBoundedInCount) {
    submit("a");
    submit("b");
    submit("c");

    drain();

    EXPECT_EQ(backend.batches, (batches{{"a", "b"}, {"c"}}));
}

TEST_F(NarrowLane, FullQueueRefusesBeginsAtOnceAndCounts) {
    for (const char* key : {"a", "b", "c"}) submit(key, commands::begin{});

    submit("d", commands::begin{});
    submit("e", commands::lookup{});

    EXPECT_EQ(answered, (std::vector<std::string>{"d", "e"}));
    EXPECT_EQ(failures, (std::vector{errc::overloaded, errc::overloaded}));
    EXPECT_EQ(lane.refused(), 2U);
    EXPECT_EQ(lane.waiting(), 3U);
}

TEST_F(NarrowLane, FullQueueRefusesBlockingCallers) {
    for (const char* key : {"a", "b", "c"}) submit(key);

    const auto got = lane.call({"t", "o", "d"}, commands::begin{}, {});

    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().code, errc::overloaded);
    EXPECT_EQ(got.error().possible, effect::none);
}

TEST_F(NarrowLane, FullQueueNeverRefusesARunningAttempt) {
    for (const char* key : {"a", "b", "c"}) submit(key);
    const std::vector<command> owners{commands::complete{}, commands::fail{},
                                      commands::release{},  commands::abandon{},
                                      commands::renew{},    commands::checkpoint{}};

    for (const auto& what : owners) submit("x", what);

    EXPECT_TRUE(failures.empty());
    EXPECT_EQ(lane.waiting(), 3 + owners.size());
}

TEST_F(NarrowLane, TakesBeginsAgainOnceThereIsRoom) {
    for (const char* key : {"a", "b", "c", "d"}) submit(key);
    drain();
    answered.clear();
    failures.clear();

    submit("d");
    drain();

    EXPECT_EQ(answered, (std::vector<std::string>{"d"}));
    EXPECT_TRUE(failures.empty());
}

TEST_F(LightLane, BatchesAreBoundedInBytes) {
    for (const char* key : {"a", "b", "c"}) submit(key);

    drain();

    EXPECT_EQ(backend.batches, (batches{{"a", "b"}, {"c"}}));
}

TEST_F(LightLane, CommandLargerThanABatchGoesAlone) {
    commands::complete large;
    large.result.body.assign(100'000, 'x');
    submit("a", large);
    submit("b", commands::complete{});

    drain();

    EXPECT_EQ(backend.batches, (batches{{"!a"}, {"!b"}}));
}

// A command that a batch has no room left for, and that a small one behind it would fit into.
commands::complete large_completion() {
    commands::complete made;
    made.result.body.assign(weight({"t", "o", "a"}, commands::lookup{}) / 2, 'x');
    return made;
}

TEST_F(LightLane, CallersDoNotPassACompletionThatFoundNoRoom) {
    submit("a", commands::complete{});
    submit("b", large_completion());
    submit("b", commands::remove{});
    submit("b", commands::lookup{});

    drain();

    EXPECT_EQ(backend.batches, (batches{{"!a"}, {"!b"}, {"b"}, {"b"}}));
}

TEST_F(LightLane, CallersOfOtherRecordsTakeTheRoomThatACompletionLeaves) {
    submit("a", commands::complete{});
    submit("b", large_completion());
    submit("c", commands::lookup{});

    drain();

    EXPECT_EQ(backend.batches, (batches{{"!a", "c"}, {"!b"}}));
}

TEST_F(NarrowLane, CallersDoNotPassACompletionBehindManyRepeats) {
    for (int i = 0; i < 9; ++i) submit("a", commands::checkpoint{});
    submit("b", commands::complete{});

    submit("b", commands::remove{});
    drain();

    const auto at = [&](const std::string& key) {
        const auto holds = [&](const auto& one) { return std::ranges::count(one, key) > 0; };
        return std::ranges::find_if(backend.batches, holds) - backend.batches.begin();
    };
    EXPECT_LT(at("!b"), at("b"));
}

TEST_F(LightLane, QueueIsBoundedInBytes) {
    for (const char* key : {"a", "b", "c", "d"}) submit(key);

    submit("e");

    EXPECT_EQ(failures, (std::vector{errc::overloaded}));
}

TEST_F(LightLane, BytesAreGivenBackWhenABatchIsTaken) {
    for (int round = 0; round < 5; ++round) {
        for (const char* key : {"a", "b", "c", "d"}) submit(key);
        drain();
    }

    EXPECT_TRUE(failures.empty());
    EXPECT_EQ(answered.size(), 20U);
}

TEST_F(Lane, EveryCommandSucceedsOrFailsAlone) {
    submit("a");
    submit("bad");
    submit("c");

    drain();

    EXPECT_EQ(answered.size(), 3U);
    EXPECT_EQ(failures, (std::vector{errc::conflict}));
}

TEST_F(Lane, BackendThatThrowsLeavesThoseItHasNotAnsweredInDoubt) {
    submit("a");
    submit("no luck");
    submit("z");

    drain();

    EXPECT_EQ(answered.size(), 3U);
    EXPECT_EQ(failures, (std::vector{errc::internal, errc::internal}));
}

TEST_F(Lane, BlockingCallerIsToldWhatTheBackendThrew) {
    const auto failure_for = [&](const char* key) {
        return describe(lane.call({"t", "o", key}, commands::begin{}, {}).error());
    };

    EXPECT_EQ(failure_for("no memory"), "no_space (may have been applied): out of memory");
    EXPECT_EQ(failure_for("no luck"),
              "internal (may have been applied): the driver threw: no luck");
    EXPECT_EQ(failure_for("no name"), "internal (may have been applied): the driver threw");
}

TEST_F(NarrowLane, GoesOnAfterABackendThatThrows) {
    for (const char* key : {"a", "no luck", "z"}) submit(key);

    EXPECT_TRUE(lane.pump());
    EXPECT_TRUE(lane.call({"t", "o", "b"}, commands::lookup{}, {}));

    EXPECT_EQ(answered, (std::vector<std::string>{"a", "no luck", "z"}));
    EXPECT_EQ(failures, (std::vector{errc::internal}));
    EXPECT_TRUE(lane.close());
}

TEST_F(Lane, CompletionThatThrowsLeavesTheOthersTheirAnswers) {
    submit("a");
    lane.submit({.id = {"t", "o", "b"}, .what = commands::lookup{}},
                [](result<reply>) { throw std::runtime_error{"no luck"}; });
    submit("c");

    EXPECT_FALSE(lane.pump());
    submit("d");
    EXPECT_FALSE(lane.pump());

    EXPECT_EQ(answered, (std::vector<std::string>{"a", "c", "d"}));
}

TEST_F(Lane, CompletionMaySubmit) {
    lane.submit({.id = {"t", "o", "a"}, .what = commands::begin{}},
                [this](result<reply>) { submit("a", commands::complete{}); });

    EXPECT_TRUE(lane.pump());
    EXPECT_FALSE(lane.pump());

    EXPECT_EQ(backend.batches, (batches{{"a"}, {"!a"}}));
    EXPECT_EQ(answered, (std::vector<std::string>{"a"}));
}

TEST_F(Lane, WhatArrivesDuringABatchIsTheNextBatch) {
    submit("a");
    backend.meanwhile = [this] {
        submit("b");
        submit("c");
    };

    EXPECT_TRUE(lane.pump());
    EXPECT_FALSE(lane.pump());

    EXPECT_EQ(backend.batches, (batches{{"a"}, {"b", "c"}}));
}

TEST_F(Lane, PumpWhileABatchRunsLeavesItToTheLeader) {
    submit("a");
    backend.meanwhile = [this] {
        submit("b");
        EXPECT_FALSE(lane.pump());
    };

    lane.pump();

    EXPECT_EQ(backend.batches, (batches{{"a"}}));
    EXPECT_EQ(wakes, 2) << "the leader passes the rest on";
}

TEST_F(Lane, BlockingCallerOnIdleLaneRunsTheBatchItself) {
    const auto got = lane.call({"t", "o", "a"}, commands::lookup{}, {});

    ASSERT_TRUE(got);
    EXPECT_EQ(backend.batches, (batches{{"a"}}));
    EXPECT_EQ(wakes, 0);
}

TEST_F(Lane, BlockingCallerTakesWaitingSubmissionsAlong) {
    submit("a");

    ASSERT_TRUE(lane.call({"t", "o", "b"}, commands::lookup{}, {}));

    EXPECT_EQ(backend.batches, (batches{{"a", "b"}}));
    EXPECT_EQ(answered, (std::vector<std::string>{"a"}));
}

TEST_F(NarrowLane, BlockingCallerLeadsUntilItsOwnTurnHasCome) {
    for (const char* key : {"a", "b"}) submit(key);

    ASSERT_TRUE(lane.call({"t", "o", "c"}, commands::lookup{}, {}));

    EXPECT_EQ(backend.batches, (batches{{"a", "b"}, {"c"}}));
}

TEST_F(Lane, BlockingCallerLeavesLaterSubmissionsToThePump) {
    backend.meanwhile = [this] { submit("b"); };

    ASSERT_TRUE(lane.call({"t", "o", "a"}, commands::lookup{}, {}));

    EXPECT_EQ(backend.batches, (batches{{"a"}}));
    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(lane.waiting(), 1U);
}

TEST_F(Lane, ClosedLaneAnswersEverybodyThatItHasStopped) {
    EXPECT_TRUE(lane.close());
    std::vector<submission> many;
    many.push_back({.what = {.id = {"t", "o", "c"}, .what = commands::renew{}},
                    .done = [this](result<reply> got) { failures.push_back(got.error().code); }});

    submit("a", commands::begin{});
    submit("b", commands::complete{});
    lane.submit_all(std::move(many));
    failures.push_back(lane.call({"t", "o", "d"}, commands::fail{}, {}).error().code);

    EXPECT_EQ(failures, std::vector(4, errc::stopped));
    EXPECT_TRUE(backend.batches.empty());
    EXPECT_EQ(wakes, 0);
}

TEST_F(Lane, StaysOpenUntilNothingWaits) {
    submit("a");

    EXPECT_FALSE(lane.close());
    submit("b", commands::complete{});
    drain();
    EXPECT_TRUE(lane.close());

    EXPECT_EQ(backend.batches, (batches{{"a", "!b"}}));
    EXPECT_TRUE(failures.empty());
}

TEST_F(Lane, StaysOpenWhileABatchRunsAndThenAsksForPump) {
    backend.meanwhile = [this] { EXPECT_FALSE(lane.close()); };

    ASSERT_TRUE(lane.call({"t", "o", "a"}, commands::lookup{}, {}));

    EXPECT_EQ(wakes, 1) << "nobody else would close it";
    EXPECT_FALSE(lane.pump());
    EXPECT_TRUE(lane.close());
}

TEST_F(Lane, ManySubmissionsTravelInOneBatchWithOneWake) {
    std::vector<submission> many;
    for (const char* key : {"a", "b", "c"}) {
        many.push_back({.what = {.id = {"t", "o", key}, .what = commands::begin{}},
                        .done = [this, key](result<reply>) { answered.emplace_back(key); }});
    }

    lane.submit_all(std::move(many));
    drain();

    EXPECT_EQ(wakes, 1);
    EXPECT_EQ(backend.batches, (batches{{"a", "b", "c"}}));
    EXPECT_EQ(answered.size(), 3U);
}

TEST_F(NarrowLane, ManySubmissionsAreRefusedOneByOne) {
    std::vector<submission> many;
    int refused = 0;
    for (const char* key : {"a", "b", "c", "d", "e"}) {
        many.push_back({.what = {.id = {"t", "o", key}, .what = commands::begin{}},
                        .done = [&](result<reply> got) { refused += got ? 0 : 1; }});
    }

    lane.submit_all(std::move(many));

    EXPECT_EQ(refused, 2);
    EXPECT_EQ(lane.waiting(), 3U);
    drain();
    EXPECT_EQ(refused, 2);
}

TEST_F(Lane, TimeOfTestsReachesTheBackend) {
    class clock_backend final : public batch_backend {
    public:
        void execute(std::span<job* const> batch) override {
            for (job* one : batch) one->answer = reply{.said = answers::kept{}, .now = *one->now};
        }
    } clocks;
    batch_lane other{clocks, [] {}};
    const time_point noon{std::chrono::hours{12}};

    EXPECT_EQ(other.call({"t", "o", "k"}, commands::lookup{}, noon).value().now, noon);
}

TEST(LaneWeight, CountsIdAndBody) {
    commands::complete large;
    large.result.body.assign(1'000, 'x');

    EXPECT_GE(weight({"t", "o", "k"}, large), 1'003U);
    EXPECT_EQ(weight({"t", "o", "k"}, large) - weight({"t", "o", "k"}, commands::complete{}),
              1'000U);
}

} // namespace
} // namespace semel
