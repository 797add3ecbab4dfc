// One lock's worth of the memory store.
#pragma once

#include <absl/container/flat_hash_set.h>

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "semel/base/mutex.hpp"
#include "semel/store.hpp"
#include "semel/store/memory.hpp"
#include "store/memory/expiry_index.hpp"

namespace semel {

// What all stripes share: the bounds and how much of them is used.
struct memory_budget {
    const memory_store_options options;
    std::atomic<std::size_t> records = 0;
    std::atomic<std::size_t> bytes = 0;

    [[nodiscard]] bool full() const {
        return records.load(std::memory_order_relaxed) >= options.records_max ||
               bytes.load(std::memory_order_relaxed) >= options.bytes_max;
    }
};

// Thread-safe. `hash` is always local_hash_of(id), computed once by the caller.
class alignas(64) stripe {
public:
    explicit stripe(memory_budget& budget) : budget_(budget) {}

    [[nodiscard]] result<reply> execute(const record_id& id, std::uint64_t hash, command&& what,
                                        time_point now);
    [[nodiscard]] sweep_report sweep(std::size_t records_max, time_point now);
    [[nodiscard]] std::vector<audit_entry> audit(const record_id& id);

    // The hashes of all records from that one on, in their order. One pass over the table, which
    // meets no record: less than what it takes to let the table grow.
    [[nodiscard]] std::vector<std::uint64_t> hashes_from(std::uint64_t first);
    // Hands those records over, in the order of their ids where they share a hash.
    void visit(std::span<const std::uint64_t> hashes,
               const std::function<void(const record_id&, const record&)>& with);

    // How many entries the expiry index has; about one per record.
    [[nodiscard]] std::size_t hints();

private:
    struct entry {
        entry(const record_id& whose, record&& what) : id(whose), it(std::move(what)) {}

        record_id id;
        record it;
        std::size_t bytes = 0;
        time_point filed = time_point::max(); // when its earliest hint in the expiry index is due
    };
    // The hash lies beside the pointer, so that neither growing nor probing meets cold memory.
    struct slot {
        std::uint64_t hash;
        std::unique_ptr<entry> record;
    };
    struct probe {
        std::uint64_t hash;
        const record_id* id;
    };
    // A record that waits for a hint with this hash: with equal hashes, each gets its own.
    struct hinted {
        std::uint64_t hash;
        time_point now;
    };
    // Equals no record, and collects those with its hash on the way.
    struct collector {
        std::uint64_t hash;
        std::vector<const entry*>* found;
    };
    struct hasher {
        using is_transparent = void;
        std::size_t operator()(const slot& one) const { return one.hash; }
        std::size_t operator()(const probe& one) const { return one.hash; }
        std::size_t operator()(const hinted& one) const { return one.hash; }
        std::size_t operator()(const collector& one) const { return one.hash; }
    };
    struct equal {
        using is_transparent = void;
        bool operator()(const slot& a, const slot& b) const { return a.record == b.record; }
        bool operator()(const slot& a, const probe& b) const {
            return a.hash == b.hash && a.record->id == *b.id;
        }
        bool operator()(const slot& a, const hinted& b) const {
            return a.hash == b.hash && a.record->filed <= b.now;
        }
        bool operator()(const slot& a, const collector& b) const {
            if (a.hash == b.hash) b.found->push_back(a.record.get());
            return false;
        }
    };
    using entries = absl::flat_hash_set<slot, hasher, equal>;

    [[nodiscard]] std::optional<answers::stored> complete(entry* one, std::uint64_t hash,
                                                          command& what, time_point now)
        SEMEL_REQUIRES(mutex_);
    [[nodiscard]] entry& insert(const record_id& id, std::uint64_t hash, record&& it)
        SEMEL_REQUIRES(mutex_);
    // The record has changed.
    void account(entry& one, std::uint64_t hash, time_point now) SEMEL_REQUIRES(mutex_);
    void erase(entries::iterator at) SEMEL_REQUIRES(mutex_);
    enum class purged { nothing_due, not_yet, removed };
    purged purge_one(time_point now) SEMEL_REQUIRES(mutex_);
    [[nodiscard]] bool make_room(time_point now) SEMEL_REQUIRES(mutex_);
    void file(entry& one, std::uint64_t hash, time_point now) SEMEL_REQUIRES(mutex_);
    void keep(const record_id& id, audit_entry what) SEMEL_REQUIRES(mutex_);

    memory_budget& budget_;
    detail::mutex mutex_;
    entries entries_ SEMEL_GUARDED_BY(mutex_);
    expiry_index expiry_ SEMEL_GUARDED_BY(mutex_);
    // The highest fence that was removed from this stripe.
    std::uint64_t fence_floor_ SEMEL_GUARDED_BY(mutex_) = 0;
    std::deque<std::pair<record_id, audit_entry>> audit_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace semel
