#include "engine/engine_core.hpp"

#include <algorithm>
#include <utility>

#include "engine/recycled.hpp"
#include "semel/base/mutex.hpp"

namespace semel {

namespace {

// Does not keep what it cancels: the caller may hold on to it longer than to the engine.
class cancel_handle final : public pending_call {
public:
    explicit cancel_handle(std::weak_ptr<attempt> of) : of_(std::move(of)) {}
    void cancel() override {
        if (const auto still = of_.lock()) still->cancel();
    }

private:
    const std::weak_ptr<attempt> of_;
};

engine_options completed(engine_options options) {
    if (!options.log) options.log = open_spdlog_logger();
    if (!options.runtime) options.runtime = open_system_runtime();
    return options;
}

} // namespace

engine_core::engine_core(std::unique_ptr<store> store, operation_policy fallback,
                         engine_options given)
    : defaults(std::move(fallback)),
      options(completed(std::move(given))),
      runtime(options.runtime),
      log(options.log),
      records(std::move(store)),
      in_flight(options.limits),
      keeper(*records, *runtime),
      pace_(options.sweep) {
    check(options).value();
    check(defaults, options.limits).value();
    for (const auto& [operation, policy] : options.operations) {
        check(policy, options.limits).value();
    }
}

void engine_core::open() {
    keeper.bind(weak_from_this());
    schedule_sweep(options.sweep.idle);
}

engine_core::ended engine_core::close() {
    closing_ = true;
    orphaned_claims.hurry(runtime->now() + std::min(options.drain_max, options.store_patience));
    detail::guard lock{drained_mutex_};
    const auto empty = [&] { return running_ == 0 && orphaned_claims.size() == 0; };
    if (drained_.wait_for(lock, options.drain_max, empty)) return ended::drained;
    giving_up_ = true;
    lock.unlock();
    log_error(*log, "the engine ends before its work: the records' policies decide",
              {{"running", running_.load()}, {"orphans", orphaned_claims.size()}});
    keeper.clear();
    orphaned_claims.clear();
    return ended::given_up;
}

result<void> engine_core::admit() {
    if (closing_) return failure{.code = errc::stopped, .detail = "the engine is closing"};
    if (running_.fetch_add(1) < options.limits.executions_max) return {};
    leave();
    bump(counters.executions_refused);
    return failure{.code = errc::overloaded,
                   .detail = "limits.executions_max calls are under way in this engine"};
}

void engine_core::leave() {
    if (running_.fetch_sub(1) == 1 && closing_) notify_drained();
}

void engine_core::on_orphan_over() {
    if (closing_) notify_drained();
}

// Under the lock, so that close() cannot miss it between its look and its wait.
void engine_core::notify_drained() {
    const detail::guard lock{drained_mutex_};
    drained_.notify_all();
}

result<plan> engine_core::make_plan(request&& what) const {
    if (home.left()) return opened_before_fork("the engine");
    const operation_policy& policy = policy_of(what.operation);
    return plan_of(std::move(what), policy, options.limits);
}

const operation_policy& engine_core::policy_of(const std::string& operation) const {
    if (options.operations.empty()) return defaults;
    const auto found = options.operations.find(operation);
    return found == options.operations.end() ? defaults : found->second;
}

raw_outcome engine_core::run(request&& what, detail::work& work) {
    auto made = make_plan(std::move(what));
    if (!made) {
        bump(counters.outcomes[static_cast<std::size_t>(outcome_kind::unavailable)]);
        return unavailable(std::move(made).error());
    }
    const auto one =
        std::allocate_shared<attempt>(recycled<attempt>{}, *this, *std::move(made), work);
    one->start();
    return one->wait_for_answer();
}

std::shared_ptr<pending_call> engine_core::start(request what, engine::started_work work,
                                                 unique_function<void(raw_outcome)> done) {
    auto made = make_plan(std::move(what));
    if (!made) {
        bump(counters.outcomes[static_cast<std::size_t>(outcome_kind::unavailable)]);
        call_back("done", [&] { done(unavailable(std::move(made).error())); });
        return nullptr;
    }
    // Not std::make_shared: obsolete timers keep the control block, and with it the attempt's
    // memory.
    const std::shared_ptr<attempt> one{
        new attempt{*this, *std::move(made), std::move(work), std::move(done)}};
    one->begin();
    return std::make_shared<cancel_handle>(one);
}

void engine_core::report(const raw_outcome& with, const plan& what) {
    if (with.kind != outcome_kind::mismatch || !options.on_mismatch) return;
    if (!with.held || !what.content) return;
    call_back("on_mismatch", [&] {
        options.on_mismatch({.id = what.id, .held = *with.held, .asked = *what.content});
    });
}

void engine_core::on_callback_threw(std::string_view which,
                                    const std::exception_ptr& thrown) noexcept {
    bump(counters.callbacks_threw);
    try {
        log_error(*log, "a callback has thrown: its exception is dropped",
                  {{"callback", which}, {"why", text_of(thrown)}});
    } catch (...) { // no memory for the line, either
    }
}

owner_id engine_core::new_owner() {
    return {.high = runtime->random(), .low = runtime->random() | 1}; // all zero means no owner
}

time_point engine_core::client_clock() const {
    return time_point{runtime->now().time_since_epoch()};
}

void engine_core::schedule_sweep(duration after) {
    runtime->at(runtime->now() + after, [weak = weak_from_this()] {
        const auto self = weak.lock();
        if (self == nullptr) return;
        self->runtime->chore([weak] {
            if (const auto still = weak.lock()) still->sweep();
        });
    });
}

void engine_core::sweep() {
    if (closing_) return;
    const local_time begun = runtime->now();
    const auto report = records->sweep({.records_max = pace_.records_max()});
    if (report) {
        counters.swept.fetch_add(report->removed, std::memory_order_relaxed);
    } else {
        log_warning(*log, "sweep failed", {{"why", describe(report.error())}});
    }
    schedule_sweep(pace_.next(report, runtime->now() - begun));
}

engine_counters engine_core::snapshot() const {
    const auto count = [&](outcome_kind kind) {
        return counters.outcomes[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
    };
    return {.executed = count(outcome_kind::executed),
            .replayed = count(outcome_kind::replayed),
            .in_progress = count(outcome_kind::in_progress),
            .mismatched = count(outcome_kind::mismatch),
            .failed = count(outcome_kind::failed),
            .in_doubt = count(outcome_kind::in_doubt),
            .unconfirmed = count(outcome_kind::unconfirmed),
            .unavailable = count(outcome_kind::unavailable),
            .lost_leases = keeper.lost(),
            .fenced_completions = counters.fenced_completions.load(std::memory_order_relaxed),
            .lost_completions = counters.lost_completions.load(std::memory_order_relaxed),
            .tombstones = counters.tombstones.load(std::memory_order_relaxed),
            .waiters_refused = in_flight.refused(),
            .executions_refused = counters.executions_refused.load(std::memory_order_relaxed),
            .swept = counters.swept.load(std::memory_order_relaxed),
            .callbacks_threw = counters.callbacks_threw.load(std::memory_order_relaxed),
            .orphans_released = counters.orphans_released.load(std::memory_order_relaxed),
            .orphans_left = counters.orphans_left.load(std::memory_order_relaxed),
            .running = running_.load(std::memory_order_relaxed),
            .waiting = in_flight.waiting(),
            .orphans = orphaned_claims.size()};
}

} // namespace semel
