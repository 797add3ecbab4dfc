// Owns shards and delivers their rows key by key, in order, without writing claims.
#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "outbox/shard_line.hpp"
#include "outbox/worker.hpp"
#include "semel/base/mutex.hpp"

namespace semel::outbox {

namespace {

// Full looks at a shard take at most this share of the time.
constexpr int rescan_share = 10;
// A look begins again after so many times `rescan`, even if it has not reached the end of its
// shard. Otherwise, if rows come in faster than they are delivered, keys whose retry is due would
// wait.
constexpr int look_rescans_max = 30;

class ordered_worker final : public relay_worker {
public:
    using relay_worker::relay_worker;

    void run() override {
        while (!stopping()) {
            const bool adjusted = adjust();
            const bool any = round() || adjusted;
            if (any) {
                found();
                continue;
            }
            if (options().until == relay_until::empty && finished()) break;
            pause();
        }
        leave();
    }

    // Reports that this relay is alive, renews its shards and reads what other relays have.
    void keep(table& with) override {
        if (local_clock::now() < attend_at_) return;
        const detail::guard attending{attending_};
        if (has_left_) return;
        const local_time sent = local_clock::now();
        // Applications may append to more shards than this relay's options name.
        const auto used = with.shards_used();
        if (!used) return;
        const std::int32_t shards = std::max(options().shards, *used);
        auto seen = with.attend(owner_, shards, options().lease);
        if (!seen) return; // tried again soon; until then the lease runs
        attend_at_ = sent + options().lease / 3;
        // Looks are more frequent than leases lapse, so that shards are handed over soon.
        attend_at_ = std::min(attend_at_, sent + std::chrono::seconds{2});
        const detail::guard lock{mutex_};
        seen_ = *std::move(seen);
        seen_at_ = sent;
        ++looks_;
    }

private:
    struct owned_shard {
        shard_lock lock;
        local_time taken_at = {};
        std::uint64_t taken_look = 0; // looks before this one say nothing about the shard
        shard_line line = {};
        settlement last = {};
        local_time rescan_at = {};
        std::size_t careful = 0; // how many rows are still to try one at a time
        bool at_end = false;     // the last read had nothing more
        bool whole_look = false; // the look began at the start of the shard and reached its end
    };

    // ---- which shards -------------------------------------------------------------------------

    // True if shards came or went.
    bool adjust() {
        shards_seen seen;
        std::uint64_t look = 0;
        {
            const detail::guard lock{mutex_};
            if (looks_ == adjusted_) return false;
            seen = seen_;
            look = looks_;
        }
        adjusted_ = look;
        drop_lost(seen, look);
        const std::size_t relays = std::max<std::size_t>(1, seen.relays);
        const std::size_t fair = (seen.shards + relays - 1) / relays;
        bool any = false;
        while (owned_.size() > fair) any = give_one() || any;
        // Shards that only the table calls ours were taken by a call whose answer was lost.
        seen.free.insert(seen.free.end(), seen.own.begin(), seen.own.end());
        for (const std::int32_t shard : seen.free) {
            if (owned_.size() >= fair) break;
            if (!owned_.contains(shard)) any = take(shard, look) || any;
        }
        return any;
    }

    void drop_lost(const shards_seen& seen, std::uint64_t look) {
        for (auto at = owned_.begin(); at != owned_.end();) {
            const bool known = at->second.taken_look < look;
            const bool ours =
                std::find(seen.own.begin(), seen.own.end(), at->first) != seen.own.end();
            at = known && !ours ? lose(at) : std::next(at);
        }
    }

    using owned_map = std::map<std::int32_t, owned_shard>;

    owned_map::iterator lose(owned_map::iterator at) {
        metrics().lost.add();
        // The table may still have the shard as ours. This relay does not deliver it any more.
        static_cast<void>(table_->give_back(at->second.lock));
        log_warning(shared_.log, "outbox: a shard was lost; rows may be delivered again",
                    {{"shard", at->first}});
        return owned_.erase(at);
    }

    bool take(std::int32_t shard, std::uint64_t look) {
        const local_time sent = local_clock::now();
        const auto got = table_->take(shard, owner_, options().lease);
        if (!got) {
            failed(got.error());
            return false;
        }
        if (!*got) return false;
        metrics().shards_taken.add();
        owned_shard made{.lock = {.shard = shard, .epoch = (*got)->epoch, .owner = owner_},
                         .taken_at = sent,
                         .taken_look = look + 1};
        if ((*got)->abandoned) made.careful = options().sink_batch;
        owned_.insert_or_assign(shard, std::move(made));
        return true;
    }

