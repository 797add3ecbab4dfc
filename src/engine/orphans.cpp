#include "engine/orphans.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/mutant.hpp"
#include "core/orphan_machine.hpp"
#include "engine/deliver.hpp"
#include "engine/engine_core.hpp"
#include "engine/outcomes.hpp"
#include "engine/strand.hpp"
#include "semel/base/mutex.hpp"

namespace semel {

// One of them. Kept by `orphans` until it is over; its events run on its strand.
class orphan_search final : public std::enable_shared_from_this<orphan_search> {
public:
    orphan_search(engine_core& core, record_id id, const orphan_options& what)
        : core_(core.weak_from_this()), id_(std::move(id)), machine_(what) {}

    void start() {
        strand_.post([self = shared_from_this()] {
            if (const auto core = self->core_.lock()) {
                self->perform(*core, self->machine_.start(core->runtime->now()));
            }
        });
    }

    void hurry(local_time look_until) {
        strand_.post([self = shared_from_this(), look_until] {
            self->machine_.hurry(look_until);
            self->on_timer();
        });
    }

private:
    void on_timer() {
        const auto core = core_.lock();
        if (!waiting_ || core == nullptr) return;
        waiting_ = false;
        perform(*core, machine_.on_timer(core->runtime->now()));
    }

    void perform(engine_core& core, orphan_step&& step) {
        if (auto* next = std::get_if<orphan_steps::ask>(&step)) {
            return ask(core, std::move(next->what));
        }
        if (const auto* pause = std::get_if<orphan_steps::wait>(&step)) {
            waiting_ = true;
            return core.runtime->at(pause->until, [weak = weak_from_this()] {
                if (const auto self = weak.lock()) {
                    self->strand_.post([self] { self->on_timer(); });
                }
            });
        }
        if (auto* claim = std::get_if<orphan_steps::found>(&step)) {
            return give_back(core, std::move(claim->claim));
        }
        using last_seen = orphan_steps::gave_up::last_seen;
        const auto as = std::get<orphan_steps::gave_up>(step).as;
        end(core, as == last_seen::absent ? nullptr : &core.counters.orphans_left);
    }

    void ask(engine_core& core, command&& what) {
        core.records->submit(
            {.id = id_, .what = std::move(what)},
            [self = shared_from_this(), kept = core.shared_from_this()](result<reply> got) mutable {
                auto hear = [self, kept = std::move(kept), got = std::move(got)] {
                    const local_time now = kept->runtime->now();
                    self->perform(*kept, got ? self->machine_.on_reply(*got, now)
                                             : self->machine_.on_failure(now));
                };
                self->strand_.post(std::move(hear));
            });
    }

    void give_back(engine_core& core, answers::started&& claim) {
        complete_options what{.what = end_of_unrun(claim),
                              .give_up_at = core.runtime->now() + core.options.completion_patience,
                              .seed = claim.by.owner.high};
        deliver(core, id_, std::move(what),
                [self = shared_from_this(), kept = core.shared_from_this()](const auto& got) {
                    const bool there = got.has_value();
                    // Otherwise fenced off: another attempt has the record now.
                    const bool done = there && std::holds_alternative<answers::stored>(got->said);
                    self->strand_.post(
                        [self, kept, there, done] { self->on_given_back(*kept, there, done); });
                });
    }

    void on_given_back(engine_core& core, bool there, bool done) {
        if (!there) return end(core, &core.counters.orphans_left);
        if (done) bump(core.counters.orphans_released);
        perform(core, machine_.on_given_back(core.runtime->now()));
    }

    void end(engine_core& core, std::atomic<std::uint64_t>* counted) {
        if (counted != nullptr) bump(*counted);
        core.orphaned_claims.over(shared_from_this());
        core.on_orphan_over();
    }

    const std::weak_ptr<engine_core> core_;
    const record_id id_;
    strand strand_{strand::mode::free};
    orphan_machine machine_; // owned by the strand
    bool waiting_ = false;   // owned by the strand
};

orphans::orphans() = default;
orphans::~orphans() = default;

void orphans::look_for(engine_core& core, const record_id& id, claim by, duration lease) {
    if (mutant(bug::orphan_is_left)) return;
    const auto& options = core.options;
    // Often enough to be there before the claim lapses.
    const duration last = lease / 3;
    const duration first = std::min<duration>(last, std::chrono::milliseconds{100});
    auto one = std::make_shared<orphan_search>(
        core, id,
        orphan_options{.owner = by.owner,
                       .ran = by.fence,
                       .look_until = core.runtime->now() + options.completion_patience,
                       .looks = {.first = first, .last = last},
                       .seed = by.owner.low});
    {
        const detail::guard lock{mutex_};
        if (all_.size() >= options.limits.orphans_max) return bump(core.counters.orphans_left);
        all_.insert(one);
        size_ = all_.size();
        if (hurry_until_) one->hurry(*hurry_until_);
    }
    one->start();
}

void orphans::hurry(local_time look_until) {
    std::vector<std::shared_ptr<orphan_search>> all;
    {
        const detail::guard lock{mutex_};
        hurry_until_ = look_until;
        all.assign(all_.begin(), all_.end());
    }
    for (const auto& one : all) one->hurry(look_until);
}

void orphans::clear() {
    absl::flat_hash_set<std::shared_ptr<orphan_search>> gone; // not destroyed under the lock
    const detail::guard lock{mutex_};
    gone.swap(all_);
    size_ = 0;
}

void orphans::over(const std::shared_ptr<orphan_search>& one) {
    const detail::guard lock{mutex_};
    all_.erase(one);
    size_ = all_.size();
}

} // namespace semel
