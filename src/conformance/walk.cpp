#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "conformance/checker.hpp"
#include "conformance/suite.hpp"
#include "conformance/text.hpp"
#include "conformance/workload.hpp"

namespace semel::conformance {

namespace {

struct history {
    std::vector<step> steps = {};
    std::optional<std::string> difference = {}; // in the last of them
};

// Looks at every record.
std::optional<std::string> inspect(checker& model, history& past) {
    const time_point now = std::visit([](const auto& one) { return *one.now; }, past.steps.back());
    for (const auto& id : confusable_ids()) {
        past.steps.push_back(envelope{.id = id, .what = commands::lookup{}, .now = now});
        if (auto wrong = model.take(past.steps.back())) return wrong;
    }
    return model.compare_audits();
}

history run_random(checker& model, const run_options& how) {
    history past;
    workload source{how.seed};
    for (std::size_t i = 1; i <= how.commands && !past.difference; ++i) {
        past.steps.push_back(source.next(model));
        past.difference = model.take(past.steps.back());
        const bool look = i % 500 == 0 || i == how.commands;
        if (look && !past.difference) past.difference = inspect(model, past);
    }
    return past;
}

// The same steps on a fresh store.
std::optional<std::string> repeat(const subject& what, const std::vector<step>& steps) {
    const opened fresh = open_fresh(what);
    checker model{*fresh.it, what};
    for (const auto& one : steps) {
        if (auto wrong = model.take(one)) return wrong;
    }
    return model.compare_audits();
}

// Leaves out what the difference does not need, by halves, quarters and so on, as long as it is
// quick.
history shortened(const subject& what, history past) {
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds{10};
    for (std::size_t size = std::max<std::size_t>(past.steps.size() / 2, 1); size > 0; size /= 2) {
        for (std::size_t from = 0; from < past.steps.size();) {
            if (std::chrono::steady_clock::now() > until) return past;
            const auto first = past.steps.begin() + static_cast<std::ptrdiff_t>(from);
            const auto count = std::min(size, past.steps.size() - from);
            std::vector<step> fewer{past.steps.begin(), first};
            fewer.insert(fewer.end(), first + static_cast<std::ptrdiff_t>(count), past.steps.end());
            if (auto still = repeat(what, fewer)) {
                past = {.steps = std::move(fewer), .difference = std::move(still)};
            } else {
                from += size;
            }
        }
    }
    return past;
}

std::string last_of(const std::vector<step>& steps, std::size_t count) {
    std::string out;
    for (std::size_t i = steps.size() - std::min(count, steps.size()); i < steps.size(); ++i) {
        out += "\n  #" + std::to_string(i + 1) + " " + text(steps[i]);
    }
    return out;
}

std::string explain(const subject& what, const run_options& how, const history& past) {
    constexpr std::size_t shown = 20;
    std::string why = "store " + what.name + ", seed " + std::to_string(how.seed) + ", step " +
                      std::to_string(past.steps.size()) + ": " + *past.difference +
                      "\nthe last steps:" + last_of(past.steps, shown);
    if (repeat(what, past.steps)) {
        const history brief = shortened(what, past);
        why += "\nshortened to " + std::to_string(brief.steps.size()) +
               " steps:" + last_of(brief.steps, shown) + "\n" + *brief.difference;
    }
    return why;
}

// ---- what a run must have met to count

constexpr std::array<std::string_view, 47> must_be_seen{
    "begin: started, first",
    "begin: started, retried",
    "begin: started, taken over",
    "begin: started, overwritten",
    "begin: replay",
    "begin: in_progress",
    "begin: mismatch",
    "begin: failed, final",
    "begin: failed, attempts used up",
    "begin: in_doubt",
    "complete: stored, now",
    "complete: stored, again",
    "complete: fenced_off, something there",
    "complete: fenced_off, nothing there",
    "fail: stored, now",
    "fail: stored, again",
    "fail: fenced_off, something there",
    "fail: fenced_off, nothing there",
    "release: stored, now",
    "release: stored, again",
    "release: stored, undone",
    "release: stored, undone before",
    "release: fenced_off, something there",
    "abandon: stored, now",
    "abandon: fenced_off, something there",
    "renew: renewed",
    "renew: not_renewed",
    "renew: fenced_off, something there",
    "checkpoint: stored, now",
    "checkpoint: stored, again",
    "checkpoint: over_limit",
    "checkpoint: fenced_off, something there",
    "resolve: resolved, committed",
    "resolve: resolved, not executed",
    "resolve: resolved, failed",
    "resolve: resolved, corrected",
    "resolve: in_progress",
    "resolve: fenced_off, something there",
    "resolve: fenced_off, nothing there",
    "remove: removed",
    "remove: kept",
    "purge: removed",
    "purge: kept",
    "lookup: found, something",
    "lookup: found, nothing",
    "sweep: removed",
    "sweep: kept",
};

// One walk may miss what is rare; then another one follows.
constexpr int walks_max = 20;

void answers_every_command_as_the_record_machine_does(const subject& what, const run_options& how) {
    std::set<std::string_view> missing{must_be_seen.begin(), must_be_seen.end()};
    run_options next = how;
    for (int turn = 0; turn < walks_max && !missing.empty(); ++turn, ++next.seed) {
        const walk_report report = walk(what, next);
        ASSERT_FALSE(report.difference) << *report.difference;
        if (how.commands < run_options{}.commands) return; // too short to have met everything
        std::erase_if(missing, [&](auto one) { return report.seen.contains(std::string{one}); });
    }
    for (const auto one : missing) ADD_FAILURE() << "never met: " << one;
}

constexpr named_test tests[]{
    {"AnswersEveryCommandAsTheRecordMachineDoes", answers_every_command_as_the_record_machine_does},
};

} // namespace

walk_report walk(const subject& what, const run_options& how) {
    const opened fresh = open_fresh(what);
    checker model{*fresh.it, what};
    const history past = run_random(model, how);
    walk_report report{.seen = model.seen()};
    if (past.difference) report.difference = explain(what, how, past);
    return report;
}

std::span<const named_test> model_tests() {
    return tests;
}

} // namespace semel::conformance
