#include "engine/lease_keeper.hpp"

#include <algorithm>
#include <utility>

#include "semel/base/mutex.hpp"

namespace semel {

namespace {

// Time to notice and stop before the store may give the record to another attempt.
duration margin(duration term) {
    return term / 10;
}

// `granted` may be less than the term: no lease goes past processing_max.
void confirm(lease& one, local_time sent_at, duration granted) {
    one.good_until = sent_at + granted - margin(one.term);
    one.renew_at = sent_at + std::min(granted, one.term) / 3;
    one.confirmed_at = sent_at;
}

local_time next_look(const lease& one) {
    if (one.lost) return one.end_by;
    return std::min({one.asking ? one.good_until : one.renew_at, one.good_until, one.end_by});
}

} // namespace

void lease_keeper::add(std::shared_ptr<lease> one) {
    confirm(*one, one->sent_at, one->granted);
    const local_time due = one->renew_at;
    shelf& on = shelf_of(*one);
    {
        const detail::guard lock{on.mutex};
        one->at = on.leases.size();
        one->kept = true;
        on.leases.push_back(std::move(one));
    }
    // After the push: a tick that missed the lease has already set next_tick_ to max.
    if (due < next_tick_.load(std::memory_order_acquire)) schedule(due);
}

void lease_keeper::expect_end(lease& one, local_time by, unique_function<void()> overdue) {
    {
        const detail::guard lock{shelf_of(one).mutex};
        one.end_by = by;
        one.overdue = std::move(overdue);
    }
    if (by < next_tick_.load(std::memory_order_acquire)) schedule(by);
}

void lease_keeper::remove(lease& one) {
    shelf& on = shelf_of(one);
    std::shared_ptr<lease> gone; // its destructor may be the attempt's: not under the lock
    const detail::guard lock{on.mutex};
    if (!one.kept) return;
    one.kept = false;
    gone = std::move(on.leases[one.at]);
    if (one.at + 1 != on.leases.size()) {
        on.leases[one.at] = std::move(on.leases.back());
        on.leases[one.at]->at = one.at;
    }
    on.leases.pop_back();
    one.lost = true; // a late answer to a renewal changes nothing
}

// Most work never asks, and a stop state is an allocation.
std::stop_token lease_keeper::stop_token(lease& one) {
    const detail::guard lock{shelf_of(one).mutex};
    if (is_lost(one)) {
        // The callbacks of tokens given before run elsewhere, perhaps later: this is another one.
        std::stop_source over;
        over.request_stop();
        return over.get_token();
    }
    if (!one.stop.stop_possible()) one.stop = std::stop_source{};
    return one.stop.get_token();
}

bool lease_keeper::has_lost(lease& one) {
    const detail::guard lock{shelf_of(one).mutex};
    return is_lost(one);
}

bool lease_keeper::is_confirmed(lease& one, local_time since) {
    const detail::guard lock{shelf_of(one).mutex};
    return !is_lost(one) && one.confirmed_at >= since;
}

// Looks at the clock: after the machine was suspended the tick may come too late.
bool lease_keeper::is_lost(lease& one) {
    if (!one.kept) return false;
    if (!one.lost && runtime_.now() >= one.good_until) lose(one);
    return one.lost;
}

void lease_keeper::clear() {
    for (auto& on : shelves_) {
        leases gone;
        const detail::guard lock{on.mutex};
        for (const auto& one : on.leases) {
            one->kept = false;
            // Its work may ask for the token later, and must find it stopped.
            if (!one->stop.stop_possible()) one->stop = std::stop_source{};
            if (!one->lost) lost_.fetch_add(1, std::memory_order_relaxed);
            one->lost = true;
            runtime_.post([stop = one->stop]() mutable { stop.request_stop(); });
        }
        gone = std::exchange(on.leases, {});
    }
}

void lease_keeper::schedule(local_time when) {
    const detail::guard lock{schedule_mutex_};
    if (when >= next_tick_.load(std::memory_order_relaxed)) return;
    next_tick_.store(when, std::memory_order_release);
    runtime_.at(when, [this, when, alive = alive_] {
        if (const auto still = alive.lock()) tick(when);
    });
}

void lease_keeper::tick(local_time planned) {
    {
        // An earlier tick was asked for after this one and will plan the next. If both ticks went
        // on, each would leave a successor, and ticks would multiply.
        const detail::guard lock{schedule_mutex_};
        if (next_tick_.load(std::memory_order_relaxed) != planned) return;
        next_tick_.store(local_time::max(), std::memory_order_release);
    }
    const local_time now = runtime_.now();
    local_time next = local_time::max();
    found all;
    for (auto& one : shelves_) next = std::min(next, look_at(one, now, all));
    for (auto& one : all.due) renew(std::move(one));
    for (const auto& one : all.overdue) one->overdue();
    if (next != local_time::max()) schedule(next);
}

// Collects leases that are due, marks lost ones, and returns when to look again.
local_time lease_keeper::look_at(shelf& on, local_time now, found& to) {
    local_time next = local_time::max();
    const detail::guard lock{on.mutex};
    for (const auto& one : on.leases) {
        if (now >= one->end_by) {
            one->end_by = local_time::max();
            to.overdue.push_back(one);
        }
        if (!one->lost && now >= one->good_until) lose(*one);
        if (!one->lost && !one->asking && now >= one->renew_at) {
            one->asking = true;
            to.due.push_back(one);
        }
        next = std::min(next, next_look(*one));
    }
    return next;
}

void lease_keeper::renew(std::shared_ptr<lease> one) {
    const local_time sent_at = runtime_.now();
    envelope what{.id = *one->id, .what = commands::renew{.by = one->by, .lease = one->term}};
    records_.submit(std::move(what),
                    [this, alive = alive_, one = std::move(one), sent_at](result<reply> got) {
                        if (const auto still = alive.lock()) on_reply(one, sent_at, got);
                    });
}

void lease_keeper::on_reply(const std::shared_ptr<lease>& one, local_time sent_at,
                            const result<reply>& got) {
    local_time next;
    {
        const detail::guard lock{shelf_of(*one).mutex};
        one->asking = false;
        if (one->lost) return;
        if (!got) {
            one->renew_at = runtime_.now() + one->term / 10; // the store is away: soon again
        } else if (const auto* renewed = std::get_if<answers::renewed>(&got->said)) {
            confirm(*one, sent_at, std::min(one->term, renewed->lease_until - got->now));
        } else {
            lose(*one);
            return;
        }
        next = next_look(*one);
    }
    if (next < next_tick_.load(std::memory_order_acquire)) schedule(next);
}

void lease_keeper::lose(lease& one) {
    one.lost = true;
    lost_.fetch_add(1, std::memory_order_relaxed);
    if (!one.stop.stop_possible()) return; // the work has not asked for the token
    runtime_.post([stop = one.stop]() mutable { stop.request_stop(); });
}

} // namespace semel
