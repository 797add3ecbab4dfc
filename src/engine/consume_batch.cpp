// N messages: one round trip for all claims, one for all completions.
#include <absl/container/flat_hash_map.h>

#include <string>
#include <thread>
#include <utility>

#include "core/begin_machine.hpp"
#include "engine/deliver.hpp"
#include "engine/engine_core.hpp"
#include "engine/outcomes.hpp"
#include "semel/base/mutex.hpp"

namespace semel {

namespace {

// Sends many commands at once and waits for all answers.
std::vector<result<reply>> call_all(store& records, std::vector<envelope> many) {
    struct shared {
        detail::mutex mutex;
        detail::condition changed;
        std::vector<std::optional<result<reply>>> answers;
        std::size_t left = 0;
    } state;
    state.answers.resize(many.size());
    state.left = many.size();
    std::vector<submission> sent;
    sent.reserve(many.size());
    for (std::size_t at = 0; at < many.size(); ++at) {
        sent.push_back({.what = std::move(many[at]), .done = [&state, at](result<reply> got) {
                            const detail::guard lock{state.mutex};
                            state.answers[at].emplace(std::move(got));
                            if (--state.left == 0) state.changed.notify_one();
                        }});
    }
    records.submit_all(std::move(sent));
    detail::guard lock{state.mutex};
    state.changed.wait(lock, [&] { return state.left == 0; });
    std::vector<result<reply>> answers;
    answers.reserve(state.answers.size());
    for (auto& one : state.answers) answers.push_back(*std::move(one));
    return answers;
}

// Work whose attempt is run by hand: its claim was taken, its completion is sent with the others.
class batch_item final : public execution_port, public std::enable_shared_from_this<batch_item> {
public:
    batch_item(engine_core& core, plan what)
        : core_(core), plan_(std::move(what)), begin_(begin_of(plan_, core.new_owner())) {}

    const record_id& id() const override { return plan_.id; }
    claim by() const override { return started_.by; }
    std::uint32_t attempt_count() const override { return started_.attempt; }
    bool taken_over() const override { return started_.kind == answers::start_kind::taken_over; }
    std::stop_token stop_token() const override { return core_.keeper.stop_token(lease_); }
    const std::string* recorded(std::string_view) const override { return nullptr; }
    result<void> may_record(std::string_view) const override { return no_steps(); }
    void record(std::string_view, std::string) override { throw failure_error{no_steps()}; }
    void record_async(std::string, std::string, unique_function<void(result<void>)> done) override {
        done(no_steps());
    }
    void set_result_ref(std::string ref) override { ref_ = std::move(ref); }

    [[nodiscard]] const plan& what() const { return plan_; }
    [[nodiscard]] const commands::begin& begin() const { return begin_; }

    void start(begin_steps::run&& run, local_time asked_at) {
        started_ = std::move(run.started);
        lease_.id = &plan_.id;
        lease_.hash = plan_.hash;
        lease_.by = started_.by;
        lease_.term = plan_.lease;
        lease_.sent_at = asked_at;
        lease_.granted = started_.lease_until - run.now;
        core_.keeper.add(std::shared_ptr<lease>(shared_from_this(), &lease_));
    }
    // The attempt is over, one way or another.
    void stop() {
        core_.keeper.remove(lease_);
        leave();
    }
    void note_doubt() { was_in_doubt_ = true; }
    // The same for one that was not started.
    void leave() {
        if (was_in_doubt_) {
            const claim by{.fence = started_.by.fence, .owner = begin_.owner};
            core_.orphaned_claims.look_for(core_, plan_.id, by, plan_.lease);
        }
        core_.leave();
    }

    ending end(work_end with) {
        return ending_of(std::move(with), plan_, started_, std::move(ref_));
    }
    [[nodiscard]] ending never_ran() const {
        return {.what = end_of_unrun(started_),
                .own = {.kind = outcome_kind::in_progress},
                .then = ending::next::open};
    }

private:
    static failure no_steps() {
        return {.code = errc::unsupported,
                .possible = effect::none,
                .detail = "steps are not kept in a batch; consume the message by itself"};
    }

