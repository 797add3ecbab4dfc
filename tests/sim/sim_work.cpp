#include "sim/sim_work.hpp"

#include <utility>

namespace semel::sim {

namespace {

using std::chrono::milliseconds;

work_script::end draw_end(dice& random, bool calm) {
    using end = work_script::end;
    if (random.hit(calm ? 850 : 600)) return end::value;
    static constexpr end others[]{end::rejection, end::tombstone, end::retry_later, end::retryable,
                                  end::final,     end::release,   end::unknown,     end::dropped};
    return others[random.below(std::size(others))];
}

// Work that says "nothing happened" must be right about it; "unknown" may be either.
bool draw_effect(dice& random, work_script::end how) {
    using end = work_script::end;
    switch (how) {
    case end::value:
    case end::rejection:
    case end::tombstone: return true;
    case end::unknown:
    case end::dropped: return random.hit(500);
    case end::retry_later:
    case end::retryable:
    case end::final:
    case end::release: break;
    }
    return false;
}

duration draw_length(dice& random, duration lease) {
    if (random.hit(100)) return {};
    return random.hit(700) ? random.between(milliseconds{0}, lease / 4)
                           : random.between(lease / 2, lease * 3 / 2);
}

template <class E> threw_end thrown(const std::string& text) {
    return {std::make_exception_ptr(E{text})};
}

} // namespace

work_script draw_script(scene& with, duration lease, bool calm) {
    dice& random = with.random;
    work_script script;
    script.how = draw_end(random, calm);
    script.has_effect = draw_effect(random, script.how);
    script.steps = random.hit(300) ? 1 + static_cast<unsigned>(random.below(3)) : 0;
    script.before_effect = draw_length(random, lease);
    script.after_effect = draw_length(random, lease);
    script.heeds_stop = random.hit(300);
    return script;
}

std::string body_of(const call& by, std::uint64_t fence, std::size_t bytes) {
    std::string body =
        text_of(by.id) + "|call " + std::to_string(by.serial) + "|fence " + std::to_string(fence);
    if (body.size() < bytes) body.resize(bytes, '.');
    return body;
}

sim_work::sim_work(workplace& at, std::shared_ptr<call> of, execution& run, ender done)
    : at_(at),
      call_(std::move(of)),
      run_(run),
      done_(std::move(done)),
      script_(draw_script(at.with, at.lease, at.calm_from.has_value())) {
    call_->fence = run.fence();
    call_->work_begun = at.with.loop.now();
    auto& key = at.truth.keys[call_->id];
    if (const auto claim = key.claims.find(call_->fence); claim != key.claims.end()) {
        claim->second.where = call_->where;
        claim->second.ran = true;
    }
    const auto last = key.work_ended.find(call_->where);
    if (last != key.work_ended.end() && last->second > call_->begun) {
        at.with.seen.saw(rare::follower_promoted);
    }
    run.set_result_ref(call_->id.key);
    at.running[{call_->id, call_->fence}] = this;
    at.with.say("work ", text_of(call_->id), " call ", call_->serial, " fence ", call_->fence,
                " attempt ", std::uint64_t{run.attempt()});
}

sim_work::~sim_work() {
    at_.running.erase({call_->id, call_->fence});
}

// L5, the other side: a holder that cannot keep its lease hears of it before anybody takes over.
void workplace::on_taken_over(const record_id& id, std::uint64_t fence) {
    const auto found = running.find({id, fence});
    if (found == running.end() || !steady) return;
    if (!found->second->warned()) {
        with.fail("L5", text_of(id) + ": taken over while its holder believes in its lease");
    }
}

bool sim_work::warned() const {
    // A claim that was found by reading may be over when the work begins: its stop is on the way.
    constexpr duration on_the_way = milliseconds{10};
    const bool fresh = at_.with.loop.now() - *call_->work_begun < on_the_way;
    return fresh || run_.stop_token().stop_requested();
}

void sim_work::start() {
    next_step();
}

void sim_work::later(duration delay, void (sim_work::*then)()) {
    if (delay == duration::zero()) return (this->*then)();
    at_.with.loop.after(delay, call_->where,
                        [self = shared_from_this(), then] { ((*self).*then)(); });
}

bool sim_work::calm() const {
    return at_.calm_from && *call_->work_begun >= *at_.calm_from;
}

bool sim_work::told_to_stop() {
    if (!run_.stop_token().stop_requested()) return false;
    at_.with.seen.saw(rare::lease_lost);
    if (calm()) at_.with.fail("L5", text_of(call_->id) + ": a live holder lost its lease");
    return script_.heeds_stop;
}

// ---- steps

void sim_work::next_step() {
    if (step_ == script_.steps) return later(script_.before_effect, &sim_work::on_effect);
    const std::string name = "step " + std::to_string(step_++);
    const std::string* known = run_.port().recorded(name);
    if (known == nullptr) return record_step(name);
    if (run_.taken_over()) at_.with.seen.saw(rare::checkpoint_replayed);
    if (*known != text_of(call_->id) + "|" + name) {
        at_.with.fail("S6", text_of(call_->id) + ": a step of another record: " + *known);
    }
    next_step();
}

void sim_work::record_step(const std::string& name) {
    run_.port().record_async(name, text_of(call_->id) + "|" + name,
                             [self = shared_from_this()](const result<void>& stored) {
                                 if (stored) return self->next_step();
                                 if (stored.error().code == errc::stopped) {
                                     return self->end(
                                         threw_end{std::make_exception_ptr(lease_lost{})});
                                 }
                                 self->end(thrown<release_error>("step not stored"));
                             });
}

// ---- effect and end

void sim_work::on_effect() {
    if (told_to_stop()) return end(threw_end{std::make_exception_ptr(lease_lost{})});
    if (script_.has_effect) {
        at_.with.say("effect ", text_of(call_->id), " fence ", call_->fence);
        at_.checker.on_effect(call_->id, call_->fence);
    }
    later(script_.after_effect, &sim_work::finish);
}

void sim_work::finish() {
    static_cast<void>(told_to_stop());
    if (script_.how != work_script::end::dropped) return end(made_end());
    mark_ended();
    const ender gone = std::move(done_); // forgotten by its user: the engine must notice
}

void sim_work::mark_ended() {
    call_->work_ended = at_.with.loop.now();
    at_.truth.keys[call_->id].work_ended[call_->where] = at_.with.loop.now();
    at_.running.erase({call_->id, call_->fence});
    // Whatever the caller did meanwhile, the end must be on its way as soon as the engine knows it.
    at_.with.loop.after(milliseconds{10}, call_->where, [&at = at_, of = call_] {
        if (at.truth.keys[of->id].ends_sent.contains(of->fence)) return;
        at.with.fail("L2", text_of(of->id) + " call " + std::to_string(of->serial) +
                               ": the end of its work was never sent to the store");
    });
}

void sim_work::end(work_end how) {
    mark_ended();
    auto& errors = at_.truth.keys[call_->id].errors;
    if (const auto* threw = std::get_if<threw_end>(&how)) {
        try {
            std::rethrow_exception(threw->thrown);
        } catch (const std::exception& one) {
            errors.insert(one.what());
        }
    }
    if (const auto* late = std::get_if<retry_later_verdict>(&how)) errors.insert(late->error);
    done_(std::move(how));
}

work_end sim_work::made_end() {
    using end = work_script::end;
    const std::string text =
        text_of(call_->id) + "|fence " + std::to_string(call_->fence) + " failed";
    const auto answered = [&](result_kind kind, std::size_t bytes) {
        call_->body = body_of(*call_, call_->fence, bytes);
        return answered_end{{.kind = kind, .body = call_->body, .type = "text"}};
    };
    switch (script_.how) {
    case end::value: return answered(result_kind::value, 0);
    case end::rejection: return answered(result_kind::rejection, 0);
    case end::tombstone: return answered(result_kind::value, 1000);
    case end::retry_later: return retry_later(text, milliseconds{50});
    case end::retryable: return thrown<std::runtime_error>(text);
    case end::final: return thrown<final_error>(text);
    case end::release: return thrown<release_error>(text);
    case end::unknown:
    case end::dropped: break;
    }
    return unknown_verdict{};
}

} // namespace semel::sim
