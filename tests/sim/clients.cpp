// The clients of the world: they ask, wait, give up, ask again, and sometimes ask for something
// else under the same key.
#include <algorithm>
#include <array>
#include <utility>

#include "sim/sim_transaction.hpp"
#include "sim/world.hpp"

namespace semel::sim {

using std::chrono::milliseconds;

namespace {

fingerprint content_of(unsigned payload) {
    fingerprint::bytes_type bytes{};
    bytes.fill(static_cast<std::byte>(payload + 1));
    return fingerprint{bytes};
}

// Nothing to be gained by asking again.
bool definite(const raw_outcome& with) {
    switch (with.kind) {
    case outcome_kind::executed:
    case outcome_kind::replayed:
    case outcome_kind::mismatch:
    case outcome_kind::failed:
    case outcome_kind::in_doubt: return true;
    case outcome_kind::unavailable: return with.why && with.why->code == errc::corrupt;
    case outcome_kind::in_progress:
    case outcome_kind::unconfirmed: break;
    }
    return false;
}

} // namespace

// Few records and many callers: that is where it gets interesting.
void world::draw_requests() {
    static constexpr std::array operations{"RETRY", "HOLD",  "PROBE",   "OVERWRITE",
                                           "FEW",   "SHARE", "TRANSACT"};
    const std::size_t count = 2 + scene_.random.below(4);
    for (std::size_t i = 0; i < count; ++i) {
        record_id id{.tenant = scene_.random.hit(500) ? "a" : "b",
                     .operation = operations[scene_.random.below(operations.size())],
                     .key = scene_.random.hit(500) ? "k" : "K"};
        if (std::find(ids_.begin(), ids_.end(), id) == ids_.end()) ids_.push_back(std::move(id));
    }
    const std::size_t sessions = 8 + scene_.random.below(25);
    for (std::size_t i = 0; i < sessions; ++i) {
        add_session(1 + static_cast<unsigned>(scene_.random.below(6)));
    }
}

void world::add_session(unsigned calls_max) {
    auto made = std::make_unique<session>();
    made->id = ids_[scene_.random.below(ids_.size())];
    made->in_transaction = made->id.operation == "TRANSACT";
    if (!scene_.random.hit(100)) made->content = content_of(scene_.random.hit(800) ? 0 : 1);
    made->calls_left = calls_max;
    sessions_.push_back(std::move(made));
    ask_again(*sessions_.back(), scene_.random.between(milliseconds{0}, milliseconds{5000}));
}

// L2: somebody keeps asking for every record.
void world::add_last_sessions() {
    for (const auto& id : ids_) {
        auto made = std::make_unique<session>();
        made->id = id;
        made->in_transaction = id.operation == "TRANSACT";
        made->content = content_of(0);
        made->calls_left = 1000;
        sessions_.push_back(std::move(made));
        ask_again(*sessions_.back(), scene_.random.between(milliseconds{0}, milliseconds{50}));
    }
}

void world::ask_again(session& who, duration delay) {
    if (who.calls_left == 0) {
        who.settled = true;
        return;
    }
    scene_.loop.after(delay, world_process, [this, &who] { ask(who); });
}

void world::ask(session& who) {
    process& at = *processes_[scene_.random.below(processes_.size())];
    if (!at.up) return ask_again(who, scene_.random.between(milliseconds{1}, milliseconds{200}));
    --who.calls_left;
    auto made = std::make_shared<call>();
    made->serial = ++last_call_;
    made->where = at.id;
    made->id = who.id;
    made->content = who.content;
    made->waits = scene_.random.hit(700);
    made->in_transaction = who.in_transaction;
    made->begun = scene_.loop.now();
    calls_.push_back({&who, made});
    scene_.say("call ", made->serial, " ", text_of(made->id), " on process ", std::uint64_t{at.id},
               made->waits ? " waits" : "");
    // Through the process's own queue: a paused process does not even begin.
    scene_.loop.after({}, at.id, [this, &at, &who, made] {
        if (made->in_transaction) return begin_transaction(at, who, made);
        begin_call(at, who, made);
    });
}

void world::begin_call(process& at, session& who, const std::shared_ptr<call>& made) {
    request what{.tenant = made->id.tenant,
                 .operation = made->id.operation,
                 .key = made->id.key,
                 .content = made->content};
    what.with.wait = made->waits ? wait_mode::wait : wait_mode::answer;
    auto handle = at.runs->start(
        std::move(what),
        [this, made](execution& run, sim_work::ender done) {
            std::make_shared<sim_work>(work_, made, run, std::move(done))->start();
        },
        [this, &who, made](const raw_outcome& with) { on_answer(who, made, with); });
    if (made->ended) return;
    made->handle = std::move(handle);
    plan_cancel(made);
}

void world::plan_cancel(const std::shared_ptr<call>& of) {
    if (!scene_.random.hit(scene_.plan.cancelled)) return;
    const duration when = scene_.random.between(milliseconds{0}, usual_.lease * 2);
    scene_.loop.after(when, of->where, [this, of] {
        if (of->ended || of->crashed || of->handle == nullptr) return;
        scene_.say("cancel call ", of->serial);
        scene_.seen.saw(rare::waiting_cancelled);
        of->cancelled = true;
        of->handle->cancel();
    });
}

void world::begin_transaction(process& at, session& who, const std::shared_ptr<call>& made) {
    sim_transaction connection{scene_, database_, network_};
    request what{.tenant = made->id.tenant,
                 .operation = made->id.operation,
                 .key = made->id.key,
                 .content = made->content};
    const auto work = [&](execution& run, sim_port& on) -> verdict<std::string> {
        made->fence = run.fence();
        made->work_begun = scene_.loop.now();
        on.write_row();
        const std::string text = text_of(made->id) + "|transaction failed";
        ghost_.keys[made->id].errors.insert(text);
        if (scene_.random.hit(100)) throw final_error{text};
        if (scene_.random.hit(100)) return verdict<std::string>{retry_later(text)};
        made->body = body_of(*made, run.fence(), 0);
        return made->body;
    };
    try {
        const auto out = at.runs->transact<std::string>(connection, std::move(what), work);
        on_answer(who, made, out.raw());
    } catch (const final_error& one) {
        on_answer(who, made, {.kind = outcome_kind::failed, .error = one.what()});
    }
}

void world::on_answer(session& who, const std::shared_ptr<call>& of, const raw_outcome& with) {
    if (of->crashed) return;
    scene_.say("answer ", of->serial, " ", text_of(of->id), " ", name(with.kind), " fence ",
               with.by.fence);
    records_.note(of->id, database_.now());
    answers_.on_answer(*of, with);
    of->ended = scene_.loop.now();
    of->kind = with.kind;
    // The handle is the engine's to let go of: not from inside its own call.
    scene_.loop.after({}, world_process, [of] { of->handle.reset(); });
    // Some keep asking although they know: they must hear the same again.
    const bool enough = definite(with) && (healed_ || !scene_.random.hit(400));
    if (enough) {
        who.settled = true;
        return;
    }
    const duration pause = std::max(with.retry_after, duration{milliseconds{5}});
    // A client may also ask anew from inside the answer.
    if (scene_.random.hit(50) && who.calls_left > 0) return ask(who);
    ask_again(who, scene_.random.between(milliseconds{1}, std::min<duration>(pause, usual_.lease)));
}

void world::on_crashed_call(const std::shared_ptr<call>& of) {
    for (auto& [who, it] : calls_) {
        if (it != of) continue;
        return ask_again(*who, scene_.random.between(milliseconds{1}, milliseconds{300}));
    }
}

} // namespace semel::sim