    engine_core& core_;
    const plan plan_;
    const commands::begin begin_;
    answers::started started_;
    bool was_in_doubt_ = false; // the begin
    mutable lease lease_;       // its stop state is made on demand
    std::string ref_;
};

class batch {
public:
    batch(engine_core& core, std::size_t count)
        : core_(core),
          kinds_(count, outcome_kind::unavailable),
          answers_(count, consumed::unavailable) {}

    void add(std::size_t index, request one) {
        auto made = core_.make_plan(std::move(one));
        if (!made) return settle(index, outcome_kind::unavailable);
        const auto [first, fresh] = by_key_.try_emplace(made->id.key, items_.size());
        if (!fresh) return repeat(index, *made, first->second);
        items_.push_back({index, std::make_shared<batch_item>(core_, *std::move(made))});
    }

    void claim_all() {
        std::vector<envelope> begins;
        std::vector<item*> asked;
        for (auto& one : items_) {
            if (!core_.admit()) {
                settle(one.index, outcome_kind::unavailable);
                continue;
            }
            begins.push_back({.id = one.it->id(), .what = one.it->begin()});
            asked.push_back(&one);
        }
        const local_time asked_at = core_.runtime->now();
        auto answers = call_all(*core_.records, std::move(begins));
        for (std::size_t at = 0; at < asked.size(); ++at) {
            claimed(*asked[at], std::move(answers[at]), asked_at);
        }
    }

    void run_all(unique_function<void(std::size_t, execution&)>& work) {
        for (auto& one : items_) {
            if (!one.running) continue;
            // Lost while the items before it ran: another attempt may be running by now.
            if (one.it->stop_token().stop_requested()) {
                one.end = one.it->never_ran();
                continue;
            }
            execution view{*one.it};
            one.end = one.it->end(run(work, one.index, view));
        }
    }

    void complete_all() {
        std::vector<envelope> ends;
        std::vector<item*> ended;
        for (auto& one : items_) {
            if (!one.running) continue;
            ends.push_back({.id = one.it->id(), .what = one.end->what});
            ended.push_back(&one);
        }
        auto answers = call_all(*core_.records, std::move(ends));
        for (std::size_t at = 0; at < ended.size(); ++at) completed(*ended[at], answers[at]);
    }

    std::vector<consumed> take() {
        for (const auto& one : repeats_) {
            const std::size_t first = items_[one.first].index;
            if (one.instead) {
                settle(one.index, *one.instead);
            } else if (kinds_[first] == outcome_kind::executed) {
                settle(one.index, outcome_kind::replayed);
            } else {
                settle(one.index, kinds_[first], answers_[first]);
            }
        }
        return std::move(answers_);
    }

private:
    struct item {
        std::size_t index;
        std::shared_ptr<batch_item> it;
        bool running = false;
        std::optional<ending> end = {};
    };
    // The same key once more in one batch.
    struct repeated {
        std::size_t index;
        std::size_t first;                        // in items_
        std::optional<outcome_kind> instead = {}; // of the first one's answer
    };

    static work_end run(unique_function<void(std::size_t, execution&)>& work, std::size_t index,
                        execution& view) {
        try {
            work(index, view);
            return answered_end{};
        } catch (...) {
            return threw_end{std::current_exception()};
        }
    }

    // What the store would say to it while the first one runs.
    void repeat(std::size_t index, const plan& what, std::size_t first) {
        const auto& held = items_[first].it->what().content;
        const bool differs = held && what.content && *held != *what.content;
        const bool refused = what.policy->mismatch == on_mismatch::refuse;
        repeated one{.index = index, .first = first};
        if (differs) one.instead = refused ? outcome_kind::mismatch : outcome_kind::in_progress;
        if (differs && refused) core_.report({.kind = outcome_kind::mismatch, .held = held}, what);
        repeats_.push_back(one);
    }

