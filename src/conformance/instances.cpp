#include <gtest/gtest.h>

#include <algorithm>
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

void one_caller_of_two_instances_starts(const subject& what, const run_options& how) {
    const auto place = what.make();
    const auto left = place->open().value();
    const auto right = place->open().value();
    for (int round = 0; round < 5; ++round) {
        const record_id id = id_of("shared " + std::to_string(round));
        std::vector<answer> got(how.threads);

        together(how.threads, [&](std::size_t i) {
            got[i] = ask(i % 2 == 0 ? *left : *right, id, begin_of(i + 1), day_one);
        });

        const auto started = std::count_if(got.begin(), got.end(), is<answers::started>);
        EXPECT_EQ(started, 1);
    }
}

void result_of_one_instance_is_replayed_by_the_other(const subject& what, const run_options&) {
    const auto place = what.make();
    const auto left = place->open().value();
    const auto right = place->open().value();
    const record_id id = id_of("shared");
    EXPECT_TRUE(is<answers::found>(ask(*right, id, commands::lookup{}, day_one)));
    const claim by = must_start(*left, id, 1, day_one);
    EXPECT_TRUE(is<answers::in_progress>(ask(*right, id, begin_of(2), day_one)));

    const answer stored = ask(
        *left, id, commands::complete{.by = by, .result = result_of("once"), .retention = hours{1}},
        day_one);
    const answer got = ask(*right, id, begin_of(2), day_one);

    ASSERT_TRUE(is<answers::stored>(stored)) << text(stored);
    const auto* replay = std::get_if<answers::replay>(&got);
    ASSERT_NE(replay, nullptr) << text(got);
    EXPECT_EQ(replay->result, result_of("once"));
}

void take_over_by_another_instance_fences_the_first_off(const subject& what, const run_options&) {
    const auto place = what.make();
    const auto left = place->open().value();
    const auto right = place->open().value();
    const record_id id = id_of("shared");
    const claim paused = must_start(*left, id, 1, day_one);
    const time_point then = day_one + seconds{31};

    const claim fresh = must_start(*right, id, 2, then);
    const answer late = ask(*left, id, commands::complete{.by = paused}, then);

    EXPECT_GT(fresh.fence, paused.fence);
    EXPECT_TRUE(is<answers::fenced_off>(late)) << text(late);
}

void fences_never_go_back_after_reopening(const subject& what, const run_options&) {
    const auto place = what.make();
    const record_id id = id_of("removed");
    auto it = place->open().value();
    const claim first = must_start(*it, id, 1, day_one);
    ASSERT_TRUE(is<answers::removed>(ask(*it, id, commands::remove{}, day_one)));

    it.reset();
    it = place->open().value();
    const claim second = must_start(*it, id, 2, day_one - hours{1});

    EXPECT_GT(second.fence, first.fence);
}

void everything_is_there_after_reopening(const subject& what, const run_options& how) {
    const auto place = what.make();
    auto it = place->open().value();
    workload source{how.seed};
    time_point now = day_one;
    checker model{*it, what};
    for (int i = 0; i < 500; ++i) {
        const step one = source.next(model);
        now = std::visit([](const auto& part) { return *part.now; }, one);
        const auto wrong = model.take(one);
        ASSERT_FALSE(wrong) << *wrong;
    }
    std::vector<answer> before;
    for (const auto& id : confusable_ids()) {
        before.push_back(ask(*it, id, commands::lookup{}, now));
    }

    it.reset();
    it = place->open().value();

    for (std::size_t i = 0; i < before.size(); ++i) {
        const record_id& id = confusable_ids()[i];
        const answer after = ask(*it, id, commands::lookup{}, now);
        EXPECT_EQ(text(after), text(before[i])) << text(id);
        EXPECT_EQ(it->audit(id).value(), model.about(id).audit) << text(id);
    }
}

constexpr named_test tests[]{
    {"OneCallerOfTwoInstancesStarts", one_caller_of_two_instances_starts},
    {"ResultOfOneInstanceIsReplayedByTheOther", result_of_one_instance_is_replayed_by_the_other},
    {"TakeOverByAnotherInstanceFencesTheFirstOff",
     take_over_by_another_instance_fences_the_first_off},
    {"FencesNeverGoBackAfterReopening", fences_never_go_back_after_reopening},
    {"EverythingIsThereAfterReopening", everything_is_there_after_reopening},
};

} // namespace

std::span<const named_test> instance_tests() {
    return tests;
}

} // namespace semel::conformance
