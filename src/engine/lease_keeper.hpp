// Keeps the leases of running attempts alive, from one shared thread.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <stop_token>
#include <vector>

#include "semel/base/function.hpp"
#include "semel/base/mutex.hpp"
#include "semel/base/runtime.hpp"
#include "semel/core/record.hpp"
#include "semel/store.hpp"

namespace semel {

// One running attempt's lease. The first group is set before add() and constant then; the rest
// belongs to the keeper.
struct lease {
    const record_id* id = nullptr; // outlives the lease
    std::uint64_t hash = 0;
    claim by = {};
    duration term = {};
    local_time sent_at = {}; // when the question left whose answer granted the lease
    duration granted = {};   // what was left of it by the store's clock
    std::stop_source stop{std::nostopstate}; // made when its token is asked for

    std::size_t at = 0; // place in its shelf
    bool kept = false;  // on its shelf
    local_time renew_at = {};
    local_time good_until = {};
    local_time confirmed_at = {}; // when the question left that was answered last
    local_time end_by = local_time::max();
    unique_function<void()> overdue = {};
    bool asking = false;
    bool lost = false;
};

// Thread-safe. Renews at a third of the lease. A lease is lost when a renewal is refused, or when
// none was confirmed by (send time of the last confirmed one) + lease − margin on the boot-time
// clock: then its stop token fires, on the callback thread, never on the keeper's.
class lease_keeper {
public:
    lease_keeper(store& records, runtime& time) : records_(records), runtime_(time) {}

    void add(std::shared_ptr<lease> one);
    // Call it when the end of the attempt is on its way. If the attempt is not over at that time,
    // `overdue` is called, once, on the timer thread. The keeper does this because a timer for each
    // attempt would outlive the end, and many attempts end in a second.
    void expect_end(lease& one, local_time by, unique_function<void()> overdue);
    // The attempt is over. A renewal under way keeps the lease object alive until it is answered.
    void remove(lease& one);
    // Fires when the lease is lost. One that is asked for later has fired.
    [[nodiscard]] std::stop_token stop_token(lease& one);
    // The attempt goes on without a lease.
    [[nodiscard]] bool has_lost(lease& one);
    // True if the store, asked at that time or later, has confirmed the lease, and the lease is not
    // over.
    [[nodiscard]] bool is_confirmed(lease& one, local_time since);
    // Gives up all leases: the engine ends without waiting for them.
    void clear();

    [[nodiscard]] std::uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

    // Keeps pending ticks from touching a keeper that is gone.
    void bind(std::weak_ptr<void> alive) { alive_ = std::move(alive); }

private:
    struct alignas(64) shelf {
        detail::mutex mutex;
        std::vector<std::shared_ptr<lease>> leases SEMEL_GUARDED_BY(mutex);
    };
    using leases = std::vector<std::shared_ptr<lease>>;

    shelf& shelf_of(const lease& one) { return shelves_[one.hash % shelves_.size()]; }
    void schedule(local_time when);
    void tick(local_time planned);
    struct found {
        leases due;     // for renewal
        leases overdue; // with their end
    };
    local_time look_at(shelf& one, local_time now, found& to);
    void renew(std::shared_ptr<lease> one);
    void on_reply(const std::shared_ptr<lease>& one, local_time sent_at, const result<reply>& got);
    void lose(lease& one);
    [[nodiscard]] bool is_lost(lease& one); // under its shelf's lock

    store& records_;
    runtime& runtime_;
    std::weak_ptr<void> alive_;
    std::array<shelf, 16> shelves_;
    std::atomic<std::uint64_t> lost_ = 0;
    std::atomic<local_time> next_tick_ = local_time::max();
    detail::mutex schedule_mutex_;
};

} // namespace semel
