#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <latch>
#include <string>
#include <vector>

#include "conformance/helpers.hpp"
#include "conformance/suite.hpp"
#include "conformance/text.hpp"
#include "conformance/workload.hpp"

namespace semel::conformance {

namespace {

using std::chrono::hours;
using std::chrono::seconds;

time_point wall_clock() {
    return std::chrono::time_point_cast<duration>(std::chrono::system_clock::now());
}

void finish(store& whom, const record_id& id, const claim& by, std::string body, time_point now) {
    const answer got = ask(
        whom, id,
        commands::complete{.by = by, .result = result_of(std::move(body)), .retention = hours{1}},
        now);
    ASSERT_TRUE(is<answers::stored>(got)) << text(got);
}

void judges_by_its_own_clock(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("clock");
    must_start(*fresh.it, id_of("of another day"), 1, day_one);

    const time_point before = wall_clock();
    const reply got = fresh->call(id, begin_of(1)).value();
    const time_point after = wall_clock();

    EXPECT_GE(got.now, before - what.clock_tolerance);
    EXPECT_LE(got.now, after + what.clock_tolerance);
    ASSERT_TRUE(is<answers::started>(got.said)) << text(got.said);
    EXPECT_EQ(std::get<answers::started>(got.said).lease_until, got.now + seconds{30});
}

void every_completion_is_called_once(const subject& what, const run_options& how) {
    opened fresh = open_fresh(what);
    constexpr std::size_t each = 50;
    std::vector<std::atomic<int>> called(how.threads * each);

    together(how.threads, [&](std::size_t i) {
        for (std::size_t n = i * each; n < (i + 1) * each; ++n) {
            const record_id id = id_of(std::to_string(n % 100));
            fresh->submit({.id = id, .what = begin_of(n + 1), .now = day_one},
                          [&called, n](result<reply>) { ++called[n]; });
        }
    });
    fresh.it.reset();

    for (std::size_t n = 0; n < called.size(); ++n) EXPECT_EQ(called[n], 1) << n;
}

void destruction_answers_everything(const subject& what, const run_options&) {
    opened fresh = open_fresh(what);
    std::atomic<int> started = 0;
    constexpr int commands_sent = 300;

    for (int i = 0; i < commands_sent; ++i) {
        fresh->submit({.id = id_of(std::to_string(i)), .what = begin_of(1), .now = day_one},
                      [&](result<reply> one) {
                          if (one && is<answers::started>(one->said)) ++started;
                      });
    }
    fresh.it.reset();

    EXPECT_EQ(started, commands_sent);
}

void completion_may_submit_the_next_command(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("chain");
    std::latch answered{1};
    answer last;

    fresh->submit({.id = id, .what = begin_of(1), .now = day_one}, [&](result<reply> one) {
        const claim by = std::get<answers::started>(one.value().said).by;
        commands::complete done{.by = by, .result = result_of("x"), .retention = hours{1}};
        fresh->submit({.id = id, .what = std::move(done), .now = day_one}, [&](result<reply> two) {
            last = two.value().said;
            answered.count_down();
        });
    });
    answered.wait();

    EXPECT_TRUE(is<answers::stored>(last)) << text(last);
}

void replays_and_refusals_write_nothing(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id busy = id_of("busy");
    const record_id done = id_of("done");
    const claim by = must_start(*fresh.it, busy, 1, day_one);
    const claim other = must_start(*fresh.it, done, 2, day_one);
    finish(*fresh.it, done, other, "once", day_one);
    const auto looks = [&](time_point now) {
        return text(ask(*fresh.it, busy, commands::lookup{}, now)) +
               text(ask(*fresh.it, done, commands::lookup{}, now));
    };
    const std::string before = looks(day_one);
    const auto writes = fresh.place->writes();

    const time_point then = day_one + seconds{1};
    (void)ask(*fresh.it, busy, begin_of(3), then);
    (void)ask(*fresh.it, done, begin_of(3), then);
    (void)ask(*fresh.it, busy, commands::complete{.by = other}, then);
    (void)ask(*fresh.it, done, commands::complete{.by = other}, then);
    (void)ask(*fresh.it, busy, commands::resolve{.expected_fence = by.fence}, then);
    (void)ask(*fresh.it, busy, commands::purge{}, then);
    (void)ask(*fresh.it, id_of("nothing"), commands::remove{}, then);

    EXPECT_EQ(fresh.place->writes(), writes);
    EXPECT_EQ(looks(then), before);
    ASSERT_TRUE(is<answers::removed>(ask(*fresh.it, busy, commands::remove{}, then)));
    if (writes) {
        EXPECT_NE(fresh.place->writes(), writes) << "the counter does not count";
    }
}

void record_ids_are_compared_byte_by_byte(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    std::uint64_t owner = 0;

    for (const auto& id : confusable_ids()) {
        const claim by = must_start(*fresh.it, id, ++owner, day_one);
        finish(*fresh.it, id, by, std::to_string(owner), day_one);
    }

    owner = 0;
    for (const auto& id : confusable_ids()) {
        const answer got = ask(*fresh.it, id, begin_of(999), day_one);
        const auto* replay = std::get_if<answers::replay>(&got);
        ASSERT_NE(replay, nullptr) << text(id) << ": " << text(got);
        EXPECT_EQ(replay->result.body, std::to_string(++owner)) << text(id);
    }
}

void results_of_every_size_come_back_byte_for_byte(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    std::string bytes;
    for (std::size_t i = 0; i <= limits{}.result_bytes_max; ++i)
        bytes += static_cast<char>(i % 257);

    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{256},
                                   limits{}.result_bytes_max, limits{}.result_bytes_max + 1}) {
        const record_id id = id_of("size " + std::to_string(size));
        const claim by = must_start(*fresh.it, id, 1, day_one);
        finish(*fresh.it, id, by, bytes.substr(0, size), day_one);
        const answer got = ask(*fresh.it, id, begin_of(2), day_one);
        const auto* replay = std::get_if<answers::replay>(&got);
        ASSERT_NE(replay, nullptr) << text(got);
        EXPECT_TRUE(replay->result.body == bytes.substr(0, size)) << size;
        EXPECT_TRUE(holds(replay->result)) << size;
    }
}

