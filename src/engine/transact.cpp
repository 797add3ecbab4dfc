#include "engine/transact.hpp"

#include <exception>
#include <utility>
#include <vector>

#include "engine/engine_core.hpp"
#include "engine/open_keys.hpp"
#include "engine/outcomes.hpp"
#include "engine/plan.hpp"
#include "engine/transact_adapters.hpp"
#include "engine/transaction_pass.hpp"

namespace semel {

using detail::transaction_owner;

namespace {

constexpr int tries_max = 5;

failure nested() {
    return {.code = errc::transaction_broken,
            .possible = effect::none,
            .detail = "this key is already being executed in this transaction: give the inner "
                      "call a child key"};
}

// What the work throws is its end. Anything else that is thrown (there is no memory left) must not
// get past the rollback.
failure of_current_exception(effect possible) {
    try {
        throw;
    } catch (const std::exception& thrown) {
        return {.code = errc::internal, .possible = possible, .detail = thrown.what()};
    } catch (...) {
        return {.code = errc::internal, .possible = possible};
    }
}

raw_outcome in_progress_elsewhere() {
    return {.kind = outcome_kind::in_progress, .retry_after = std::chrono::milliseconds{50}};
}

// What the caller gets if the last turn ends so, too: the work's own exception, or, where the work
// has kept quiet about it, a failure.
raw_outcome asked_too_often(raw_outcome with) {
    if (with.kind != outcome_kind::executed) return with;
    return unavailable({.code = errc::transaction_broken,
                        .possible = effect::none,
                        .detail = "a statement of the work was the victim of a deadlock, again and "
                                  "again"});
}

} // namespace

// For the engine's destructor: a call is under way.
class admission {
public:
    explicit admission(engine_core& by) : by_(by) {}
    admission(const admission&) = delete;
    admission& operator=(const admission&) = delete;
    ~admission() { by_.leave(); }

private:
    engine_core& by_;
};

// One call, from what was asked to its outcome. The outcome lies here until the end: coroutines
// tell each other only how to go on.
class transaction_flow {
public:
    transaction_flow(engine_core& core, transaction_port& port, transaction_work& work,
                     transaction_owner commits)
        : core_(core), port_(port), work_(work), commits_(commits) {}

    task<nothing> run(request& what);
    void abandon(); // after an exception out of run()
    [[nodiscard]] raw_outcome take() { return std::move(with_); }

private:
    enum class next : std::uint8_t { end, again }; // again: the whole transaction, once more

    task<next> try_once();
    task<next> settle(const transaction_pass& one, failure why);
    task<nothing> joined();
    task<result<bool>> committed_after_all(const transaction_pass& one);
    task<nothing> keep_failure(transaction_pass& one);
    next failed_with(failure why);
    next not_begun(failure why);
    next parents();
    void count();

