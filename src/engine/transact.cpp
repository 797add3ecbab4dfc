#include "engine/transact.hpp"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

#include "engine/engine_core.hpp"
#include "engine/outcomes.hpp"
#include "engine/plan.hpp"

namespace semel {

namespace {

constexpr int tries_max = 5;

failure nested() {
    return {.code = errc::transaction_broken,
            .possible = effect::none,
            .detail = "this key is already being executed in this transaction: give the inner "
                      "call a child key"};
}

// What runs in a transaction on this thread right now, to notice work that nests the same key.
struct open_key {
    const void* connection;
    const record_id* id;
};
thread_local std::vector<open_key> open_keys;

class key_guard {
public:
    key_guard(const transaction_port& port, const record_id& id) {
        open_keys.push_back({port.connection(), &id});
    }
    key_guard(const key_guard&) = delete;
    key_guard& operator=(const key_guard&) = delete;
    ~key_guard() { open_keys.pop_back(); }

    static bool held(const transaction_port& port, const record_id& id) {
        return std::any_of(open_keys.begin(), open_keys.end(), [&](const open_key& one) {
            return one.connection == port.connection() && *one.id == id;
        });
    }
};

// The transaction is the lease: no keeper, no checkpoints, nothing to lose before the commit.
class transaction_run final : public execution_port {
public:
    transaction_run(const plan& what, const answers::started& started)
        : plan_(what), started_(started), steps_(started.checkpoints) {}

    const record_id& id() const override { return plan_.id; }
    claim by() const override { return started_.by; }
    std::uint32_t attempt_count() const override { return started_.attempt; }
    bool taken_over() const override { return started_.kind == answers::start_kind::taken_over; }
    std::stop_token stop_token() const override { return {}; }
    const std::string* recorded(std::string_view name) const override {
        for (const auto& one : steps_) {
            if (one.name == name) return &one.data;
        }
        return nullptr;
    }
    // A step's effect rolls back with the rest, so nothing is kept for later attempts.
    void record(std::string_view name, std::string data) override {
        steps_.push_back({.name = std::string{name}, .data = std::move(data)});
    }
    void record_async(std::string name, std::string data,
                      unique_function<void(result<void>)> done) override {
        record(name, std::move(data));
        done({});
    }
    void set_result_ref(std::string ref) override { ref_ = std::move(ref); }
    [[nodiscard]] std::string take_ref() { return std::move(ref_); }

private:
    const plan& plan_;
    const answers::started& started_;
    std::vector<checkpoint> steps_;
    std::string ref_;
};

// One pass through an open transaction.
class pass {
public:
    pass(engine_core& core, transaction_port& port, const plan& what, detail::work& work)
        : core_(core), port_(port), plan_(what), work_(work), owner_(core.new_owner()) {}

    // Locks, judges, runs, writes. The caller commits if `wrote()`, and rolls back otherwise.
    result<raw_outcome> run() {
        auto locked = port_.lock(plan_.id);
        if (!locked) return std::move(locked).error();
        const record* before = locked->stored ? &*locked->stored : nullptr;
        seen_fence_ = before == nullptr ? 0 : before->holder.fence;
        applied begun = apply(before, begin_of(plan_, owner_), locked->at);
        auto* started = std::get_if<answers::started>(&begun.said);
        if (started == nullptr) {
            port_.leave(plan_.id);
            return outcome_of({.said = std::move(begun.said), .now = locked->at.now});
        }
        transaction_run view{plan_, *started};
        execution handed{view};
        const key_guard guard{port_, plan_.id};
        ran_ = true;
        detail::work_end end = work_.run(handed);
        ending_ = ending_of(std::move(end), plan_, *started, view.take_ref());
        if (!std::holds_alternative<commands::complete>(ending_->what)) {
            port_.leave(plan_.id);
            return ending_->own;
        }
        return write(*begun.after, locked->at);
    }

    // The same without a look, in a transaction that has begun blind.
    result<raw_outcome> run_blind() {
        // As if there were no record and time began now.
        const instant now{};
        applied begun = apply(nullptr, begin_of(plan_, owner_), now);
        const auto& started = std::get<answers::started>(begun.said);
        transaction_run view{plan_, started};
        execution handed{view};
        const key_guard guard{port_, plan_.id};
        ending_ = ending_of(work_.run(handed), plan_, started, view.take_ref());
        if (!std::holds_alternative<commands::complete>(ending_->what)) return not_this_way();
        const applied done = complete(*begun.after, now);
        auto kept = port_.commit_blind(plan_.id, *done.after);
        if (!kept) return std::move(kept).error();
        ending_->own.by.fence = kept->fence;
        ending_->own.expires_at = kept->expires_at;
        return std::move(ending_->own);
    }

