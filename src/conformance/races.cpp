#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <latch>
#include <string>
#include <vector>

#include "conformance/helpers.hpp"
#include "conformance/suite.hpp"
#include "conformance/text.hpp"

namespace semel::conformance {

namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

// The one claim among many answers to the same begin. All other answers must name it.
claim only_claim(const std::vector<answer>& got) {
    std::vector<claim> claims;
    for (const auto& one : got) {
        if (const auto* started = std::get_if<answers::started>(&one))
            claims.push_back(started->by);
    }
    EXPECT_EQ(claims.size(), 1U) << "not exactly one of " << got.size() << " was started";
    if (claims.size() != 1) return {};
    for (const auto& one : got) {
        if (is<answers::started>(one)) continue;
        const auto* busy = std::get_if<answers::in_progress>(&one);
        EXPECT_TRUE(busy != nullptr && busy->holder == claims.front()) << text(one);
    }
    return claims.front();
}

std::vector<answer> begin_from_many(store& whom, const record_id& id, std::size_t threads,
                                    time_point now) {
    std::vector<answer> got(threads);
    together(threads, [&](std::size_t i) { got[i] = ask(whom, id, begin_of(i + 1), now); });
    return got;
}

void one_of_many_blocking_callers_starts(const subject& what, const run_options& how) {
    const opened fresh = open_fresh(what);
    for (int round = 0; round < 5; ++round) {
        const record_id id = id_of("blocking " + std::to_string(round));

        const auto got = begin_from_many(*fresh.it, id, how.threads, day_one);

        only_claim(got);
    }
}

void one_of_many_submissions_starts(const subject& what, const run_options& how) {
    const opened fresh = open_fresh(what);
    constexpr std::size_t each = 4;
    std::vector<answer> got(how.threads * each);
    std::latch answered{static_cast<std::ptrdiff_t>(got.size())};

    together(how.threads, [&](std::size_t i) {
        for (std::size_t n = i * each; n < (i + 1) * each; ++n) {
            envelope sent{.id = id_of("submitted"), .what = begin_of(n + 1), .now = day_one};
            fresh->submit(std::move(sent), [&, n](result<reply> one) {
                if (one) got[n] = std::move(one->said);
                answered.count_down();
            });
        }
    });
    answered.wait();

    only_claim(got);
}

void one_of_many_callers_takes_over(const subject& what, const run_options& how) {
    const opened fresh = open_fresh(what);
    for (int round = 0; round < 5; ++round) {
        const record_id id = id_of("lapsed " + std::to_string(round));
        const claim first = must_start(*fresh.it, id, 4'711, day_one);

        const auto got = begin_from_many(*fresh.it, id, how.threads, day_one + seconds{31});

        EXPECT_GT(only_claim(got).fence, first.fence);
    }
}

// Either the late owner is in time and its result is replayed, or it is fenced off; nothing else.
void late_owner_and_new_owner_never_both_store(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    for (int round = 0; round < 50; ++round) {
        const record_id id = id_of("late " + std::to_string(round));
        const claim late = must_start(*fresh.it, id, 1, day_one);
        const time_point then = day_one + seconds{31};
        answer completed;
        answer begun;

        together(2, [&](std::size_t i) {
            if (i == 0) {
                completed = ask(*fresh.it, id,
                                commands::complete{
                                    .by = late, .result = result_of("late"), .retention = hours{1}},
                                then);
            } else {
                begun = ask(*fresh.it, id, begin_of(2), then);
            }
        });

        if (is<answers::stored>(completed)) {
            const auto* replay = std::get_if<answers::replay>(&begun);
            ASSERT_TRUE(replay != nullptr && replay->result.body == "late") << text(begun);
        } else {
            ASSERT_TRUE(is<answers::fenced_off>(completed)) << text(completed);
            ASSERT_TRUE(is<answers::started>(begun)) << text(begun);
        }
    }
}

void every_key_of_many_is_worked_on_once(const subject& what, const run_options& how) {
    const opened fresh = open_fresh(what);
    constexpr std::size_t keys = 100;
    const std::size_t threads = std::max<std::size_t>(how.threads / 8, 2);
    std::vector<std::atomic<int>> started(keys);
    std::vector<std::atomic<int>> stored(keys);

    together(threads, [&](std::size_t i) {
        for (std::size_t n = 0; n < keys; ++n) {
            const std::size_t key = (n + i * keys / threads) % keys;
            const record_id id = id_of(std::to_string(key));
            const answer got = ask(*fresh.it, id, begin_of(i + 1), day_one);
            const auto* one = std::get_if<answers::started>(&got);
            if (one == nullptr) continue;
            ++started[key];
            commands::complete done{.by = one->by,
                                    .result = result_of("by " + std::to_string(i)),
                                    .retention = hours{1}};
            if (is<answers::stored>(ask(*fresh.it, id, std::move(done), day_one))) ++stored[key];
        }
    });

    for (std::size_t key = 0; key < keys; ++key) {
        EXPECT_EQ(started[key], 1) << key;
        EXPECT_EQ(stored[key], 1) << key;
    }
}

// One worker's life under a running sweeper: begin, complete with next to no retention, again.
void begin_and_complete(store& whom, std::size_t worker, std::atomic<time_point::rep>& clock) {
    std::uint64_t last = 0;
    for (int round = 0; round < 60; ++round) {
        const record_id id = id_of("swept " + std::to_string(worker));
        const time_point now{duration{clock.fetch_add(1'000'000)}};
        const claim by = must_start(whom, id, worker + 1, now);
        ASSERT_GT(by.fence, last) << "a fence was issued again";
        last = by.fence;
        commands::complete done{.by = by, .result = result_of("x"), .retention = duration{1}};
        const answer got = ask(whom, id, std::move(done), now);
        ASSERT_TRUE(is<answers::stored>(got)) << "a live record was removed: " << text(got);
        // Another worker has moved the time on, but less than a lease; this record has expired.
        clock.fetch_add(2);
    }
}

void sweep_beside_begins_takes_no_live_record(const subject& what, const run_options& how) {
    const opened fresh = open_fresh(what);
    const std::size_t workers = std::max<std::size_t>(how.threads / 16, 2);
    std::atomic<time_point::rep> clock = day_one.time_since_epoch().count();
    std::atomic<std::size_t> working = workers;
    std::atomic<std::size_t> removed = 0;
    const claim kept = must_start(*fresh.it, id_of("kept"), 9, day_one);
    const auto stored = ask(*fresh.it, id_of("kept"),
                            commands::complete{.by = kept, .retention = hours{999}}, day_one);
    ASSERT_TRUE(is<answers::stored>(stored));

    together(workers + 1, [&](std::size_t i) {
        if (i < workers) {
            begin_and_complete(*fresh.it, i, clock);
            --working;
            return;
        }
        do {
            const time_point now{duration{clock.load()}};
            removed += swept(*fresh.it, now);
        } while (working > 0);
    });
    removed += swept(*fresh.it, time_point{duration{clock.load()}} + hours{1});

    if (what.purges == purging::on_request) {
        EXPECT_GT(removed, 0U);
    }
    const answer got = ask(*fresh.it, id_of("kept"), commands::lookup{}, day_one + hours{1});
    EXPECT_TRUE(std::get<answers::found>(got).current.has_value());
}

// Begins and removes keep their order, and so do an owner's checkpoints.
void commands_on_one_record_take_effect_in_order(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    constexpr std::size_t records = 8;
    constexpr std::size_t rounds = 30;
    std::atomic<std::size_t> right = 0;
    std::latch answered{records * rounds * 2};
    const auto expecting = [&](std::string_view kind) {
        return [&, kind](result<reply> one) {
            if (one && name(one->said) == kind) ++right;
            answered.count_down();
        };
    };

    for (std::size_t n = 0; n < rounds; ++n) {
        for (std::size_t i = 0; i < records; ++i) {
            const record_id id = id_of("ordered " + std::to_string(i));
            fresh->submit({.id = id, .what = begin_of(n + 1), .now = day_one},
                          expecting("started"));
            fresh->submit({.id = id, .what = commands::remove{}, .now = day_one},
                          expecting("removed"));
        }
    }
    answered.wait();

    EXPECT_EQ(right, records * rounds * 2);
}

void checkpoints_are_kept_in_order(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("steps");
    const claim by = must_start(*fresh.it, id, 1, day_one);
    constexpr int steps = 64;
    std::latch answered{steps};

    for (int i = 0; i < steps; ++i) {
        commands::checkpoint one{.by = by, .step = {.name = std::to_string(i), .data = "x"}};
        fresh->submit({.id = id, .what = std::move(one), .now = day_one},
                      [&](result<reply>) { answered.count_down(); });
    }
    answered.wait();

    const answer got = ask(*fresh.it, id, commands::lookup{}, day_one);
    const auto& kept = std::get<answers::found>(got).current->checkpoints;
    ASSERT_EQ(kept.size(), static_cast<std::size_t>(steps));
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i].name, std::to_string(i));
}

constexpr named_test tests[]{
    {"OneOfManyBlockingCallersStarts", one_of_many_blocking_callers_starts},
    {"OneOfManySubmissionsStarts", one_of_many_submissions_starts},
    {"OneOfManyCallersTakesOver", one_of_many_callers_takes_over},
    {"LateOwnerAndNewOwnerNeverBothStore", late_owner_and_new_owner_never_both_store},
    {"EveryKeyOfManyIsWorkedOnOnce", every_key_of_many_is_worked_on_once},
    {"SweepBesideBeginsTakesNoLiveRecord", sweep_beside_begins_takes_no_live_record},
    {"CommandsOnOneRecordTakeEffectInOrder", commands_on_one_record_take_effect_in_order},
    {"CheckpointsAreKeptInOrder", checkpoints_are_kept_in_order},
};

} // namespace

std::span<const named_test> race_tests() {
    return tests;
}

} // namespace semel::conformance
