#include "engine/attempt.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"
#include "engine/engine_core.hpp"
#include "semel/base/result.hpp"

namespace semel {

attempt::attempt(engine_core& core, plan&& what, detail::work& work)
    : core_(core.shared_from_this()),
      plan_(std::move(what)),
      owner_(core.new_owner()),
      work_(&work),
      strand_(strand::mode::served),
      inline_(true) {}

attempt::attempt(engine_core& core, plan&& what, engine::started_work work,
                 unique_function<void(raw_outcome)> done)
    : core_(core.shared_from_this()),
      plan_(std::move(what)),
      owner_(core.new_owner()),
      work_(nullptr),
      strand_(strand::mode::free),
      started_work_(std::move(work)),
      done_(std::move(done)),
      inline_(false) {}

attempt::~attempt() {
    if (admitted_) core_->leave();
}

local_time attempt::local_now() const {
    return core_->runtime->now();
}

// ---- getting in ---------------------------------------------------------------------------------

void attempt::begin() {
    strand_.post([self = shared_from_this()] { self->start(); });
}

void attempt::start() {
    now_ = came_at_ = local_now();
    if (waits()) wait_until_ = now_ + plan_.wait_max;
    auto joined = core_->in_flight.join(*this, now_);
    switch (joined.as) {
    case flights::role::leads: leading_ = true; return lead();
    case flights::role::alone: return lead();
    case flights::role::answered: stage_ = stage::over; return answer(*std::move(joined.with));
    case flights::role::parked: break;
    }
    stage_ = stage::parked;
    // An impatient follower still waits for the leader's first answer, as it would for the store's.
    arm(waits() ? wait_until_ : now_ + core_->options.store_patience, held_by::others);
}

void attempt::lead() {
    ask_until(now_ + core_->options.store_patience);
}

void attempt::ask_until(local_time patience_until) {
    stage_ = stage::beginning;
    if (auto fine = core_->admit(); !fine) return settle_begin(unavailable(fine.error()));
    admitted_ = true;
    begin_.emplace(begin_options{.what = begin_of(plan_, owner_),
                                 .wait_until = wait_until_,
                                 .patience_until = patience_until,
                                 .seed = owner_.low});
    perform(begin_->start());
}

void attempt::perform(begin_step&& step) {
    if (auto* next = std::get_if<begin_steps::ask>(&step)) {
        return ask(std::move(next->what), &attempt::on_begin_answer);
    }
    if (const auto* pause = std::get_if<begin_steps::wait>(&step)) {
        const bool held = !pause->away;
        if (leading_ && held) core_->in_flight.polling(*this, now_ + pause->hint, asked_at_);
        if (leading_ && !held) core_->in_flight.asking(*this, *pause->away);
        if (held) listen();
        if (std::exchange(missed_news_, false)) return perform(begin_->on_timer());
        return arm(pause->until, held_by::timer);
    }
    watch_.reset();
    if (auto* run = std::get_if<begin_steps::run>(&step)) return on_started(std::move(*run));
    if (auto* over = std::get_if<begin_steps::answered>(&step)) {
        return settle_begin(outcome_of(std::move(over->with)));
    }
    settle_begin(unavailable(std::move(std::get<begin_steps::refused>(step).why)));
}

void attempt::on_begin_answer(result<reply>&& got) {
    now_ = local_now();
    perform(got ? begin_->on_reply(*std::move(got), now_)
                : begin_->on_failure(std::move(got).error(), now_));
}

// Over without running. Followers asked the same question and get the same answer — except that
// "in progress" is only the impatient ones' answer: the others go on waiting under a new leader.
void attempt::settle_begin(raw_outcome&& with) {
    const bool open = with.kind == outcome_kind::in_progress;
    close(open ? ending::next::open : ending::next::settled, std::move(with));
}

// ---- the work -----------------------------------------------------------------------------------

void attempt::on_started(begin_steps::run&& run) {
    stage_ = stage::working;
    started_ = std::move(run.started);
    // The lease counts from before the question left, so it cannot end later than the store thinks;
    // of a begin that was in doubt and found by reading, some of it is over already.
    lease_.id = &plan_.id;
    lease_.hash = plan_.hash;
    lease_.by = started_.by;
    lease_.term = plan_.lease;
    lease_.sent_at = asked_at_;
    lease_.granted = started_.lease_until - run.now;
    if (mutant(bug::adopted_lease_is_whole)) lease_.granted = plan_.lease;
    core_->keeper.add(std::shared_ptr<lease>(shared_from_this(), &lease_));
    if (leading_) {
        core_->in_flight.running(*this, started_.content, plan_.lease);
    }
    if (local_now() >= lease_.sent_at + lease_.granted) return end_unrun();
    run_work();
}

// The answer has taken longer than the lease it gave: another attempt may be running by now.
void attempt::end_unrun() {
    stage_ = stage::completing;
    own_ =
        unavailable({.code = errc::timed_out,
                     .possible = effect::none,
                     .detail = "the store has answered after the lease it gave was over; nothing "
                               "was run, ask again"});
    then_ = ending::next::open;
    carry(end_of_unrun(started_));
}

// Ends asynchronous work once: by its call, or, if the work drops it uncalled, as "unknown".
class attempt::work_ender {
public:
    explicit work_ender(std::shared_ptr<attempt> of) : of_(std::move(of)) {}
    work_ender(work_ender&&) noexcept = default;
    work_ender& operator=(work_ender&&) = delete;
    ~work_ender() {
        if (of_ != nullptr) (*this)(unknown_verdict{});
    }