    void settle(std::size_t index, outcome_kind with) {
        settle(index, with, detail::as_consumed(with));
    }
    void settle(std::size_t index, outcome_kind with, consumed how) {
        kinds_[index] = with;
        answers_[index] = how;
        bump(core_.counters.outcomes[static_cast<std::size_t>(with)]);
    }

    void claimed(item& one, result<reply> got, local_time asked_at) {
        begin_machine machine{{.what = one.it->begin(),
                               .patience_until = asked_at + core_.options.store_patience,
                               .seed = one.it->begin().owner.low}};
        begin_step step = got ? machine.on_reply(*std::move(got), asked_at)
                              : machine.on_failure(std::move(got).error(), core_.runtime->now());
        while (true) {
            if (machine.was_in_doubt()) one.it->note_doubt();
            if (auto* run = std::get_if<begin_steps::run>(&step)) {
                one.running = true;
                return one.it->start(std::move(*run), asked_at);
            }
            if (auto* over = std::get_if<begin_steps::answered>(&step)) {
                one.it->leave();
                const raw_outcome with = outcome_of(std::move(over->with));
                core_.report(with, one.it->what());
                // The store has answered, and will never answer otherwise.
                const bool damaged = with.kind == outcome_kind::unavailable;
                return settle(one.index, with.kind,
                              damaged ? consumed::failed : detail::as_consumed(with.kind));
            }
            if (std::holds_alternative<begin_steps::refused>(step)) {
                one.it->leave();
                return settle(one.index, outcome_kind::unavailable);
            }
            step = again(machine, one, std::move(step), asked_at);
        }
    }

    // The store was away for this claim, or its answer was lost: ask by itself.
    begin_step again(begin_machine& machine, const item& one, begin_step step,
                     local_time& asked_at) {
        if (const auto* pause = std::get_if<begin_steps::wait>(&step)) {
            std::this_thread::sleep_for(pause->until - core_.runtime->now());
            return machine.on_timer();
        }
        asked_at = core_.runtime->now();
        auto& next = std::get<begin_steps::ask>(step);
        auto got = core_.records->call(one.it->id(), std::move(next.what));
        return got ? machine.on_reply(*std::move(got), asked_at)
                   : machine.on_failure(std::move(got).error(), core_.runtime->now());
    }

    void completed(item& one, const result<reply>& got) {
        outcome_kind kind = one.end->own.kind;
        if (!got) {
            finish_alone(one);
            kind = outcome_kind::unconfirmed;
        } else {
            one.it->stop();
            kind = acknowledged(*got, one, kind);
        }
        settle(one.index, kind);
    }

    outcome_kind acknowledged(const reply& got, const item& one, outcome_kind own) {
        const auto* fenced = std::get_if<answers::fenced_off>(&got.said);
        if (fenced == nullptr) return own;
        bump(core_.counters.fenced_completions);
        return winners(*fenced, one.it->what(), got.now).kind;
    }

    // The store was away for this one: its end goes on by itself, and its lease is kept meanwhile.
    void finish_alone(item& one) {
        complete_options carried{.what = std::move(one.end->what),
                                 .give_up_at =
                                     core_.runtime->now() + core_.options.completion_patience,
                                 .seed = core_.runtime->random()};
        deliver(core_, one.it->id(), std::move(carried),
                [it = one.it](const auto&) { it->stop(); });
    }

    engine_core& core_;
    std::vector<outcome_kind> kinds_;
    std::vector<consumed> answers_; // what the caller is told of them
    std::vector<item> items_;
    absl::flat_hash_map<std::string, std::size_t> by_key_; // place in items_
    std::vector<repeated> repeats_;
};

} // namespace

std::vector<consumed>
engine_core::consume_batch(const request& scope, std::vector<message> messages,
                           unique_function<void(std::size_t, execution&)>& work) {
    batch all{*this, messages.size()};
    for (std::size_t at = 0; at < messages.size(); ++at) {
        request one = scope;
        one.key = std::move(messages[at].key);
        one.content = messages[at].content;
        all.add(at, std::move(one));
    }
    all.claim_all();
    all.run_all(work);
    all.complete_all();
    return all.take();
}

} // namespace semel
