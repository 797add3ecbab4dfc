#include "store/memory/stripe.hpp"

#include <algorithm>

#include "semel/base/mutex.hpp"
#include "semel/core/record_machine.hpp"

namespace semel {

namespace {

std::size_t size_of(const record_id& id, const record& it) {
    constexpr std::size_t overhead = 640; // entry, table slot, expiry hint, allocator
    std::size_t bytes = overhead + id.tenant.size() + id.operation.size() + id.key.size();
    bytes += it.result.body.size() + it.result.type.size() + it.result.ref.size();
    bytes += it.error.size() + it.attributes.size();
    for (const auto& step : it.checkpoints) bytes += 64 + step.name.size() + step.data.size();
    return bytes;
}

// When the record could at the earliest be purged; max() if only an operator may remove it.
time_point purge_time(const record& it) {
    if (it.state != record_state::processing) return it.expires_at;
    const bool again =
        it.policy.on_lease_expiry == lease_expiry::retry && it.attempts < it.policy.attempts_max;
    if (!again) return time_point::max();
    return std::max(it.lease_until + it.policy.grace, it.begun_at + it.policy.processing_max);
}

// Among millions of records each part of one is cold: better to wait for all of it at once than for
// one line after the other.
template <class Entry> void fetch(const Entry& one) {
    const auto* const from = reinterpret_cast<const char*>(&one);
    for (std::size_t at = 0; at < sizeof one; at += 64) __builtin_prefetch(from + at);
}

failure full(const memory_store_options& options) {
    return {.code = errc::no_space,
            .possible = effect::none,
            .detail = "the memory store holds its maximum (" + std::to_string(options.records_max) +
                      " records, " + std::to_string(options.bytes_max) +
                      " bytes) and nothing has expired; raise the bound or shorten the retention"};
}

} // namespace

result<reply> stripe::execute(const record_id& id, std::uint64_t hash, command&& what,
                              time_point now) {
    const detail::guard lock{mutex_};
    const auto at = entries_.find(probe{hash, &id});
    entry* const one = at == entries_.end() ? nullptr : at->record.get();
    if (one != nullptr) fetch(*one);
    if (auto said = complete(one, hash, what, now)) return reply{.said = *said, .now = now};
    const bool begins = std::holds_alternative<commands::begin>(what);
    if (begins && one == nullptr && !make_room(now)) return full(budget_.options);

    applied made = apply(one == nullptr ? nullptr : &one->it, std::move(what),
                         {.now = now, .fence_floor = fence_floor_});
    if (made.audit) keep(id, *std::move(made.audit));
    switch (made.what) {
    case change::none: break;
    case change::put:
        if (one == nullptr) {
            account(insert(id, hash, *std::move(made.after)), hash, now);
        } else {
            one->it = *std::move(made.after);
            account(*one, hash, now);
        }
        break;
    case change::erase: erase(at); break;
    }
    return reply{.said = std::move(made.said), .now = now};
}

// The usual completion: the record stays where it is.
std::optional<answers::stored> stripe::complete(entry* one, std::uint64_t hash, command& what,
                                                time_point now) {
    auto* const end = std::get_if<commands::complete>(&what);
    if (end == nullptr || one == nullptr) return std::nullopt;
    const auto said = complete_in_place(one->it, *end, {.now = now, .fence_floor = fence_floor_});
    if (said) account(*one, hash, now);
    return said;
}

stripe::entry& stripe::insert(const record_id& id, std::uint64_t hash, record&& it) {
    auto made = std::make_unique<entry>(id, std::move(it));
    entry& one = *made;
    entries_.insert(slot{.hash = hash, .record = std::move(made)});
    budget_.records.fetch_add(1, std::memory_order_relaxed);
    return one;
}

void stripe::account(entry& one, std::uint64_t hash, time_point now) {
    const std::size_t bytes = size_of(one.id, one.it);
    budget_.bytes.fetch_add(bytes - one.bytes, std::memory_order_relaxed); // modulo 2^64
    one.bytes = bytes;
    file(one, hash, now);
}

void stripe::erase(entries::iterator at) {
    fence_floor_ = std::max(fence_floor_, at->record->it.holder.fence);
    budget_.bytes.fetch_sub(at->record->bytes, std::memory_order_relaxed);
    budget_.records.fetch_sub(1, std::memory_order_relaxed);
    entries_.erase(at);
}

// Files a hint unless an earlier one is there already, which will find the later time by itself.
void stripe::file(entry& one, std::uint64_t hash, time_point now) {
    const time_point due = purge_time(one.it);
    if (due == time_point::max() || due >= one.filed) return;
    expiry_.add(hash, due, now);
    one.filed = due;
}

stripe::purged stripe::purge_one(time_point now) {
    const auto hash = expiry_.take_due(now);
    if (!hash) return purged::nothing_due;
    const auto at = entries_.find(hinted{*hash, now});
    // The record is gone, or a later hint is about it.
    if (at == entries_.end()) return purged::not_yet;
    entry& one = *at->record;
    const applied made =
        apply(&one.it, commands::purge{}, {.now = now, .fence_floor = fence_floor_});
    if (made.what == change::erase) {
        erase(at);
        return purged::removed;
    }
    one.filed = time_point::max();
    file(one, *hash, now);
    return purged::not_yet;
}

bool stripe::make_room(time_point now) {
    // Two in passing keep up with one begin each; when full, all that can go.
    for (int i = 0; i < 2; ++i) {
        if (purge_one(now) == purged::nothing_due) break;
    }
    while (budget_.full()) {
        if (purge_one(now) == purged::nothing_due) return false;
    }
    return true;
}

sweep_report stripe::sweep(std::size_t records_max, time_point now) {
    sweep_report report;
    const detail::guard lock{mutex_};
    while (report.removed < records_max) {
        const purged did = purge_one(now);
        if (did == purged::nothing_due) return report;
        if (did == purged::removed) ++report.removed;
    }
    report.state = sweep_state::more;
    return report;
}

std::vector<std::uint64_t> stripe::hashes_from(std::uint64_t first) {
    std::vector<std::uint64_t> found;
    {
        const detail::guard lock{mutex_};
        for (const slot& one : entries_) {
            if (one.hash >= first) found.push_back(one.hash);
        }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
}

void stripe::visit(std::span<const std::uint64_t> hashes,
                   const std::function<void(const record_id&, const record&)>& with) {
    std::vector<const entry*> found;
    const detail::guard lock{mutex_};
    for (const std::uint64_t hash : hashes) {
        found.clear();
        (void)entries_.find(collector{hash, &found});
        std::sort(found.begin(), found.end(),
                  [](const entry* a, const entry* b) { return a->id < b->id; });
        // A small table may be asked about one slot twice.
        found.erase(std::unique(found.begin(), found.end()), found.end());
        for (const entry* one : found) with(one->id, one->it);
    }
}

std::size_t stripe::hints() {
    const detail::guard lock{mutex_};
    return expiry_.size();
}

void stripe::keep(const record_id& id, audit_entry what) {
    if (audit_.size() >= budget_.options.audit_entries_max) audit_.pop_front();
    audit_.emplace_back(id, std::move(what));
}

std::vector<audit_entry> stripe::audit(const record_id& id) {
    std::vector<audit_entry> found;
    const detail::guard lock{mutex_};
    for (const auto& [whose, what] : audit_) {
        if (whose == id) found.push_back(what);
    }
    return found;
}

} // namespace semel
