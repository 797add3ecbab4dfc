#include "engine/flights.hpp"

#include <algorithm>
#include <utility>

#include "base/mutant.hpp"
#include "core/backoff.hpp"
#include "engine/attempt.hpp"
#include "engine/outcomes.hpp"
#include "semel/base/mutex.hpp"

namespace semel {

namespace {

duration stay_away(const flight& from, local_time now) {
    // A renewed lease ends no later than a whole one from here.
    if (from.now == flight::phase::running) return from.lease;
    return std::max(duration::zero(), from.worth_asking_at - now);
}

raw_outcome busy(const flight& with, local_time now) {
    return {.kind = outcome_kind::in_progress, .retry_after = stay_away(with, now)};
}

// The record is unknown, so the answer says nothing about it.
raw_outcome not_answered(const flight& with) {
    failure why = with.trouble.value_or(
        failure{.code = errc::timed_out, .detail = "the store did not answer in time"});
    why.possible = effect::none; // the one who is told has asked nothing
    return unavailable(std::move(why));
}

raw_outcome crowded(const flight& with) {
    if (with.trouble) return not_answered(with);
    return unavailable({.code = errc::overloaded,
                        .detail = "limits.waiters_per_key_max or waiters_max callers wait already, "
                                  "and the store has not answered the first of them yet"});
}

// Has the store confirmed, since then, that the record is at work?
bool confirmed_since(const flight& with, local_time then) {
    if (with.now == flight::phase::polling) return with.heard_at >= then;
    return with.leader->has_confirmed_lease(then);
}

// The next poll is due after that: it has not been answered, or this process was stopped.
bool is_news(const flight& with, local_time now) {
    return now - with.heard_at <= backoff_options{}.last;
}

} // namespace

flights::stripe& flights::stripe_of(const attempt& who) {
    return stripes_[who.hash() % stripes_.size()];
}

flights::joined flights::join(attempt& who, local_time now) {
    stripe& on = stripe_of(who);
    const detail::guard lock{on.mutex};
    const auto [at, first] = on.flying.try_emplace(who.hash(), &who.own_flight());
    if (first) {
        who.own_flight() = {.leader = &who, .content = who.content()};
        return {.as = role::leads};
    }
    flight& with = *at->second;
    if (with.leader->id() != who.id()) return {.as = role::alone}; // two ids, one hash
    if (with.now == flight::phase::running) return join_running(with, who, now);
    // Until the record's own content is known, only equal requests may share an answer.
    if (with.content != who.content()) return {.as = role::alone};
    if (with.now == flight::phase::polling && !who.waits() && is_news(with, now)) {
        return {.as = role::answered, .with = busy(with, now)};
    }
    return park(with, who, now);
}

// What the store would say of a live processing record with this content, without asking it.
flights::joined flights::join_running(flight& with, attempt& who, local_time now) {
    // The leader may hang: only the store knows who owns the record now.
    if (with.leader->has_lost_lease()) return {.as = role::alone};
    const bool differs = with.content && who.content() && *with.content != *who.content();
    if (differs && who.policy().mismatch == on_mismatch::refuse) {
        return {.as = role::answered,
                .with = raw_outcome{.kind = outcome_kind::mismatch, .held = with.content}};
    }
    if (!who.waits()) return {.as = role::answered, .with = busy(with, now)};
    if (differs) return {.as = role::alone}; // to overwrite what the leader is about to store
    return park(with, who, now);
}

flights::joined flights::park(flight& with, attempt& who, local_time now) {
    const bool room = with.followers.size() < bounds_.waiters_per_key_max &&
                      waiting_.load(std::memory_order_relaxed) < bounds_.waiters_max;
    if (!room) {
        refused_.fetch_add(1, std::memory_order_relaxed);
        if (with.now == flight::phase::asking) return {.as = role::answered, .with = crowded(with)};
        return {.as = role::answered, .with = busy(with, now)};
    }
    waiting_.fetch_add(1, std::memory_order_relaxed);
    with.followers.push_back(who.shared_from_this());
    return {.as = role::parked};
}

void flights::tell(const followers& whom, const raw_outcome& news) {
    waiting_.fetch_sub(whom.size(), std::memory_order_relaxed);
    for (const auto& one : whom) tell(*one, news);
}

// One follower whose news finds no memory must not cost the others theirs.
void flights::tell(attempt& one, const raw_outcome& news) noexcept {
    try {
        return one.on_news(news);
    } catch (...) { // then in fewer words
    }
    try {
        one.on_news(unavailable({.code = errc::no_space, .detail = "out of memory"}));
    } catch (...) { // not even that
    }
}

template <class Stays> flights::followers flights::take_others(flight& from, Stays stays) {
    const auto first = std::stable_partition(from.followers.begin(), from.followers.end(), stays);
    followers taken{std::make_move_iterator(first), std::make_move_iterator(from.followers.end())};
    from.followers.erase(first, from.followers.end());
    return taken;
}

// A follower that came after the answered question had left gets the answer to a later question, or
// asks if there is none.
flights::followers flights::take_impatient(flight& from, local_time heard_at) {
    return take_others(from,
                       [&](const auto& one) { return one->waits() || one->came_at() > heard_at; });
}

// These followers could share the record that ran, but not with a leader that asks again.
flights::followers flights::take_strangers(flight& from, const std::optional<fingerprint>& with) {
    return take_others(from, [&](const auto& one) { return one->content() == with; });
}

void flights::running(attempt& leader, const std::optional<fingerprint>& content, duration lease) {
    followers impatient;
    raw_outcome news;
    {
        const detail::guard lock{stripe_of(leader).mutex};
        flight& own = leader.own_flight();
        own.now = flight::phase::running;
        own.content = content;
        own.lease = lease;
        if (own.followers.empty()) return;
        impatient = take_impatient(own, local_time::max()); // the work runs now
        news = busy(own, leader.local_now());
    }
    tell(impatient, news);
}

void flights::asking(attempt& leader, const failure& trouble) {
    const detail::guard lock{stripe_of(leader).mutex};
    flight& own = leader.own_flight();
    own.now = flight::phase::asking;
    own.trouble = trouble;
}

void flights::polling(attempt& leader, local_time worth_asking_at, local_time heard_at) {
    followers impatient;
    raw_outcome news;
    {
        const detail::guard lock{stripe_of(leader).mutex};
        flight& own = leader.own_flight();
        own.now = flight::phase::polling;
        own.worth_asking_at = worth_asking_at;
        own.heard_at = heard_at;
        impatient = take_impatient(own, heard_at);
        news = busy(own, leader.local_now());
    }
    tell(impatient, news);
}

flights::followers flights::end(attempt& leader) {
    stripe& on = stripe_of(leader);
    const detail::guard lock{on.mutex};
    on.flying.erase(leader.hash());
    return std::exchange(leader.own_flight().followers, {});
}

void flights::hand_over(attempt& leader, const raw_outcome& for_the_impatient) {
    followers impatient;
    followers strangers;
    std::shared_ptr<attempt> next;
    {
        stripe& on = stripe_of(leader);
        const detail::guard lock{on.mutex};
        flight& old = leader.own_flight();
        impatient = take_impatient(old, leader.asked_at());
        if (old.followers.empty()) {
            on.flying.erase(leader.hash());
        } else {
            next = std::move(old.followers.front());
            old.followers.erase(old.followers.begin());
            strangers = take_strangers(old, next->content());
            next->own_flight() = {.leader = next.get(),
                                  .content = next->content(),
                                  .handed_over = true,
                                  .followers = std::exchange(old.followers, {})};
            on.flying[leader.hash()] = &next->own_flight();
        }
    }
    tell(impatient, for_the_impatient);
    if (next == nullptr) return;
    waiting_.fetch_sub(1 + strangers.size(), std::memory_order_relaxed);
    next->on_promoted(role::leads);
    for (const auto& one : strangers) one->on_promoted(role::alone);
}

flights::joined flights::leave(attempt& follower, local_time now) {
    stripe& on = stripe_of(follower);
    std::shared_ptr<attempt> gone; // not destroyed under the lock
    const detail::guard lock{on.mutex};
    const auto at = on.flying.find(follower.hash());
    if (at == on.flying.end()) return {.as = role::parked};
    flight& with = *at->second;
    const auto found = std::find_if(with.followers.begin(), with.followers.end(),
                                    [&](const auto& one) { return one.get() == &follower; });
    if (found == with.followers.end()) return {.as = role::parked};
    gone = std::move(*found);
    with.followers.erase(found);
    waiting_.fetch_sub(1, std::memory_order_relaxed);
    if (with.now == flight::phase::asking) {
        // The store is not known to be away, although its answer to the new leader is not here.
        if (with.handed_over && !with.trouble) return {.as = role::alone};
        const bool lies = mutant(bug::asking_is_progress);
        return {.as = role::answered, .with = lies ? busy(with, now) : not_answered(with)};
    }
    const bool known = confirmed_since(with, follower.came_at()) || mutant(bug::lease_is_trusted);
    if (!known) return {.as = role::alone};
    return {.as = role::answered, .with = busy(with, now)};
}

} // namespace semel
