// Repeats that come at once, and a repeat that is none.
#include <fmt/format.h>

#include <exception>
#include <latch>
#include <mutex>
#include <set>
#include <thread>

#include "demo_scenes.hpp"

namespace semel::app::demo {

namespace {

constexpr int callers = 200;

// Lets all callers go at the same moment.
template <class Call> void call_at_once(Call call) {
    std::latch start{callers};
    std::mutex mutex;
    std::exception_ptr first_error;
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i) {
        threads.emplace_back([&] {
            start.arrive_and_wait();
            try {
                call();
            } catch (...) {
                const std::lock_guard lock{mutex};
                first_error = std::current_exception();
            }
        });
    }
    threads.clear(); // joins
    if (first_error) std::rethrow_exception(first_error);
}

struct tally {
    std::mutex mutex = {};
    int executed = 0, replayed = 0, other = 0;
    std::set<std::string> answers = {};

    void add(const outcome<std::string>& one) {
        const std::lock_guard lock{mutex};
        ++(one.executed() ? executed : one.replayed() ? replayed : other);
        if (one.has_value()) answers.insert(one.value());
    }
};

} // namespace

scene_report many_repeats(const stage& on) {
    scene_report report{.name = "200 repeats at once",
                        .key = "repeats",
                        .promise =
                            "lease, `retry` on expiry: at least once after a lost lease or a "
                            "retryable failure, exactly once without either"};
    on.tell.scene("The same request, 200 times at once");
    call_at_once([&] { naive_order(on.in, {.key = "naive-repeats"}); });
    report.naive_effects = on.in.shop.orders("naive-repeats");
    on.tell.naive(fmt::format("{} callers: {}", callers, counted(report.naive_effects, "order")));

    tally seen;
    call_at_once([&] { seen.add(semel_order(on.with, on.in, {.key = report.key})); });
    report.semel_effects = on.in.shop.orders(report.key);
    on.tell.semel(fmt::format("{} callers, {} executed, {} replayed, with {} between them: {}",
                              callers, seen.executed, seen.replayed,
                              counted(seen.answers.size(), "answer"),
                              counted(report.semel_effects, "order")));
    on.tell.promise(report.promise);
    if (seen.executed != 1 || seen.replayed != callers - 1 || seen.answers.size() != 1) {
        report.problems.push_back("every repeat should have had the first answer");
    }
    return report;
}

scene_report changed_payload(const stage& on) {
    scene_report report{.name = "the same key with another amount",
                        .key = "changed",
                        .promise = "a mismatch is refused before any effect"};
    on.tell.scene("The same key comes back with another amount: 99 instead of 49");
    const order_request naive_first{.key = "naive-changed", .amount = 49};
    const order_request naive_second{.key = "naive-changed", .amount = 99};
    naive_order(on.in, naive_first);
    const std::int64_t given = naive_order(on.in, naive_second);
    report.naive_effects = on.in.shop.orders("naive-changed");
    on.tell.naive(fmt::format("{}; the caller who asked for 99 is told \"done\" and gets the order "
                              "of {}: a wrong answer",
                              counted(report.naive_effects, "order"), on.in.shop.amount_of(given)));

    const auto first = semel_order(on.with, on.in, {.key = report.key, .amount = 49});
    const auto second = semel_order(on.with, on.in, {.key = report.key, .amount = 99});
    report.semel_effects = on.in.shop.orders(report.key);
    on.tell.semel(fmt::format("{}, then {}: {}", name(first.kind()), name(second.kind()),
                              counted(report.semel_effects, "order")));
    on.tell.promise(report.promise);
    if (!first.executed() || second.kind() != outcome_kind::mismatch) {
        report.problems.push_back("the changed request should have been a mismatch");
    }
    return report;
}

} // namespace semel::app::demo