    bool give_one() {
        const auto at = std::prev(owned_.end());
        settle(at->second);
        const auto given = table_->give_back(at->second.lock);
        if (!given) failed(given.error()); // its lease lapses by itself
        owned_.erase(at);
        return true;
    }

    void leave() {
        while (!owned_.empty()) give_one();
        {
            // Otherwise the keeper would announce this relay again, and the others would leave its
            // share of the shards without an owner.
            const detail::guard attending{attending_};
            has_left_ = true;
        }
        if (const auto left = table_->leave(owner_); !left) failed(left.error());
    }

    // With relay_until::empty: true if this relay has read its share of the shards to the end.
    [[nodiscard]] bool finished() {
        if (adjusted_ == 0) return false;
        return std::all_of(owned_.begin(), owned_.end(), [](const auto& one) {
            return one.second.whole_look && one.second.at_end && one.second.last.empty() &&
                   one.second.line.size() == 0;
        });
    }

    // True if the lease is fresh enough to deliver: the keeper has renewed it, or it was just
    // taken.
    [[nodiscard]] bool safe(const owned_shard& on) {
        const detail::guard lock{mutex_};
        // A later look may say that another relay owns the shard.
        const bool told = on.taken_look < looks_;
        const bool ours =
            std::find(seen_.own.begin(), seen_.own.end(), on.lock.shard) != seen_.own.end();
        if (told && !ours) return false;
        const local_time renewed = std::max(on.taken_at, seen_at_);
        return local_clock::now() < renewed + options().lease - options().lease / 10;
    }

    // ---- rows ---------------------------------------------------------------------------------

    bool round() {
        bool any = false;
        for (auto at = owned_.begin(); at != owned_.end() && !stopping();) {
            const outcome was = step(at->second);
            any = any || was == outcome::busy;
            at = was == outcome::lost ? lose(at) : std::next(at);
        }
        return any;
    }

    enum class outcome { idle, busy, lost };

    outcome step(owned_shard& on) {
        if (!safe(on)) return outcome::idle;
        if (!begin_look(on)) return outcome::idle;
        const std::size_t asked = on.last.done.size() + on.last.back.size();
        std::optional<read_request> next;
        if (on.line.size() < options().batch && !on.at_end) {
            next = {.after = on.line.after(), .rows_max = options().batch};
        }
        auto got = table_->advance(on.lock, on.last, next);
        if (!got) {
            failed(got.error());
            return outcome::idle;
        }
        recovered();
        metrics().acked.add(on.last.done.size());
        on.last = {};
        if (next) {
            metrics().claims.add();
            metrics().claimed.add(got->rows.size());
            on.at_end = got->rows.size() < next->rows_max;
            if (on.at_end) on.whole_look = true;
            for (const std::int64_t row : on.line.add(std::move(got->rows))) {
                on.last.back.push_back({.row = row, .as = row_status::parked});
            }
        }
        // An earlier call whose answer was lost may have settled some rows. Only zero is
        // suspicious.
        if (asked > 0 && got->done == 0) return outcome::lost;
        const bool delivered = on.careful > 0 ? deliver_one(on) : deliver_some(on);
        return delivered || !on.last.empty() || !on.at_end ? outcome::busy : outcome::idle;
    }

    // Reads from the start again when it is time: for late commits, due retries, requeued rows.
    bool begin_look(owned_shard& on) {
        const local_time now = local_clock::now();
        const bool reached = on.at_end && on.line.size() == 0;
        // New rows lie behind the last one: no need to begin at the start for them.
        if (reached) on.at_end = false;
        const auto opens = on.line.opens();
        const bool due = now >= on.rescan_at || (opens && now >= *opens);
        // Not before the end was reached: otherwise many failing keys at the head of the shard
        // would keep the look from ever reaching the rows behind them.
        const bool through = on.whole_look || on.rescan_at == local_time{} ||
                             now >= on.rescan_at + options().rescan * look_rescans_max;
        if (!due || !through) return true;
        if (!settle(on)) return false;
        auto dead = table_->tidy_shard(on.lock);
        if (!dead) {
            failed(dead.error());
            return false;
        }
        const bool parks = options().on_failure == key_policy::park;
        on.line.restart(now, parks ? *std::move(dead) : std::vector<std::string>{});
        on.at_end = false;
        on.whole_look = false;
        const duration took = local_clock::now() - now;
        on.rescan_at = now + std::max<duration>(options().rescan, took * rescan_share);
        return true;
    }

