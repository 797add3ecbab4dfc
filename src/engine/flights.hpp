// Single flight: of all callers in this process with the same request, one asks the store and
// works, the others wait for its news. A thousand repeats cost one store read.
#pragma once

#include <absl/container/flat_hash_map.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/base/time.hpp"
#include "semel/core/policy.hpp"
#include "semel/engine/request.hpp"
#include "semel/fingerprint.hpp"

namespace semel {

class attempt;

// Led by one attempt and embedded in it; known to the table while it leads.
struct flight {
    enum class phase : std::uint8_t {
        asking,  // the store has not answered the leader's begin yet, or cannot answer any more
        polling, // another process holds the record
        running, // the leader's own work runs, or its end is on the way to the store
    };

    attempt* leader = nullptr;
    phase now = phase::asking;
    std::optional<fingerprint> content = {}; // running: the record's; before: the leader's
    std::optional<failure> trouble = {};     // asking: why the store could not answer so far
    bool handed_over = false;                // another leader was answered before this one asked
    local_time worth_asking_at = {};         // polling: for callers that do not want to wait
    local_time heard_at = {};                // polling: when the last answered question left
    duration lease = {};                     // running: the leader's
    std::vector<std::shared_ptr<attempt>> followers = {};
};

// Thread-safe. News reaches followers through their strands, never under a lock of this class.
class flights {
public:
    explicit flights(const limits& bounds) : bounds_(bounds) {}

    enum class role : std::uint8_t {
        leads,    // asks the store, and owes its followers the news
        alone,    // asks the store for itself: it cannot share with the present leader
        parked,   // hears from the leader
        answered, // needs neither
    };
    struct joined {
        role as;
        std::optional<raw_outcome> with = {}; // role::answered
    };
    [[nodiscard]] joined join(attempt& who, local_time now);

    // The leader's claim is acknowledged. Answers the followers that do not want to wait.
    void running(attempt& leader, const std::optional<fingerprint>& content, duration lease);
    // The store cannot answer the leader now.
    void asking(attempt& leader, const failure& trouble);
    // Another process holds the record, as the store answered at `heard_at`; the leader polls.
    void polling(attempt& leader, local_time worth_asking_at, local_time heard_at);
    using followers = std::vector<std::shared_ptr<attempt>>;
    // The flight is over. Returns the followers, which must all get the news.
    [[nodiscard]] followers end(attempt& leader);
    void tell(const followers& whom, const raw_outcome& news);
    // The leader goes while the question is open: the next follower leads. Followers that do not
    // want to wait get the leader's news, unless the leader's last question left before they came.
    void hand_over(attempt& leader, const raw_outcome& for_the_impatient);
    // A parked follower gives up. It stays parked if its news is already on the way, and is alone
    // if what is known here is older than the follower, or the present leader has just taken over:
    // then only the store can tell.
    [[nodiscard]] joined leave(attempt& follower, local_time now);

    [[nodiscard]] std::uint64_t waiting() const { return waiting_.load(std::memory_order_relaxed); }
    [[nodiscard]] std::uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }

private:
    struct alignas(64) stripe {
        detail::mutex mutex;
        absl::flat_hash_map<std::uint64_t, flight*>
            flying SEMEL_GUARDED_BY(mutex); // by record hash
    };

    stripe& stripe_of(const attempt& who);
    [[nodiscard]] joined join_running(flight& with, attempt& who, local_time now);
    [[nodiscard]] joined park(flight& with, attempt& who, local_time now);
    static void tell(attempt& one, const raw_outcome& news) noexcept;
    template <class Stays> static followers take_others(flight& from, Stays stays);
    static followers take_impatient(flight& from, local_time heard_at);
    static followers take_strangers(flight& from, const std::optional<fingerprint>& with);

    const limits bounds_;
    std::array<stripe, 64> stripes_;
    std::atomic<std::uint64_t> waiting_ = 0;
    std::atomic<std::uint64_t> refused_ = 0;
};

} // namespace semel
