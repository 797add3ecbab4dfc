#include "demo/scenes.hpp"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <latch>
#include <set>
#include <stdexcept>
#include <thread>

#include "semel/base/mutex.hpp"

namespace semel::demo {
namespace {

// ---- repeats that come at once, and a repeat that is none

constexpr int callers = 200;

// Lets all callers go at the same moment.
template <class Call> void call_at_once(Call call) {
    std::latch start{callers};
    detail::mutex mutex;
    std::exception_ptr first_error;
    std::vector<std::jthread> threads;
    for (int i = 0; i < callers; ++i) {
        threads.emplace_back([&] {
            start.arrive_and_wait();
            try {
                call();
            } catch (...) {
                const detail::guard lock{mutex};
                first_error = std::current_exception();
            }
        });
    }
    threads.clear(); // joins
    if (first_error) std::rethrow_exception(first_error);
}

void many_repeats(const stage& on) {
    call_at_once([&] { naive_order(on.in, {.key = on.naive_key}); });
    on.tell.naive(fmt::format("{} callers: {}", callers, counted(on.naive_effects(), "order")));

    detail::mutex mutex;
    int executed = 0, replayed = 0;
    std::set<std::string> answers;
    call_at_once([&] {
        const auto got = semel_order(on.with, on.in, {.key = on.report.key});
        const detail::guard lock{mutex};
        executed += got.executed() ? 1 : 0;
        replayed += got.replayed() ? 1 : 0;
        if (got.has_value()) answers.insert(got.value());
    });
    on.tell.semel(fmt::format("{} callers, {} executed, {} replayed, with {} between them: {}",
                              callers, executed, replayed, counted(answers.size(), "answer"),
                              counted(on.effects(), "order")));
    on.expect(executed == 1 && replayed == callers - 1 && answers.size() == 1,
              "every repeat should have had the first answer");
}

void changed_payload(const stage& on) {
    naive_order(on.in, {.key = on.naive_key, .amount = 49});
    const std::int64_t given = naive_order(on.in, {.key = on.naive_key, .amount = 99});
    on.tell.naive(fmt::format("{}; the caller who asked for 99 is told \"done\" and gets the order "
                              "of {}: a wrong answer",
                              counted(on.naive_effects(), "order"), on.in.amount_of(given)));

    const auto first = semel_order(on.with, on.in, {.key = on.report.key, .amount = 49});
    const auto second = semel_order(on.with, on.in, {.key = on.report.key, .amount = 99});
    on.tell.semel(fmt::format("{}, then {}: {}", name(first.kind()), name(second.kind()),
                              counted(on.effects(), "order")));
    on.expect(first.executed() && second.kind() == outcome_kind::mismatch,
              "the changed request should have been a mismatch");
}

// ---- a process that dies in the middle of the work, and the retry that follows

void crash(second_instance& other) {
    other.run_to_pause();
    other.kill();
}

void tell_calls(const stage& on) {
    const std::size_t calls = on.in.charge_calls(on.report.key);
    on.tell.semel(fmt::format("the provider was called {}, under one child key: {}",
                              calls == 1 ? "once" : fmt::format("{} times", calls),
                              counted(on.effects(), "charge")));
}

void crash_around_the_charge(const stage& on) {
    crash(*on.naive_other);
    naive_payment(on.in, {.key = on.naive_key});
    on.tell.naive("SIGKILL, then a retry: " + counted(on.naive_effects(), "charge"));

    crash(*on.other);
    const auto retried = semel_payment(on.with, on.in, {.key = on.report.key}, "the retry");
    const auto repeat = semel_payment(on.with, on.in, {.key = on.report.key}, "a repeat");
    on.tell.semel(fmt::format("SIGKILL; the retry waits for the lease, takes over as attempt {} "
                              "and is {}; a repeat is {}",
                              retried.attempt(), name(retried.kind()), name(repeat.kind())));
    tell_calls(on);
    on.expect(retried.executed() && retried.attempt() == 2, "the retry should have taken over");
    on.expect(repeat.replayed() && retried.executed() && repeat.value() == retried.value(),
              "the repeat should have had the retry's answer");
}

void crash_in_a_transaction(const stage& on) {
    crash(*on.naive_other);
    naive_order(on.in, {.key = on.naive_key});
    on.tell.naive("SIGKILL, then a retry: " + counted(on.naive_effects(), "order"));

    crash(*on.other);
    const std::size_t left_behind = on.effects();
    const auto retried = transacted_order(on.with, on.in, {.key = on.report.key});
    const auto repeat = transacted_order(on.with, on.in, {.key = on.report.key});
    on.tell.semel("SIGKILL rolled record and order back together: " +
                  counted(left_behind, "order") + " left behind");
    on.tell.semel(fmt::format("the retry is {} at once, without waiting for a lease; a repeat is "
                              "{}: {}",
                              name(retried.kind()), name(repeat.kind()),
                              counted(on.effects(), "order")));
    on.expect(left_behind == 0 && retried.executed() && repeat.replayed(),
              "order and record should have come together");
}

// ---- an owner that stands still for longer than its lease, and goes on when another one is done

// A process that is paused while it writes keeps the file's write lock, and all others wait for it.
// This scene is about a process that is paused while it works.
void pause_at_work(second_instance& owner, database& file) {
    owner.run_to_pause();
    for (int tries = 0; file.is_locked(); ++tries) {
        if (tries == 1'000) throw std::runtime_error{"the second instance writes all the time"};
        owner.run_to_pause();
    }
}

void slow_owner(const stage& on) {
    pause_at_work(*on.naive_other, on.in.shop);
    naive_payment(on.in, {.key = on.naive_key});
    static_cast<void>(on.naive_other->run_to_end());
    on.tell.naive("both found the key new: " + counted(on.naive_effects(), "charge"));

    pause_at_work(*on.other, on.in.shop);
    const auto won = semel_payment(on.with, on.in, {.key = on.report.key}, "the second owner");
    on.tell.semel(fmt::format("the second owner took over as attempt {}: \"{}\"", won.attempt(),
                              won.value()));
    const std::string owners = on.other->run_to_end();
    on.tell.semel("the first one woke up, worked on, and gets the winner's answer: " + owners);
    tell_calls(on);
    on.expect(owners == "replayed \"" + won.value() + "\", 1 completion fenced off",
              "the slow owner should have had the winner's answer");
}

// ---- what second instances serve

std::string order_naively(world& in, const order_request& what) {
    return std::to_string(naive_order(in, what));
}

std::string pay_naively(world& in, const order_request& what) {
    return std::to_string(naive_payment(in, what));
}

std::string pay_as_slow_owner(world& in, const order_request& what) {
    engine with = make_engine(in);
    const auto got = semel_payment(with, in, what, "the slow owner");
    return fmt::format("{} \"{}\", {} fenced off", name(got.kind()), got.value(),
                       counted(with.counters().fenced_completions, "completion"));
}

std::string order_in_a_transaction(world& in, const order_request& what) {
    engine with = make_engine(in);
    return transacted_order(with, in, what).value();
}

constexpr const char* lease_promise =
    "lease, `retry` on expiry: at least once after a lost lease or a retryable failure, exactly "
    "once without either";
constexpr const char* dedup_promise =
    "lease, downstream deduplicates on child_key(): exactly once at that downstream";

} // namespace

scene scene::starring(const std::filesystem::path& folder, const cast& others) && {
    const auto start = [&](service serves, const std::string& key) {
        return std::make_unique<second_instance>([&](const second_instance::pause& pause) {
            world in{folder};
            const auto at = [&](moment now) {
                if (now == others.pauses) pause();
            };
            return serves(in, {.key = key, .at = at});
        });
    };
    naive_other_ = start(others.naive, naive_key());
    other_ = start(others.with_semel, what_.about.key);
    return std::move(*this);
}

scene_report scene::play(world& in, engine& with, const narrator& tell, std::size_t number) {
    tell.line(fmt::format("\n{}. {}", number, what_.title));
    scene_report report = what_.about;
    const stage on{in, with, tell, report, naive_key(), naive_other_.get(), other_.get()};
    what_.act(on);
    tell.line("   promise  " + report.promise);
    report.naive_effects = on.naive_effects();
    report.semel_effects = on.effects();
    return report;
}

std::vector<scene> all_scenes(const std::filesystem::path& folder) {
    std::vector<scene> all;
    all.push_back(scene{{{"200 repeats at once", "repeats", lease_promise},
                         "The same request, 200 times at once",
                         many_repeats}});
    all.push_back(scene{
        {{"the same key with another amount", "changed", "a mismatch is refused before any effect"},
         "The same key comes back with another amount: 99 instead of 49",
         changed_payload}});
    all.push_back(
        scene{{{"killed after the claim, before the charge", "crash-before", dedup_promise},
               "The process is killed after it has claimed the key, before it charges",
               crash_around_the_charge}}
            .starring(folder, {pay_naively, pay_as_slow_owner, moment::before_effect}));
    all.push_back(
        scene{{{"killed after the charge, before the answer", "crash-after", dedup_promise},
               "The process is killed after it has charged, before it could say so",
               crash_around_the_charge}}
            .starring(folder, {pay_naively, pay_as_slow_owner, moment::after_effect}));
    all.push_back(
        scene{{{"killed inside the transaction", "crash-transaction",
                "transact: exactly once, whatever crashes"},
               "The process is killed after it has written the order, inside a transaction",
               crash_in_a_transaction}}
            .starring(folder, {order_naively, order_in_a_transaction, moment::after_effect}));
    all.push_back(scene{
        {{"a slow owner loses its lease", "slow", dedup_promise},
         "The owner is paused past its lease, and goes on when another owner is done",
         slow_owner}}.starring(folder, {pay_naively, pay_as_slow_owner, moment::before_effect}));
    return all;
}

} // namespace semel::demo