    // After a rollback: a final failure is kept by a transaction of its own.
    [[nodiscard]] bool failed_finally() const {
        if (!ending_) return false;
        const auto* fail = std::get_if<commands::fail>(&ending_->what);
        return fail != nullptr && fail->kind == commands::failure_kind::final;
    }
    result<void> write_failure() {
        auto locked = port_.lock(plan_.id);
        if (!locked) return std::move(locked).error();
        const record* before = locked->stored ? &*locked->stored : nullptr;
        applied begun = apply(before, begin_of(plan_, owner_), locked->at);
        const auto* started = std::get_if<answers::started>(&begun.said);
        if (started == nullptr) return {}; // somebody else has decided meanwhile
        auto fail = std::get<commands::fail>(ending_->what);
        fail.by = started->by;
        const applied done = apply(&*begun.after, std::move(fail), locked->at);
        return port_.save(plan_.id, *done.after, before == nullptr ? 0 : before->holder.fence);
    }

    [[nodiscard]] bool ran() const { return ran_; }
    [[nodiscard]] bool wrote() const { return wrote_; }
    [[nodiscard]] bool mine(const locked_record& now) const {
        return now.stored && now.stored->state == record_state::succeeded &&
               now.stored->holder.owner == owner_;
    }
    // Of blind work that may have been committed.
    [[nodiscard]] raw_outcome own() const { return ending_->own; }

private:
    // Whether such work is to be run at all, only a look can tell.
    static failure not_this_way() { return {.code = errc::conflict, .possible = effect::none}; }

    applied complete(const record& begun, const instant& at) {
        if (ending_->own.result.kind == result_kind::tombstone) bump(core_.counters.tombstones);
        return apply(&begun, std::move(ending_->what), at);
    }

    result<raw_outcome> write(const record& begun, const instant& at) {
        const applied done = complete(begun, at);
        auto saved = port_.save(plan_.id, *done.after, seen_fence_);
        if (!saved) return std::move(saved).error();
        wrote_ = true;
        ending_->own.expires_at = done.after->expires_at;
        return std::move(ending_->own);
    }

