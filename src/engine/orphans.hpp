// Claims of begins that never got an answer. In the background each claim is looked for by its
// owner and given back, as an attempt that was never run. Otherwise the claim would hold its record
// for a lease, and then leave a record in doubt if the policy is hold or probe.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>

#include "semel/base/mutex.hpp"
#include "semel/base/time.hpp"
#include "semel/core/record.hpp"

namespace semel {

class engine_core;
class orphan_search;

// Thread-safe.
class orphans {
public:
    orphans();
    ~orphans();

    // Looks for what a begin of this owner may have left, for completion_patience. `by` has the
    // fence that its work ran under, or 0. Over limits::orphans_max the claim is left to its lease,
    // and counted.
    void look_for(engine_core& core, const record_id& id, claim by, duration lease);

    // The engine ends: each claim is looked for once more, at most until that time.
    void hurry(local_time look_until);
    // The engine ends without waiting for the searches.
    void clear();

    [[nodiscard]] std::size_t size() const { return size_.load(); }

private:
    friend class orphan_search;
    void over(const std::shared_ptr<orphan_search>& one);

    detail::mutex mutex_;
    absl::flat_hash_set<std::shared_ptr<orphan_search>> all_ SEMEL_GUARDED_BY(mutex_);
    std::optional<local_time> hurry_until_ SEMEL_GUARDED_BY(mutex_);
    std::atomic<std::size_t> size_ = 0; // of all_
};

} // namespace semel
