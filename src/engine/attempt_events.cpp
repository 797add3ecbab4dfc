// What wakes an attempt: answers of the store, timers, news of others, and its caller's cancelling.
#include <utility>

#include "base/mutant.hpp"
#include "engine/attempt.hpp"
#include "engine/engine_core.hpp"

namespace semel {

void attempt::ask(command&& what, on_answer then) {
    asked_at_ = now_;
    std::optional<time_point> now;
    if (mutant(bug::client_clock)) now = core_->client_clock();
    if (inline_) return (this->*then)(core_->records->call(plan_.id, std::move(what), now));
    envelope sent{.id = plan_.id, .what = std::move(what), .now = now};
    core_->records->submit(std::move(sent), [self = shared_from_this(), then](result<reply> got) {
        self->strand_.post(
            [self, then, got = std::move(got)]() mutable { ((*self).*then)(std::move(got)); });
    });
}

// For what may end in the user's code, from threads and stacks that must not run it.
template <class Event> void attempt::on_callback_thread(std::shared_ptr<attempt> of, Event event) {
    auto& runtime = *of->core_->runtime;
    runtime.post([of = std::move(of), event] { of->strand_.post([of, event] { event(*of); }); });
}

void attempt::arm(local_time when, held_by who) {
    timer_ = when;
    const std::uint64_t serial = ++timer_serial_;
    if (inline_) return;
    const auto fire = [serial](attempt& it) {
        if (it.timer_ && it.timer_serial_ == serial) it.on_timer();
    };
    if (who == held_by::timer) {
        return core_->runtime->at(
            when, [self = shared_from_this(), fire] { on_callback_thread(self, fire); });
    }
    // Far off and hardly ever needed: it must keep neither the attempt nor the engine alive.
    core_->runtime->at(when, [weak = weak_from_this(), fire] {
        if (auto self = weak.lock()) on_callback_thread(std::move(self), fire);
    });
}

// Asynchronously, the store's answer may take longer than the caller wants to wait for it. The
// keeper holds the attempt while it calls.
void attempt::expect_end() {
    core_->keeper.expect_end(lease_, confirm_until_, [this] {
        const auto late = [](attempt& it) {
            if (it.stage_ == stage::completing && !it.answered_) it.on_timer();
        };
        on_callback_thread(shared_from_this(), late);
    });
}

void attempt::on_timer() {
    timer_.reset();
    now_ = local_now();
    switch (stage_) {
    case stage::parked: return on_parked_too_long();
    case stage::beginning: return perform(begin_->on_timer());
    case stage::completing: break;
    case stage::fresh:
    case stage::working:
    case stage::over: return;
    }
    if (!answered_ && now_ >= confirm_until_) {
        answer(unconfirmed());
        if (inline_) return; // the caller leaves and re-arms
    }
    if (retry_at_ == local_time{}) return; // the store has the question
    if (now_ < retry_at_) return arm(retry_at_, held_by::timer);
    retry_at_ = {};
    perform(complete_->on_timer());
}

// Another process holds the record: the store may hear of the end before the next poll.
void attempt::listen() {
    if (watch_ != nullptr) return;
    watch_ = core_->records->watch(plan_.id, [weak = weak_from_this()] {
        const auto changed = [](attempt& it) { it.on_change(); };
        if (auto self = weak.lock()) on_callback_thread(std::move(self), changed);
    });
}

void attempt::on_change() {
    if (stage_ != stage::beginning || watch_ == nullptr) return;
    if (!timer_) {
        missed_news_ = true;
        return;
    }
    on_timer();
}

void attempt::on_parked_too_long() {
    if (mutant(bug::waiter_releases_record)) {
        envelope gone{.id = plan_.id, .what = commands::remove{.actor = "waiter"}};
        core_->records->submit(std::move(gone), [](result<reply>) {});
    }
    stop_following();
}

void attempt::stop_following() {
    auto left = core_->in_flight.leave(*this, now_);
    if (left.as == flights::role::parked) return; // the news is on its way
    timer_.reset();
    if (left.as == flights::role::alone) return ask_until(now_); // once
    stage_ = stage::over;
    answer(*std::move(left.with));
}

void attempt::on_news(raw_outcome news) {
    auto hear = [self = shared_from_this(), news = std::move(news)]() mutable {
        if (self->stage_ != stage::parked) return;
        self->stage_ = stage::over;
        self->answer(std::move(news));
    };
    if (work_ != nullptr) return strand_.post(std::move(hear));
    // Not from here: a `done` that blocks would keep the news from the other followers, and the
    // leader from its own answer.
    core_->runtime->post([self = shared_from_this(), hear = std::move(hear)]() mutable {
        self->strand_.post(std::move(hear));
    });
}

void attempt::on_promoted(flights::role as) {
    const auto promoted = [as](attempt& it) {
        it.timer_.reset();
        it.now_ = it.local_now();
        it.leading_ = as == flights::role::leads;
        it.lead();
    };
    // Not from here: attempts that fail at once and promote each other would fill this stack.
    if (work_ == nullptr) return on_callback_thread(shared_from_this(), promoted);
    strand_.post([self = shared_from_this(), promoted] { promoted(*self); });
}

void attempt::cancel() {
    strand_.post([self = shared_from_this()] { self->on_cancel(); });
}

void attempt::on_cancel() {
    if (mutant(bug::completion_cancelled) && stage_ == stage::working) {
        return close(ending::next::open, {.kind = outcome_kind::in_progress});
    }
    if (stage_ == stage::parked) {
        wait_until_ = {}; // if it has just been promoted: it asks once
        now_ = local_now();
        return stop_following();
    }
    if (stage_ != stage::beginning) return;
    begin_->stop_waiting();
    if (timer_) on_timer(); // between two polls: one last question
}

} // namespace semel