    engine_core& core_;
    transaction_port& port_;
    const plan& plan_;
    detail::work& work_;
    const owner_id owner_;
    std::uint64_t seen_fence_ = 0;
    std::optional<ending> ending_;
    bool ran_ = false;
    bool wrote_ = false;
};

// What the work throws is its end. Anything else that is thrown (there is no memory left) must not
// get past the rollback.
template <class Pass> result<raw_outcome> reported(effect possible, Pass run) {
    try {
        return run();
    } catch (const std::exception& thrown) {
        return failure{.code = errc::internal, .possible = possible, .detail = thrown.what()};
    } catch (...) {
        return failure{.code = errc::internal, .possible = possible};
    }
}

raw_outcome counted(engine_core& core, raw_outcome with) {
    bump(core.counters.outcomes[static_cast<std::size_t>(with.kind)]);
    return with;
}

raw_outcome counted(engine_core& core, const plan& what, raw_outcome with) {
    core.report(with, what);
    return counted(core, std::move(with));
}

// An error at COMMIT does not mean "not committed": read again, adopt what is there, if it is ours.
result<std::optional<record>> committed_after_all(transaction_port& port, const plan& what,
                                                  const pass& one) {
    port.rollback();
    if (auto begun = port.begin(on_locked::wait); !begun) return std::move(begun).error();
    auto now = port.lock(what.id);
    port.rollback();
    if (!now) return std::move(now).error();
    if (!one.mine(*now)) return std::optional<record>{};
    return std::move(now->stored);
}

void keep_failure(engine_core& core, transaction_port& port, pass& one) {
    auto kept = port.begin(on_locked::wait);
    if (kept) kept = one.write_failure();
    if (kept) kept = port.commit();
    if (!kept) {
        port.rollback();
        log_warning(*core.log, "a final failure could not be kept",
                    {{"why", describe(kept.error())}});
    }
}

struct tried {
    raw_outcome with;
    bool again = false; // the whole transaction, once more
    bool held = false;  // because another transaction holds the key
};

tried failed_with(failure why) {
    return {.with = unavailable(why),
            .again = why.code == errc::conflict && why.possible == effect::none};
}

// Before the work ran, nothing else can stand in the way.
tried not_begun(failure why) {
    tried made = failed_with(std::move(why));
    made.held = made.again;
    return made;
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

tried finish_commit(transaction_port& port, const plan& what, const pass& one, raw_outcome with) {
    auto committed = port.commit();
    if (committed) return {.with = std::move(with)};
    failure why = std::move(committed).error();
    if (why.possible == effect::none) {
        port.rollback();
        return failed_with(std::move(why));
    }
    const auto landed = committed_after_all(port, what, one);
    if (!landed) {
        raw_outcome unclear{.kind = outcome_kind::unconfirmed, .why = landed.error()};
        return {.with = std::move(unclear)};
    }
    if (*landed) return {.with = std::move(with)};
    why.possible = effect::none;
    return failed_with(std::move(why));
}

tried try_once(engine_core& core, transaction_port& port, const plan& what, detail::work& work) {
    const auto locked = what.wait == wait_mode::wait ? on_locked::wait : on_locked::answer;
    if (auto begun = port.begin(locked); !begun) return not_begun(begun.error());
    pass one{core, port, what, work};
    auto done = reported(effect::none, [&] { return one.run(); });
    // Asked before the rollback, which is a statement too.
    const bool asked = one.ran() && port.asks_to_repeat();
    if (done && one.wrote() && !asked) return finish_commit(port, what, one, *std::move(done));
    port.rollback();
    if (!done && !one.ran()) return not_begun(std::move(done).error());
    if (!done) return failed_with(std::move(done).error());
    if (asked) return {.with = asked_too_often(*std::move(done)), .again = true};
    if (one.failed_finally()) keep_failure(core, port, one);
    return {.with = *std::move(done)};
}

// Nothing if the ordinary way has to decide.
std::optional<raw_outcome> try_blind(engine_core& core, transaction_port& port, const plan& what,
                                     detail::work& work) {
    if (!port.begin_blind(what.id)) return std::nullopt; // it says why, if it cannot, either
    pass one{core, port, what, work};
    auto done = reported(effect::unknown, [&] { return one.run_blind(); }); // it commits, too
    if (done) return *std::move(done);
    failure why = std::move(done).error();
    if (why.possible == effect::none) {
        // Also where a statement of the work has failed: a repeat may do what cannot be done twice.
        port.rollback();
        return std::nullopt;
    }
    const auto landed = committed_after_all(port, what, one);
    if (landed && *landed) {
        raw_outcome with = one.own();
        with.by = (*landed)->holder;
        with.expires_at = (*landed)->expires_at;
        return with;
    }
    // What is not there may yet come: the key was not locked before all of it was sent.
    return raw_outcome{.kind = outcome_kind::unconfirmed,
                       .why = landed ? std::move(why) : landed.error()};
}

raw_outcome in_progress_elsewhere() {
    return {.kind = outcome_kind::in_progress, .retry_after = std::chrono::milliseconds{50}};
}

} // namespace

raw_outcome transact_own(engine_core& core, transaction_port& port, request what,
                         detail::work& work, sending how) {
    auto made = core.make_plan(std::move(what));
    if (!made) return counted(core, unavailable(std::move(made).error()));
    if (key_guard::held(port, made->id)) return counted(core, unavailable(nested()));
    if (how == sending::blind) {
        auto done = try_blind(core, port, *made, work);
        if (done) return counted(core, *made, *std::move(done));
    }
    tried last;
    for (int turn = 0; turn < tries_max; ++turn) {
        last = try_once(core, port, *made, work);
        if (last.held && made->wait == wait_mode::answer) {
            return counted(core, *made, in_progress_elsewhere());
        }
        if (!last.again) break;
    }
    return counted(core, *made, std::move(last.with));
}

raw_outcome transact_joined(engine_core& core, transaction_port& port, request what,
                            detail::work& work) {
    auto made = core.make_plan(std::move(what));
    if (!made) return counted(core, unavailable(std::move(made).error()));
    if (key_guard::held(port, made->id)) return counted(core, unavailable(nested()));
    if (auto joined = port.join(); !joined) return counted(core, unavailable(joined.error()));
    pass one{core, port, *made, work};
    auto done = reported(effect::none, [&] { return one.run(); });
    return counted(core, *made, done ? *std::move(done) : unavailable(std::move(done).error()));
}

} // namespace semel
