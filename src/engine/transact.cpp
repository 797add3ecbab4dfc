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

raw_outcome counted(engine_core& core, raw_outcome with) {
    bump(core.counters.outcomes[static_cast<std::size_t>(with.kind)]);
    return with;
}

raw_outcome counted(engine_core& core, const plan& what, raw_outcome with) {
    core.report(with, what);
    return counted(core, std::move(with));
}

// An error at COMMIT does not mean "not committed": read again, adopt what is there, if it is ours.
task<result<std::optional<record>>>
committed_after_all(async_transaction_port& port, const plan& what, const transaction_pass& one) {
    co_await port.rollback();
    auto begun = co_await port.begin(on_locked::wait);
    if (!begun) co_return std::move(begun).error();
    auto now = co_await port.lock(what.id);
    co_await port.rollback();
    if (!now) co_return std::move(now).error();
    if (!one.mine(*now)) co_return std::optional<record>{};
    co_return std::move(now->stored);
}

task<result<void>> keep_failure(engine_core& core, async_transaction_port& port,
                                transaction_pass& one) {
    auto kept = co_await port.begin(on_locked::wait);
    if (kept) {
        auto written = co_await one.write_failure();
        kept = std::move(written);
    }
    if (kept) {
        auto committed = co_await port.commit();
        kept = std::move(committed);
    }
    if (!kept) {
        co_await port.rollback();
        log_warning(*core.log, "a final failure could not be kept",
                    {{"why", describe(kept.error())}});
    }
    co_return kept;
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

task<tried> finish_commit(async_transaction_port& port, const plan& what,
                          const transaction_pass& one, raw_outcome with) {
    auto committed = co_await port.commit();
    if (committed) co_return tried{.with = std::move(with)};
    failure why = std::move(committed).error();
    if (why.possible == effect::none) {
        co_await port.rollback();
        co_return failed_with(std::move(why));
    }
    const auto landed = co_await committed_after_all(port, what, one);
    if (!landed) {
        raw_outcome unclear{.kind = outcome_kind::unconfirmed, .why = landed.error()};
        co_return tried{.with = std::move(unclear)};
    }
    if (*landed) co_return tried{.with = std::move(with)};
    why.possible = effect::none;
    co_return failed_with(std::move(why));
}

task<tried> try_once(engine_core& core, async_transaction_port& port, const plan& what,
                     transaction_work& work, transacting how) {
    const auto locked = what.wait == wait_mode::wait ? on_locked::wait : on_locked::answer;
    auto begun = co_await port.begin(locked);
    if (!begun) co_return not_begun(std::move(begun).error());
    transaction_pass one{core, port, what, work};
    std::optional<result<raw_outcome>> done;
    try {
        auto ended = co_await one.run(how);
        done = std::move(ended);
    } catch (...) {
        done = of_current_exception(effect::none);
    }
    // Asked before the rollback, which is a statement too.
    const bool asked = one.ran() && port.asks_to_repeat();
    if (*done && one.wrote() && !asked) {
        auto finished = co_await finish_commit(port, what, one, **std::move(done));
        co_return finished;
    }
    co_await port.rollback();
    if (!*done && !one.ran()) co_return not_begun(std::move(*done).error());
    if (!*done) co_return failed_with(std::move(*done).error());
    if (asked) co_return tried{.with = asked_too_often(**std::move(done)), .again = true};
    if (one.failed_finally()) co_await keep_failure(core, port, one);
    co_return tried{.with = **std::move(done)};
}

// Nothing if the ordinary way has to decide.
task<std::optional<raw_outcome>> try_blind(engine_core& core, async_transaction_port& port,
                                           const plan& what, transaction_work& work) {
    const auto begun = co_await port.begin_blind(what.id);
    if (!begun) co_return std::nullopt; // it says why, if it cannot, either
    transaction_pass one{core, port, what, work};
    std::optional<result<raw_outcome>> done;
    try {
        auto ended = co_await one.run_blind(); // it commits, too
        done = std::move(ended);
    } catch (...) {
        done = of_current_exception(effect::unknown);
    }
    if (*done) co_return **std::move(done);
    failure why = std::move(*done).error();
    if (why.possible == effect::none) {
        // Also where a statement of the work has failed: a repeat may do what cannot be done twice.
        co_await port.rollback();
        co_return std::nullopt;
    }
    const auto landed = co_await committed_after_all(port, what, one);
    if (landed && *landed) {
        raw_outcome with = one.own();
        with.by = (*landed)->holder;
        with.expires_at = (*landed)->expires_at;
        co_return with;
    }
    // What is not there may yet come: the key was not locked before all of it was sent.
    raw_outcome unclear{.kind = outcome_kind::unconfirmed,
                        .why = landed ? std::move(why) : landed.error()};
    co_return unclear;
}

raw_outcome in_progress_elsewhere() {
    return {.kind = outcome_kind::in_progress, .retry_after = std::chrono::milliseconds{50}};
}

// BEGIN … COMMIT is ours; repeated inside when the database asks for it.
task<raw_outcome> transact_own(engine_core& core, async_transaction_port& port, const plan& what,
                               transaction_work& work, transacting how) {
    tried last;
    for (int turn = 0; turn < tries_max; ++turn) {
        auto next = co_await try_once(core, port, what, work, how);
        last = std::move(next);
        if (last.held && what.wait == wait_mode::answer) co_return in_progress_elsewhere();
        if (!last.again) break;
    }
    co_return std::move(last.with);
}

// The transaction is the caller's; never committed here.
task<raw_outcome> transact_joined(engine_core& core, async_transaction_port& port, const plan& what,
                                  transaction_work& work) {
    auto joined = co_await port.join();
    if (!joined) co_return unavailable(std::move(joined).error());
    transaction_pass one{core, port, what, work};
    std::optional<result<raw_outcome>> done;
    try {
        auto ended = co_await one.run(transacting::joined);
        done = std::move(ended);
    } catch (...) {
        done = of_current_exception(effect::none);
    }
    if (!*done) co_return unavailable(std::move(*done).error());
    co_return **std::move(done);
}

task<raw_outcome> transact_one(engine_core& core, async_transaction_port& port, request what,
                               transaction_work& work, transacting how) {
    auto made = core.make_plan(std::move(what));
    if (!made) co_return counted(core, unavailable(std::move(made).error()));
    if (open_key::held(port.connection(), made->id)) {
        co_return counted(core, unavailable(nested()));
    }
    if (how == transacting::joined) {
        auto with = co_await transact_joined(core, port, *made, work);
        co_return counted(core, *made, std::move(with));
    }
    if (how == transacting::blind) {
        auto done = co_await try_blind(core, port, *made, work);
        if (done) co_return counted(core, *made, *std::move(done));
    }
    auto with = co_await transact_own(core, port, *made, work, how);
    co_return counted(core, *made, std::move(with));
}

} // namespace

raw_outcome transact(engine_core& core, transaction_port& port, request what, detail::work& work,
                     transacting how) {
    blocking_port on{port};
    blocking_work runs{work};
    try {
        return transact_one(core, on, std::move(what), runs, how).get();
    } catch (...) {
        if (how != transacting::joined) port.abandon();
        throw;
    }
}

task<raw_outcome> transact(std::shared_ptr<engine_core> core, async_transaction_port& port,
                           request what, engine::started_work work, transacting how) {
    async_work runs{work};
    std::optional<raw_outcome> with;
    try {
        auto ended = co_await transact_one(*core, port, std::move(what), runs, how);
        with = std::move(ended);
    } catch (...) {
        if (how != transacting::joined) port.abandon();
        with = unavailable(of_current_exception(effect::unknown));
    }
    co_return *std::move(with);
}

} // namespace semel