    void operator()(work_end end) {
        const auto self = std::exchange(of_, nullptr);
        if (self == nullptr) return;
        self->strand_.post(
            [self, end = std::move(end)]() mutable { self->on_work_end(std::move(end)); });
    }

private:
    std::shared_ptr<attempt> of_;
};

void attempt::run_work() {
    started_.replaced.reset(); // may hold a result, which is of no use from here on
    if (work_ != nullptr) return on_work_end(work_->run(view_));
    try {
        std::exchange(started_work_, {})(view_, work_ender{shared_from_this()});
    } catch (...) {
        on_work_end(threw_end{std::current_exception()});
    }
}

void attempt::on_work_end(work_end&& end) {
    if (stage_ != stage::working) return; // ended twice: the first end counts
    stage_ = stage::completing;
    ending made = ending_of(std::move(end), plan_, started_, std::move(result_ref_));
    own_ = std::move(made.own);
    const bool shared = policy().owner_failure == on_owner_failure::share;
    then_ = own_.kind == outcome_kind::failed && shared ? ending::next::settled : made.then;
    if (own_.result.kind == result_kind::tombstone) bump(core_->counters.tombstones);
    carry(std::move(made.what));
}

// Sends the end of the attempt to the store. An exception here must not leave the lease behind:
// it would be renewed up to processing_max, although no work is running.
void attempt::carry(command&& what) {
    try {
        send_end(std::move(what));
    } catch (...) {
        if (stage_ == stage::over) throw; // the end has arrived
        on_unsendable();
    }
}

void attempt::on_unsendable() {
    try {
        core_->records->submit({.id = plan_.id, .what = commands::abandon{.by = started_.by}},
                               [](const result<reply>&) {});
    } catch (...) { // then the record's policy decides after the lease
    }
    on_gave_up({.code = errc::internal,
                .possible = effect::unknown,
                .detail = "an exception has kept the end of the work from the store"});
}

void attempt::send_end(command&& what) {
    now_ = local_now();
    confirm_until_ = now_ + core_->options.confirm_max;
    complete_.emplace(complete_options{.what = std::move(what),
                                       .give_up_at = now_ + core_->options.completion_patience,
                                       .seed = owner_.high});
    if (!inline_) expect_end();
    if (mutant(bug::waiters_woken_early) && leading_) {
        core_->in_flight.tell(core_->in_flight.end(*this), told_of(own_));
        leading_ = false;
    }
    perform(complete_->start());
}

// ---- getting out --------------------------------------------------------------------------------

void attempt::perform(complete_step&& step) {
    if (auto* next = std::get_if<complete_steps::ask>(&step)) {
        return ask(std::move(next->what), &attempt::on_complete_answer);
    }
    if (const auto* pause = std::get_if<complete_steps::wait>(&step)) {
        retry_at_ = pause->until;
        return arm(answered_ ? retry_at_ : std::min(retry_at_, confirm_until_), held_by::timer);
    }
    if (const auto* done = std::get_if<complete_steps::settled>(&step)) {
        return on_settled(done->with);
    }
    on_gave_up(std::get<complete_steps::gave_up>(step).why);
}

void attempt::on_complete_answer(result<reply>&& got) {
    if (stage_ == stage::over) return;
    if (!got && core_->giving_up()) return on_gave_up(got.error());
    perform(got ? complete_->on_reply(*std::move(got))
                : complete_->on_failure(std::move(got).error(), local_now()));
}

void attempt::on_settled(const reply& got) {
    if (const auto* fenced = std::get_if<answers::fenced_off>(&got.said)) {
        bump(core_->counters.fenced_completions);
        log_warning(*core_->log, "completion fenced off: another owner took over",
                    {{"operation", plan_.id.operation},
                     {"key", log_key(plan_.id.key)},
                     {"fence", started_.by.fence}});
        if (mutant(bug::fenced_returns_own)) return close(then_, std::move(own_));
        return close(ending::next::open, winners(*fenced, plan_, got.now));
    }
    SEMEL_ASSERT(std::holds_alternative<answers::stored>(got.said));
    if (own_.kind == outcome_kind::executed) {
        own_.expires_at = std::get<answers::stored>(got.said).expires_at;
        note_burial();
    }
    close(then_, std::move(own_));
}

// The store could not take the result, and keeps a tombstone instead.
void attempt::note_burial() {
    const auto& kept = std::get<commands::complete>(complete_->what()).result;
    if (kept.kind == own_.result.kind) return;
    bump(core_->counters.tombstones);
    log_warning(*core_->log, "the store cannot hold the result: only the effect is remembered",
                {{"operation", plan_.id.operation}, {"key", log_key(plan_.id.key)}});
}

void attempt::on_gave_up(const failure& why) {
    bump(core_->counters.lost_completions);
    log_error(*core_->log, "completion given up: the record's policy decides after its lease",
              {{"operation", plan_.id.operation},
               {"key", log_key(plan_.id.key)},
               {"why", describe(why)}});
    raw_outcome with = unconfirmed();
    with.why = why;
    close(ending::next::open, std::move(with));
}

// The attempt is over: free the lease, tell the followers, answer the caller.
void attempt::close(ending::next then, raw_outcome&& with) {
    const bool worked = stage_ == stage::working || stage_ == stage::completing;
    stage_ = stage::over;
    if (worked) core_->keeper.remove(lease_);
    if (begin_ && begin_->was_in_doubt()) {
        const claim by{.fence = started_.by.fence, .owner = owner_};
        core_->orphaned_claims.look_for(*core_, plan_.id, by, plan_.lease);
    }
    if (std::exchange(leading_, false)) {
        if (then == ending::next::open) {
            core_->in_flight.hand_over(*this, told_of(with));
        } else if (const auto followers = core_->in_flight.end(*this); !followers.empty()) {
            core_->in_flight.tell(followers, told_of(with));
        }
    }
    if (!answered_) answer(std::move(with));
    if (std::exchange(admitted_, false)) core_->leave();
}

// The news for followers: this attempt's own result is their replay.
raw_outcome attempt::told_of(const raw_outcome& with) const {
    raw_outcome told = with;
    told.thrown = nullptr;
    if (told.kind != outcome_kind::executed) return told;
    told.kind = outcome_kind::replayed;
    told.result = std::get<commands::complete>(complete_->what()).result;
    return told;
}

void attempt::answer(raw_outcome&& with) {
    bump(core_->counters.outcomes[static_cast<std::size_t>(with.kind)]);
    core_->report(with, plan_);
    timer_.reset();
    answered_.emplace(std::move(with));
    if (!done_) return;
    auto done = std::exchange(done_, {});
    core_->call_back("done", [&] { done(std::move(*answered_)); });
}

// The work's own exception reaches its caller all the same.
raw_outcome attempt::unconfirmed() const {
    return {.kind = outcome_kind::unconfirmed,
            .error = own_.error,
            .by = started_.by,
            .attempt = started_.attempt,
            .thrown = own_.thrown};
}

raw_outcome attempt::wait_for_answer() {
    while (!answered_) {
        if (!strand_.serve(timer_)) on_timer();
    }
    inline_ = false;
    if (stage_ == stage::completing) arm(retry_at_, held_by::timer); // goes on in the background
    strand_.leave();
    return std::move(*answered_);
}

} // namespace semel
