#include "engine/transaction_pass.hpp"

#include <utility>

#include "engine/engine_core.hpp"
#include "engine/open_keys.hpp"
#include "engine/transaction_run.hpp"

namespace semel {

transaction_pass::transaction_pass(engine_core& core, transaction_port& port, const plan& what,
                                   transaction_work& work, raw_outcome& to)
    : core_(core), port_(port), plan_(what), work_(work), to_(to), owner_(core.new_owner()) {}

task<result<void>> transaction_pass::run() {
    locked_record locked;
    auto read = co_await port_.lock(plan_.id, locked);
    if (!read) co_return read;
    const record* before = locked.stored ? &*locked.stored : nullptr;
    seen_fence_ = before == nullptr ? 0 : before->holder.fence;
    applied now = apply(before, begin_of(plan_, owner_), locked.at);
    if (!std::holds_alternative<answers::started>(now.said)) {
        port_.leave(plan_.id);
        to_ = outcome_of({.said = std::move(now.said), .now = locked.at.now});
        co_return result<void>{};
    }
    const open_key mine{port_, plan_.id};
    {
        const auto& started = std::get<answers::started>(now.said);
        transaction_run view{plan_, started};
        execution handed{view};
        ran_ = true;
        awaited_end awaited{work_, handed};
        auto&& end = co_await awaited;
        ending_ = ending_of(std::move(end), plan_, started, view.take_ref());
    }
    if (core_.home.left()) co_return opened_before_fork("the transaction");
    if (!std::holds_alternative<commands::complete>(ending_->what)) {
        port_.leave(plan_.id);
        to_ = std::move(ending_->own);
        co_return result<void>{};
    }
    now = complete(*now.after, locked.at);
    auto saved = co_await port_.save(plan_.id, *now.after, seen_fence_);
    if (!saved) co_return saved;
    wrote_ = true;
    to_ = std::move(ending_->own);
    to_.expires_at = now.after->expires_at;
    co_return result<void>{};
}

bool transaction_pass::failed_finally() const {
    if (!ending_) return false;
    const auto* fail = std::get_if<commands::fail>(&ending_->what);
    return fail != nullptr && fail->kind == commands::failure_kind::final;
}

task<result<void>> transaction_pass::write_failure() {
    locked_record locked;
    auto read = co_await port_.lock(plan_.id, locked);
    if (!read) co_return read;
    const record* before = locked.stored ? &*locked.stored : nullptr;
    applied begun = apply(before, begin_of(plan_, owner_), locked.at);
    const auto* started = std::get_if<answers::started>(&begun.said);
    if (started == nullptr) co_return result<void>{}; // another caller has decided meanwhile
    auto fail = std::get<commands::fail>(ending_->what);
    fail.by = started->by;
    const applied done = apply(&*begun.after, std::move(fail), locked.at);
    const std::uint64_t seen = before == nullptr ? 0 : before->holder.fence;
    auto saved = co_await port_.save(plan_.id, *done.after, seen);
    co_return saved;
}

bool transaction_pass::mine(const locked_record& now) const {
    return now.stored && now.stored->state == record_state::succeeded &&
           now.stored->holder.owner == owner_;
}

applied transaction_pass::complete(const record& begun, const instant& at) {
    if (ending_->own.result.kind == result_kind::tombstone) bump(core_.counters.tombstones);
    return apply(&begun, std::move(ending_->what), at);
}

} // namespace semel
