// One lock's worth of the near cache.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/core/metrics.hpp"
#include "store/cached_entry.hpp"

namespace semel {

struct cached_limits {
    std::size_t bytes_max = 0; // of this shard
    duration age_max = {};
    cache_counters* counters = nullptr;

    [[nodiscard]] std::size_t entry_bytes_max() const { return bytes_max / 4; }
};

// Thread-safe. Entries are evicted by the clock algorithm: a hit sets a bit instead of moving
// anything, and the hand spares an entry whose bit is set once.
//
// An answer of the store is remembered only with the ticket that was drawn before the store was
// asked, and only if no act that changes finished records was under way since.
class alignas(64) cached_shard {
public:
    using ticket = std::uint64_t;

    void limit(const cached_limits& to) { limits_ = to; }

    // The answer for a begin with this content, or the ticket to bring the store's answer with.
    [[nodiscard]] std::optional<reply> find(const cached_probe& of,
                                            const std::optional<fingerprint>& content,
                                            const cached_moment& at, ticket& drawn);

    // Remembers a finished record in place of what was there. Precondition, here and below: it
    // counts no more than entry_bytes_max().
    void fill(const cached_probe& of, cached_entry::pointer one, ticket drawn);
    // Remembers a running attempt in place of what was there. Needs no ticket: which content an
    // attempt was begun with does not change.
    void claimed(const cached_probe& of, cached_entry::pointer one);
    // Forgets the record. Returns the content of its running attempt, if it was this attempt.
    [[nodiscard]] std::optional<cached_entry::facts> take_claim(const cached_probe& of,
                                                                const claim& by, ticket& drawn);
    void forget(const cached_probe& of);
    void forget_all();

    // Call these around an act that changes finished records. Until the act is answered, it is not
    // known whether another answer was given before or after it.
    void act_begins(const cached_probe& of);
    void act_ends(const cached_probe& of);

private:
    struct hasher {
        using is_transparent = void;
        std::size_t operator()(const cached_entry* one) const { return one->hash(); }
        std::size_t operator()(const cached_probe& one) const { return one.hash; }
    };
    struct equal {
        using is_transparent = void;
        bool operator()(const cached_entry* a, const cached_entry* b) const { return a == b; }
        bool operator()(const cached_entry* a, const cached_probe& b) const { return a->is(b); }
        bool operator()(const cached_probe& a, const cached_entry* b) const { return b->is(a); }
    };
    using entries = absl::flat_hash_set<cached_entry*, hasher, equal>;

    [[nodiscard]] std::optional<duration> age(const cached_entry& one,
                                              const cached_moment& at) const SEMEL_REQUIRES(mutex_);
    void put(const cached_probe& of, cached_entry::pointer one) SEMEL_REQUIRES(mutex_);
    void erase(const cached_probe& of) SEMEL_REQUIRES(mutex_);
    void erase(entries::iterator at) SEMEL_REQUIRES(mutex_);
    void evict_one() SEMEL_REQUIRES(mutex_);

    cached_limits limits_; // constant once in use
    detail::mutex mutex_;
    entries entries_ SEMEL_GUARDED_BY(mutex_);
    std::vector<cached_entry::pointer> ring_ SEMEL_GUARDED_BY(mutex_); // owns the entries
    std::size_t hand_ SEMEL_GUARDED_BY(mutex_) = 0;
    std::size_t bytes_ SEMEL_GUARDED_BY(mutex_) = 0;
    ticket acts_ SEMEL_GUARDED_BY(mutex_) = 0; // begun and ended
    std::size_t acts_open_ SEMEL_GUARDED_BY(mutex_) = 0;
};

} // namespace semel