    engine_core& core_;
    transaction_port& port_;
    transaction_work& work_;
    const transaction_owner commits_;
    std::optional<plan> plan_;
    raw_outcome with_;
};

void transaction_flow::count() {
    bump(core_.counters.outcomes[static_cast<std::size_t>(with_.kind)]);
}

task<nothing> transaction_flow::run(request& what) {
    auto made = core_.make_plan(std::move(what));
    if (!made) {
        with_ = unavailable(std::move(made).error());
        count();
        co_return nothing{};
    }
    plan_ = *std::move(made);
    if (auto fits = work_.check(port_); !fits) {
        with_ = unavailable(std::move(fits).error());
        count();
        co_return nothing{};
    }
    if (auto fine = core_.admit(); !fine) {
        with_ = unavailable(std::move(fine).error());
        count();
        co_return nothing{};
    }
    const admission counted{core_};
    if (open_key::held(port_, plan_->id)) {
        with_ = unavailable(nested());
        count();
        co_return nothing{};
    }
    if (commits_ == transaction_owner::caller) {
        co_await joined();
    } else {
        // Repeated when the database asks for it.
        for (int turn = 0; turn < tries_max; ++turn) {
            const auto then = co_await try_once();
            if (then == next::end) break;
        }
    }
    core_.report(with_, *plan_);
    count();
    co_return nothing{};
}

// A caller's own transaction is not ours to end.
void transaction_flow::abandon() {
    if (commits_ == transaction_owner::engine && !core_.home.left()) port_.abandon();
    with_ = unavailable(of_current_exception(effect::unknown));
}

transaction_flow::next transaction_flow::failed_with(failure why) {
    const bool again = why.code == errc::conflict && why.possible == effect::none;
    with_ = unavailable(std::move(why));
    return again ? next::again : next::end;
}

// Before the work ran, nothing but another transaction can stand in the way.
transaction_flow::next transaction_flow::not_begun(failure why) {
    const auto then = failed_with(std::move(why));
    if (then == next::end || plan_->wait != wait_mode::answer) return then;
    with_ = in_progress_elsewhere();
    return next::end;
}

// The work has forked, and this is the child: the transaction and its end are the parent's.
transaction_flow::next transaction_flow::parents() {
    return failed_with(opened_before_fork("the transaction"));
}

// ---- BEGIN … COMMIT is ours ---------------------------------------------------------------------

task<transaction_flow::next> transaction_flow::try_once() {
    const auto locked = plan_->wait == wait_mode::wait ? on_locked::wait : on_locked::answer;
    auto begun = co_await port_.begin(locked);
    if (!begun) co_return not_begun(std::move(begun).error());
    transaction_pass one{core_, port_, *plan_, work_, with_};
    result<void> done;
    try {
        auto ended = co_await one.run();
        done = std::move(ended);
    } catch (...) {
        done = of_current_exception(effect::none);
    }
    if (core_.home.left()) co_return parents();
    // Asked before the rollback, which is a statement too.
    const bool asked = one.ran() && port_.asks_to_repeat();
    if (done && one.wrote() && !asked) {
        auto committed = co_await port_.commit();
        if (committed) co_return next::end;
        const auto then = co_await settle(one, std::move(committed).error());
        co_return then;
    }
    const bool keeps_failure = done && !asked && one.failed_finally();
    if (keeps_failure) port_.stay();
    static_cast<void>(co_await port_.rollback());
    if (!done && !one.ran()) co_return not_begun(std::move(done).error());
    if (!done) co_return failed_with(std::move(done).error());
    if (asked) {
        with_ = asked_too_often(std::move(with_));
        co_return next::again;
    }
    if (keeps_failure) co_await keep_failure(one);
    co_return next::end;
}

// The COMMIT has failed, or its answer was lost: then its result is not known.
task<transaction_flow::next> transaction_flow::settle(const transaction_pass& one, failure why) {
    if (why.possible == effect::none) {
        static_cast<void>(co_await port_.rollback());
        co_return failed_with(std::move(why));
    }
    const auto landed = co_await committed_after_all(one);
    if (!landed) {
        with_ = {.kind = outcome_kind::unconfirmed, .why = landed.error()};
        co_return next::end;
    }
    if (*landed) co_return next::end;
    why.possible = effect::none;
    co_return failed_with(std::move(why));
}

// An error at COMMIT does not mean "not committed": read again, adopt what is there, if it is ours.
task<result<bool>> transaction_flow::committed_after_all(const transaction_pass& one) {
    static_cast<void>(co_await port_.rollback());
    auto begun = co_await port_.begin(on_locked::wait);
    if (!begun) co_return std::move(begun).error();
    locked_record now;
    auto read = co_await port_.lock(plan_->id, now);
    static_cast<void>(co_await port_.rollback());
    if (!read) co_return std::move(read).error();
    co_return one.mine(now);
}

task<nothing> transaction_flow::keep_failure(transaction_pass& one) {
    auto kept = co_await port_.begin(on_locked::wait);
    if (kept) {
        auto written = co_await one.write_failure();
        kept = std::move(written);
    }
    if (kept) {
        auto committed = co_await port_.commit();
        kept = std::move(committed);
    }
    if (!kept) {
        static_cast<void>(co_await port_.rollback());
        log_warning(*core_.log, "a final failure could not be kept",
                    {{"why", describe(kept.error())}});
    }
    co_return nothing{};
}

// ---- the transaction is the caller's ------------------------------------------------------------

// Never committed here.
task<nothing> transaction_flow::joined() {
    auto begun = co_await port_.join();
    if (!begun) {
        with_ = unavailable(std::move(begun).error());
        co_return nothing{};
    }
    transaction_pass one{core_, port_, *plan_, work_, with_};
    result<void> done;
    try {
        auto ended = co_await one.run();
        done = std::move(ended);
    } catch (...) {
        done = of_current_exception(effect::none);
    }
    if (!done) with_ = unavailable(std::move(done).error());
    co_return nothing{};
}

// ---- for callers who block, and who do not ------------------------------------------------------

raw_outcome transact(engine_core& core, transaction_port& port, request what, detail::work& work,
                     transaction_owner commits) {
    const auto kept = core.shared_from_this(); // the destructor waits no longer than drain_max
    blocking_work runs{work};
    transaction_flow flow{core, port, runs, commits};
    try {
        flow.run(what).get();
    } catch (...) {
        flow.abandon();
        throw;
    }
    return flow.take();
}

detached transact(std::shared_ptr<engine_core> core, transaction_port& port, request what,
                  engine::started_work work, transaction_owner commits,
                  unique_function<void(raw_outcome)> done) {
    async_work runs{work};
    transaction_flow flow{*core, port, runs, commits};
    try {
        co_await flow.run(what);
    } catch (...) {
        flow.abandon();
    }
    core->call_back("done", [&] { done(flow.take()); });
}

} // namespace semel