void sweeps_remove_what_has_long_expired(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    constexpr std::size_t records = 25;
    for (std::size_t i = 0; i < records; ++i) {
        const record_id id = id_of("old " + std::to_string(i));
        finish(*fresh.it, id, must_start(*fresh.it, id, 1, day_one), "x", day_one);
    }
    commands::begin held = begin_of(1);
    held.policy.on_lease_expiry = lease_expiry::hold;
    ASSERT_TRUE(is<answers::started>(ask(*fresh.it, id_of("held"), held, day_one)));
    const time_point later = day_one + hours{1'000};

    std::size_t removed = 0;
    sweep_report did;
    do {
        did = fresh->sweep({.records_max = 10, .now = later}).value();
        ASSERT_LE(did.removed, 10U);
        removed += did.removed;
    } while (did.state == sweep_state::more);

    if (what.purges == purging::on_request) {
        EXPECT_EQ(removed, records);
    }
    for (std::size_t i = 0; i < records; ++i) {
        const answer got =
            ask(*fresh.it, id_of("old " + std::to_string(i)), commands::purge{}, later);
        EXPECT_TRUE(is<answers::kept>(got)) << "not removed: " << i;
    }
    const answer got = ask(*fresh.it, id_of("held"), begin_of(2), later);
    EXPECT_TRUE(is<answers::in_doubt>(got)) << text(got);
}

commands::begin with_content(commands::begin what, char content) {
    fingerprint::bytes_type bytes;
    bytes.fill(static_cast<std::byte>(content));
    what.content = fingerprint{bytes};
    what.mismatch = on_mismatch::overwrite;
    return what;
}

// A begin whose attempt is never run.
void begin_and_undo(store& in, const record_id& id, const commands::begin& what, time_point now) {
    const answer got = ask(in, id, what, now);
    ASSERT_TRUE(is<answers::started>(got)) << text(got);
    const auto& started = std::get<answers::started>(got);
    const commands::release undo{.by = started.by, .replaced = started.replaced};
    const answer undone = ask(in, id, undo, now + seconds{1});
    EXPECT_TRUE(is<answers::stored>(undone)) << text(undone);
}

void an_overwritten_result_comes_back_if_nothing_was_run(const subject& what, const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("overwritten");
    const commands::begin first = with_content(begin_of(1), 'a');
    const std::string large(limits{}.result_bytes_max, 'x');
    const answer claimed = ask(*fresh.it, id, first, day_one);
    ASSERT_TRUE(is<answers::started>(claimed)) << text(claimed);
    finish(*fresh.it, id, std::get<answers::started>(claimed).by, large, day_one);

    begin_and_undo(*fresh.it, id, with_content(begin_of(2), 'b'), day_one + seconds{10});

    const answer got = ask(*fresh.it, id, first, day_one + seconds{20});
    ASSERT_TRUE(is<answers::replay>(got)) << text(got);
    EXPECT_TRUE(std::get<answers::replay>(got).result.body == large);
}

void a_failure_comes_back_with_its_steps_if_nothing_was_run(const subject& what,
                                                            const run_options&) {
    const opened fresh = open_fresh(what);
    const record_id id = id_of("failed");
    const commands::begin first = with_content(begin_of(1), 'a');
    const answer claimed = ask(*fresh.it, id, first, day_one);
    ASSERT_TRUE(is<answers::started>(claimed)) << text(claimed);
    const claim by = std::get<answers::started>(claimed).by;
    std::vector<checkpoint> steps;
    for (std::size_t i = 0; i < limits{}.checkpoints_max; ++i) {
        steps.push_back({.name = "step " + std::to_string(i), .data = std::string(i * 100, 's')});
        (void)ask(*fresh.it, id, commands::checkpoint{.by = by, .step = steps.back()}, day_one);
    }
    const commands::fail fail{.by = by, .error = "no", .retention = hours{1}};
    (void)ask(*fresh.it, id, fail, day_one);

    for (const char content : {'a', 'b'}) {
        begin_and_undo(*fresh.it, id, with_content(begin_of(2), content), day_one + seconds{10});

        const answer seen = ask(*fresh.it, id, commands::lookup{}, day_one + seconds{20});
        ASSERT_TRUE(is<answers::found>(seen)) << text(seen);
        const auto& it = std::get<answers::found>(seen).current;
        ASSERT_TRUE(it) << content;
        EXPECT_EQ(it->attempts, 1U) << content;
        EXPECT_EQ(it->error, "no") << content;
        EXPECT_EQ(it->content, first.content) << content;
        EXPECT_TRUE(it->checkpoints == steps) << content;
    }
}

void fences_go_on_after_removal_under_a_clock_that_went_back(const subject& what,
                                                             const run_options&) {
    const opened fresh = open_fresh(what);
    const auto purge = [&](const record_id& id, time_point now) {
        (void)ask(*fresh.it, id, commands::purge{}, now);
    };
    const auto remove = [&](const record_id& id, time_point now) {
        (void)ask(*fresh.it, id, commands::remove{}, now);
    };
    const auto sweep = [&](const record_id&, time_point now) {
        (void)fresh->sweep({.now = now + hours{1'000}}).value();
    };
    const std::vector<std::function<void(const record_id&, time_point)>> ways{purge, remove, sweep};
    for (std::size_t way = 0; way < ways.size(); ++way) {
        const record_id id = id_of("way " + std::to_string(way));
        const claim first = must_start(*fresh.it, id, 1, day_one);
        const auto done =
            ask(*fresh.it, id, commands::complete{.by = first, .retention = seconds{10}}, day_one);
        ASSERT_TRUE(is<answers::stored>(done)) << text(done);
        ways[way](id, way == 0 ? day_one + seconds{10} : day_one);

        const claim second = must_start(*fresh.it, id, 2, day_one - hours{1});

        EXPECT_GT(second.fence, first.fence) << way;
    }
}

constexpr named_test tests[]{
    {"JudgesByItsOwnClock", judges_by_its_own_clock},
    {"EveryCompletionIsCalledOnce", every_completion_is_called_once},
    {"DestructionAnswersEverything", destruction_answers_everything},
    {"CompletionMaySubmitTheNextCommand", completion_may_submit_the_next_command},
    {"ReplaysAndRefusalsWriteNothing", replays_and_refusals_write_nothing},
    {"RecordIdsAreComparedByteByByte", record_ids_are_compared_byte_by_byte},
    {"ResultsOfEverySizeComeBackByteForByte", results_of_every_size_come_back_byte_for_byte},
    {"SweepsRemoveWhatHasLongExpired", sweeps_remove_what_has_long_expired},
    {"AnOverwrittenResultComesBackIfNothingWasRun",
     an_overwritten_result_comes_back_if_nothing_was_run},
    {"AFailureComesBackWithItsStepsIfNothingWasRun",
     a_failure_comes_back_with_its_steps_if_nothing_was_run},
    {"FencesGoOnAfterRemovalUnderAClockThatWentBack",
     fences_go_on_after_removal_under_a_clock_that_went_back},
};

} // namespace

std::span<const named_test> port_tests() {
    return tests;
}

} // namespace semel::conformance
