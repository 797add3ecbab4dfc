#include "store/cached_shard.hpp"

#include <utility>

#include "semel/base/mutex.hpp"

namespace semel {

std::optional<reply> cached_shard::find(const cached_probe& of,
                                        const std::optional<fingerprint>& content,
                                        const cached_moment& at, ticket& drawn) {
    const detail::guard lock{mutex_};
    drawn = acts_;
    const auto found = entries_.find(of);
    if (found == entries_.end()) return std::nullopt;
    cached_entry& one = **found;
    if (one.known.kind == cached_kind::claimed || one.known.content != content) return std::nullopt;
    const auto old = age(one, at);
    if (!old) return std::nullopt;
    one.recent = true;
    return reply{.said = one.said(), .now = one.known.now + *old};
}

// How old the answer is, if it may still be given.
std::optional<duration> cached_shard::age(const cached_entry& one, const cached_moment& at) const {
    const auto& known = one.known;
    if (known.source != at.source()) return std::nullopt;
    const duration old = at.test ? *at.test - known.now : at.local - known.sent;
    if (old < duration::zero() || old >= limits_.age_max) return std::nullopt;
    if (known.now + old >= known.expires_at) return std::nullopt;
    return old;
}

void cached_shard::fill(const cached_probe& of, cached_entry::pointer one, ticket drawn) {
    const detail::guard lock{mutex_};
    if (drawn != acts_ || acts_open_ > 0) return;
    if (limits_.counters != nullptr) limits_.counters->fills.add();
    put(of, std::move(one));
}

void cached_shard::claimed(const cached_probe& of, cached_entry::pointer one) {
    const detail::guard lock{mutex_};
    put(of, std::move(one));
}

std::optional<cached_entry::facts> cached_shard::take_claim(const cached_probe& of, const claim& by,
                                                            ticket& drawn) {
    const detail::guard lock{mutex_};
    drawn = acts_;
    const auto found = entries_.find(of);
    if (found == entries_.end()) return std::nullopt;
    const cached_entry::facts known = (*found)->known;
    erase(found);
    if (known.kind != cached_kind::claimed || known.by != by) return std::nullopt;
    return known;
}

void cached_shard::forget(const cached_probe& of) {
    const detail::guard lock{mutex_};
    erase(of);
}

void cached_shard::forget_all() {
    const detail::guard lock{mutex_};
    // Answers on their way were given before whatever made the caller forget everything.
    ++acts_;
    while (!ring_.empty()) erase(entries_.find(ring_.back().get()));
}

void cached_shard::act_begins(const cached_probe& of) {
    const detail::guard lock{mutex_};
    ++acts_;
    ++acts_open_;
    erase(of);
}

void cached_shard::act_ends(const cached_probe& of) {
    const detail::guard lock{mutex_};
    ++acts_;
    --acts_open_;
    erase(of);
}

void cached_shard::put(const cached_probe& of, cached_entry::pointer one) {
    erase(of);
    while (bytes_ + one->bytes() > limits_.bytes_max) evict_one();
    bytes_ += one->bytes();
    if (limits_.counters != nullptr) {
        limits_.counters->bytes.add(one->bytes());
        limits_.counters->entries.add();
    }
    one->place = ring_.size();
    entries_.insert(one.get());
    ring_.push_back(std::move(one));
}

void cached_shard::erase(const cached_probe& of) {
    const auto found = entries_.find(of);
    if (found != entries_.end()) erase(found);
}

void cached_shard::erase(entries::iterator at) {
    cached_entry& one = **at;
    entries_.erase(at);
    bytes_ -= one.bytes();
    if (limits_.counters != nullptr) {
        limits_.counters->bytes.subtract(one.bytes());
        limits_.counters->entries.subtract(1);
    }
    const std::size_t place = one.place;
    if (place + 1 != ring_.size()) {
        std::swap(ring_[place], ring_.back());
        ring_[place]->place = place;
    }
    ring_.pop_back();
}

void cached_shard::evict_one() {
    while (true) {
        if (hand_ >= ring_.size()) hand_ = 0;
        cached_entry& one = *ring_[hand_];
        if (!std::exchange(one.recent, false)) break;
        ++hand_;
    }
    erase(entries_.find(ring_[hand_].get()));
    // The newest entry has moved to the free place: past it, so that it gets its round.
    ++hand_;
    if (limits_.counters != nullptr) limits_.counters->evictions.add();
}

} // namespace semel