    bool deliver_some(owned_shard& on) {
        std::vector<message> batch = on.line.take(options().sink_batch);
        if (batch.empty()) return false;
        for (auto& one : batch) ++one.attempts;
        const auto answers = deliver(batch, order::per_key);
        for (std::size_t i = 0; i < batch.size(); ++i) judge(on, batch[i], answers[i], 1);
        return true;
    }

    // The last owner may have crashed on one of these rows. Each attempt is counted before the row
    // is tried, alone.
    bool deliver_one(owned_shard& on) {
        std::vector<message> batch = on.line.take(1);
        if (batch.empty()) return false;
        --on.careful;
        message& one = batch.front();
        // A blocked key is tried without end, and has many attempts if the sink was away for long.
        const bool bounded = options().on_failure != key_policy::block;
        if (bounded && one.attempts >= options().retry.attempts_max) {
            judge(on, one,
                  {.how = delivered::rejected, .error = "tried too often without an answer"}, 0);
            return true;
        }
        settlement counted = std::exchange(on.last, {});
        counted.back.push_back({.row = one.row, .as = row_status::pending, .tries = 1});
        const auto got = table_->advance(on.lock, counted, {});
        if (!got) {
            failed(got.error());
            counted.back.pop_back();
            on.last = std::move(counted);
            on.rescan_at = {}; // the row is not in the line any more
            return false;
        }
        metrics().acked.add(counted.done.size());
        if (got->done == 0) {
            on.rescan_at = {}; // not counted: another owner, or no row
            return false;
        }
        ++one.attempts;
        judge(on, one, deliver(batch, order::per_key).front(), 0);
        return true;
    }

    void judge(owned_shard& on, const message& of, const delivery& answer, std::int32_t tries) {
        switch (answer.how) {
        case delivered::yes: on.last.done.push_back(of.row); return;
        case delivered::held: // behind one that has closed the key, or is closed now
            metrics().returned.add();
            on.line.close(of.event.key, local_clock::now());
            return;
        case delivered::rejected: break;
        case delivered::later:
            if (of.attempts < options().retry.attempts_max) return try_later(on, of, answer, tries);
            break;
        }
        if (options().on_failure == key_policy::block) return try_later(on, of, answer, tries);
        metrics().dead.add();
        log_warning(shared_.log, "outbox: a dead letter", {{"row", of.row}, {"why", answer.error}});
        on.last.back.push_back({.row = of.row,
                                .as = row_status::dead,
                                .tries = tries,
                                .error = answer.error.empty() ? "rejected" : answer.error});
        if (options().on_failure == key_policy::park) on.line.park(of.event.key);
    }

    // The key waits. Its rows stay in the table, the failed one first.
    void try_later(owned_shard& on, const message& of, const delivery& answer, std::int32_t tries) {
        metrics().retried.add();
        const std::int32_t attempts =
            answer.how == delivered::rejected ? options().retry.attempts_max : of.attempts;
        on.line.close(of.event.key,
                      local_clock::now() + retry_delay(options().retry, attempts, random()));
        on.last.back.push_back(
            {.row = of.row, .as = row_status::pending, .tries = tries, .error = answer.error});
    }

    bool settle(owned_shard& on) {
        if (on.last.empty()) return true;
        const auto got = table_->advance(on.lock, on.last, {});
        if (!got) {
            failed(got.error());
            return false;
        }
        metrics().acked.add(on.last.done.size());
        on.last = {};
        return true;
    }

    owned_map owned_;
    std::uint64_t adjusted_ = 0;

    local_time attend_at_ = {}; // used by the keeper only
    detail::mutex attending_;   // held while the keeper reports for this relay
    bool has_left_ SEMEL_GUARDED_BY(attending_) = false;

    detail::mutex mutex_;
    shards_seen seen_ SEMEL_GUARDED_BY(mutex_);
    local_time seen_at_ = {}; // the same
    std::uint64_t looks_ = 0; // the same
};

} // namespace

std::unique_ptr<relay_worker> make_ordered_worker(relay_state& shared, std::unique_ptr<table> on,
                                                  std::unique_ptr<sink> to) {
    return std::make_unique<ordered_worker>(shared, std::move(on), std::move(to));
}

} // namespace semel::outbox
