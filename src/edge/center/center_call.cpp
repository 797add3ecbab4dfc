#include "edge/center/center_call.hpp"

#include <utility>

#include "core/local_hash.hpp"
#include "edge/api/answer_json.hpp"

namespace semel::edge {
namespace {

using http::problem_kind;

begin_options begin_options_of(const center_core& core, center_command&& what) {
    const local_time now = core.runtime.now();
    const bool waits = what.wait > duration::zero();
    return {.what = std::get<commands::begin>(std::move(what.what)),
            .wait_until = waits ? now + what.wait : local_time{},
            .patience_until = now + core.options.patience,
            .seed = core.runtime.random()};
}

complete_options complete_options_of(const center_core& core, center_command&& what) {
    return {.what = std::move(what.what),
            .give_up_at = core.runtime.now() + core.options.patience,
            .seed = core.runtime.random()};
}

void count(center_counts& counts, const answer& said) {
    if (std::holds_alternative<answers::started>(said)) counts.started.add();
    if (std::holds_alternative<answers::replay>(said)) counts.replayed.add();
    if (std::holds_alternative<answers::in_progress>(said)) counts.in_progress.add();
    if (std::holds_alternative<answers::mismatch>(said)) counts.mismatched.add();
    if (std::holds_alternative<answers::failed>(said)) counts.failed.add();
    if (std::holds_alternative<answers::in_doubt>(said)) counts.in_doubt.add();
    if (std::holds_alternative<answers::fenced_off>(said)) counts.fenced.add();
}

} // namespace

// ---- all calls

center_call::center_call(std::shared_ptr<center_core> core, center_command what, call_end done)
    : core_(std::move(core)),
      id_(std::move(what.id)),
      hash_(local_hash_of(id_)),
      done_(std::move(done)) {
    core_->counts.commands.add();
    core_->calls.enter();
}

submission center_call::first() {
    return {.what = {.id = id_, .what = start()}, .done = heard()};
}

void center_call::ask(command what) {
    core_->records.submit({.id = id_, .what = std::move(what)}, heard());
}

completion center_call::heard() {
    return [self = shared_from_this()](result<semel::reply> got) { self->hear(std::move(got)); };
}

void center_call::hear(result<semel::reply>&& got) {
    if (got) {
        on_reply(*std::move(got));
    } else {
        on_failure(std::move(got).error());
    }
}

center_call::waiting center_call::wait_until(local_time when, waits_for what) {
    if (what == waits_for::news && watch_ == nullptr) {
        watch_ = core_->records.watch(id_, [weak = weak_from_this(), core = core_] {
            // Not here: the answer to what is then asked may come inline and end this watch.
            core->runtime.post([weak] {
                if (const auto self = weak.lock()) self->wake_now();
            });
        });
    }
    const std::uint64_t wait = ++waits_;
    if (!core_->add_waiter(shared_from_this())) return waiting::refused;
    armed_.store(wait, std::memory_order_release);
    // From here on another thread may have woken it: nothing of it is touched any more.
    core_->runtime.at(when, [weak = weak_from_this(), wait] {
        if (const auto self = weak.lock()) self->wake(wait);
    });
    return waiting::granted;
}

void center_call::wake(std::uint64_t wait) {
    if (wait == 0 || !armed_.compare_exchange_strong(wait, 0, std::memory_order_acq_rel)) return;
    const auto self = shared_from_this(); // its place among the waiters may be all that keeps it
    core_->remove_waiter(*this);
    if (core_->stopping()) stop_waiting();
    on_timer();
}

void center_call::wake_now() {
    wake(armed_.load(std::memory_order_acquire));
}

void center_call::finish(json_response with) {
    watch_.reset();
    auto done = std::move(done_);
    done(std::move(with));
    core_->calls.leave();
}

// ---- begin

begin_call::begin_call(const std::shared_ptr<center_core>& core, center_command what, call_end done)
    : center_call(core, {.id = what.id}, std::move(done)),
      content_(std::get<commands::begin>(what.what).content),
      machine_(begin_options_of(*core, std::move(what))) {}

command begin_call::start() {
    return std::get<begin_steps::ask>(machine_.start()).what;
}

void begin_call::perform(begin_step&& step) {
    const auto& problems = core().options.problems;
    if (auto* one = std::get_if<begin_steps::ask>(&step)) return ask(std::move(one->what));
    if (auto* one = std::get_if<begin_steps::wait>(&step)) return take(std::move(*one));
    if (auto* one = std::get_if<begin_steps::run>(&step)) {
        core().counts.started.add();
        return finish(
            to_json_response({.said = std::move(one->started), .now = one->now}, problems));
    }
    if (auto* one = std::get_if<begin_steps::answered>(&step)) {
        count(core().counts, one->with.said);
        report(one->with.said);
        return finish(to_json_response(one->with, problems));
    }
    core().counts.unavailable.add();
    finish(refusal(std::get<begin_steps::refused>(step).why, problem_kind::unavailable, problems));
}

void begin_call::report(const answer& said) {
    const auto* const differs = std::get_if<answers::mismatch>(&said);
    if (differs == nullptr || !content_ || !core().options.on_mismatch) return;
    core().options.on_mismatch({.id = id(), .held = differs->stored, .asked = *content_});
}

void begin_call::take(begin_steps::wait&& step) {
    const bool held = !step.away;
    const auto got = wait_until(step.until, held ? waits_for::news : waits_for::time);
    if (got == waiting::granted) return;
    if (!held) {
        core().counts.unavailable.add();
        return finish(refusal(failure{.code = errc::overloaded}, problem_kind::unavailable,
                              core().options.problems));
    }
    machine_.stop_waiting();
    perform(machine_.on_timer());
}

// ---- an attempt's own commands, and look-ups

owner_call::owner_call(const std::shared_ptr<center_core>& core, center_command what, call_end done)
    : center_call(core, {.id = what.id}, std::move(done)),
      machine_(complete_options_of(*core, {.what = std::move(what.what)})),
      kept_(what.kept) {}

command owner_call::start() {
    return std::get<complete_steps::ask>(machine_.start()).what;
}

void owner_call::on_reply(semel::reply&& got) {
    if (compares_) return compare(std::move(got));
    if (ended_before(got)) {
        compares_ = true;
        return ask(commands::lookup{});
    }
    perform(machine_.on_reply(std::move(got)));
}

void owner_call::on_failure(failure&& why) {
    compares_ = false; // the next try completes again, which changes nothing, and compares again
    if (why.possible == effect::unknown) in_doubt_ = true;
    perform(machine_.on_failure(std::move(why), now()));
}

void owner_call::perform(complete_step&& step) {
    if (auto* one = std::get_if<complete_steps::ask>(&step)) return ask(std::move(one->what));
    if (auto* one = std::get_if<complete_steps::settled>(&step))
        return settle(std::move(one->with));
    failure why{.code = errc::overloaded};
    if (auto* one = std::get_if<complete_steps::wait>(&step)) {
        if (!stopped_ && wait_until(one->until, waits_for::time) == waiting::granted) return;
    } else {
        why = std::get<complete_steps::gave_up>(std::move(step)).why;
    }
    // However the last try ended: one before it may have been applied.
    if (in_doubt_) why.possible = effect::unknown;
    core().counts.unavailable.add();
    finish(refusal(why, problem_kind::unconfirmed, core().options.problems));
}

// Any other expiry belongs to an earlier completion of this attempt, whose result counts.
bool owner_call::ended_before(const semel::reply& got) const {
    const auto* const what = std::get_if<commands::complete>(&machine_.what());
    const auto* const said = std::get_if<answers::stored>(&got.said);
    return what != nullptr && said != nullptr && said->expires_at != got.now + what->retention;
}

void owner_call::compare(semel::reply&& got) {
    const auto& mine = std::get<commands::complete>(machine_.what());
    const auto& current = std::get<answers::found>(got.said).current;
    const bool there = current && current->holder == mine.by;
    const time_point expires_at = there ? current->expires_at : time_point{};
    if (there && current->result != mine.result) {
        core().wake(hash());
        return finish(already_stored(*current, core().options.problems));
    }
    settle({.said = answers::stored{.expires_at = expires_at}, .now = got.now});
}

void owner_call::settle(semel::reply&& got) {
    const auto* off = std::get_if<answers::fenced_off>(&got.said);
    // A release that got through leaves nothing that a repeat of it could find.
    const bool released = in_doubt_ && off != nullptr && !off->current &&
                          std::holds_alternative<commands::release>(machine_.what());
    if (released) got.said = answers::stored{};
    count(core().counts, got.said);
    const bool ended = std::holds_alternative<answers::stored>(got.said) &&
                       !std::holds_alternative<commands::checkpoint>(machine_.what());
    json_response made = to_json_response(got, core().options.problems);
    if (!kept_ && made.status == 200) made.body["kept"] = false;
    if (ended) core().wake(hash());
    finish(std::move(made));
}

std::shared_ptr<center_call> make_call(const std::shared_ptr<center_core>& core,
                                       center_command what, call_end done) {
    if (std::holds_alternative<commands::begin>(what.what)) {
        return std::make_shared<begin_call>(core, std::move(what), std::move(done));
    }
    return std::make_shared<owner_call>(core, std::move(what), std::move(done));
}

} // namespace semel::edge
