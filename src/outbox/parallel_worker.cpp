// Claims free rows, delivers them, and settles each batch with the claim of the next.
#include <algorithm>
#include <map>
#include <utility>

#include "outbox/worker.hpp"

#include "semel/base/mutex.hpp"

namespace semel::outbox {

namespace {

// Between looks for retries that are due and for rows of relays that are gone.
constexpr duration chore_pause = std::chrono::milliseconds{100};
// A settlement that cannot be sent at the end is not worth waiting for: the leases lapse.
constexpr int last_tries = 3;

class parallel_worker final : public relay_worker {
public:
    using relay_worker::relay_worker;

    void run() override {
        while (!stopping()) {
            if (round()) {
                found();
                continue;
            }
            if (options().until == relay_until::empty && last_.empty() && !trouble_) break;
            pause();
        }
        for (int i = 0; i < last_tries && !(last_.empty() && !unanswered_); ++i) settle_only();
    }

    void keep(table& with) override {
        held_rows held;
        {
            const detail::guard lock{mutex_};
            if (held_.rows.empty() || local_clock::now() < held_.renew_at) return;
            held = held_;
        }
        const local_time sent = local_clock::now();
        const auto kept = with.renew(held.by, held.rows, options().lease);
        const detail::guard lock{mutex_};
        if (held_.by.token != held.by.token) return; // settled meanwhile
        if (!kept) return;                           // and tried again soon
        if (*kept == held.rows.size()) {
            held_.renew_at = sent + options().lease / 3;
            held_.until = sent + options().lease;
        } else {
            held_.until = {};
        }
    }

private:
    struct held_rows {
        row_lock by = {};
        std::vector<std::int64_t> rows = {};
        local_time renew_at = {};
        local_time until = {}; // local_time{}: lost
    };
    struct shard_state {
        std::int64_t after = 0; // rows up to here were claimed or locked lately: a hint
        local_time rescan_at = {};
        local_time chore_at = {};
    };
    struct unanswered_claim {
        std::int32_t shard = 0;
        row_lock by = {};
    };

    // Whether anything was claimed.
    bool round() {
        trouble_ = false;
        if (unanswered_ && !settle_only()) return false;
        const auto used = table_->shards_used();
        if (!used) {
            trouble(used.error());
            return false;
        }
        if (*used == 0) {
            settle_only();
            return false;
        }
        bool any = false;
        first_ = (first_ + 1) % *used;
        for (std::int32_t i = 0; i < *used && !stopping() && !trouble_; ++i) {
            any = visit((first_ + i) % *used) || any;
        }
        return any;
    }

    bool visit(std::int32_t shard) {
        shard_state& at = shards_[shard];
        const local_time now = local_clock::now();
        const bool to_the_end = options().until == relay_until::empty;
        if (now >= at.rescan_at) {
            at.after = 0;
            at.rescan_at = now + options().rescan;
        }
        const std::size_t fresh = claim(shard, claim_range::fresh, options().batch);
        if (fresh < options().batch && to_the_end) at.after = 0;
        if (now < at.chore_at && !to_the_end) return fresh > 0;
        const std::size_t quota = std::max<std::size_t>(1, options().batch / 3);
        const std::size_t due = claim(shard, claim_range::due, quota);
        const std::size_t expired = claim(shard, claim_range::expired, options().batch);
        const std::size_t often = claim(shard, claim_range::expired_often, 1);
        const bool more = due == quota || expired == options().batch || often > 0;
        at.chore_at = more ? now : now + chore_pause;
        return fresh + due + expired + often > 0;
    }

    std::size_t claim(std::int32_t shard, claim_range range, std::size_t most) {
        if (stopping() || trouble_) return 0;
        shard_state& at = shards_[shard];
        const row_lock by{.owner = owner_, .token = ++token_};
        const local_time sent = local_clock::now();
        auto got = table_->exchange(
            last_, claim_request{.shard = shard,
                                 .range = range,
                                 .by = by,
                                 .lease = options().lease,
                                 .after = range == claim_range::fresh ? at.after : 0,
                                 .rows_max = most});
        if (!got) {
            unanswered_ = {.shard = shard, .by = by};
            trouble(got.error());
            return 0;
        }
        settled(*got);
        metrics().claims.add();
        metrics().claimed.add(got->claimed.size());
        if (got->claimed.size() != got->selected) {
            metrics().mismatched.add();
            log_warning(shared_.log, "outbox: claimed is not what was selected",
                        {{"claimed", got->claimed.size()}, {"selected", got->selected}});
        }
        if (got->claimed.empty()) return 0;
        if (range == claim_range::fresh) at.after = got->claimed.back().row;
        hold(by, got->claimed, sent);
        last_ = deliver_all(by, got->claimed);
        return got->claimed.size();
    }

    void hold(const row_lock& by, const std::vector<message>& rows, local_time sent) {
        const detail::guard lock{mutex_};
        held_ = {.by = by,
                 .rows = {},
                 .renew_at = sent + options().lease / 3,
                 .until = sent + options().lease};
        for (const auto& one : rows) held_.rows.push_back(one.row);
    }

    [[nodiscard]] bool holding() {
        const detail::guard lock{mutex_};
        return local_clock::now() < held_.until;
    }

    settlement deliver_all(const row_lock& by, std::vector<message>& rows) {
        settlement made{.of = by, .done = {}, .back = {}};
        const auto worn = std::stable_partition(rows.begin(), rows.end(), [&](const message& one) {
            return one.attempts <= options().retry.attempts_max;
        });
        for (auto one = worn; one != rows.end(); ++one) {
            made.back.push_back(
                dead(one->row, "tried " + std::to_string(one->attempts - 1) +
                                   " times, and no relay came back to say what became of it"));
        }
        const std::span<const message> all{rows.data(),
                                           static_cast<std::size_t>(worn - rows.begin())};
        for (std::size_t at = 0; at < all.size(); at += options().sink_batch) {
            const auto rest = all.subspan(at);
            if (stopping() || !holding()) {
                give_back(rest, made);
                break;
            }
            const auto batch = rest.first(std::min(options().sink_batch, rest.size()));
            const auto answers = deliver(batch, order::none);
            for (std::size_t i = 0; i < batch.size(); ++i) judge(batch[i], answers[i], made);
        }
        return made;
    }

    void give_back(std::span<const message> rows, settlement& to) {
        for (const auto& one : rows) {
            to.back.push_back({.row = one.row, .as = row_status::pending, .tries = -1});
        }
        metrics().returned.add(rows.size());
    }

    void judge(const message& of, const delivery& answer, settlement& to) {
        switch (answer.how) {
        case delivered::yes: to.done.push_back(of.row); return;
        case delivered::held: give_back({&of, 1}, to); return;
        case delivered::rejected: to.back.push_back(dead(of.row, answer.error)); return;
        case delivered::later: break;
        }
        if (of.attempts >= options().retry.attempts_max) {
            to.back.push_back(dead(of.row, answer.error));
            return;
        }
        metrics().retried.add();
        to.back.push_back({.row = of.row,
                           .as = row_status::pending,
                           .delay = retry_delay(options().retry, of.attempts, random()),
                           .error = answer.error});
    }

    returned_row dead(std::int64_t row, std::string why) {
        metrics().dead.add();
        log_warning(shared_.log, "outbox: a dead letter", {{"row", row}, {"why", why}});
        return {.row = row, .as = row_status::dead, .error = std::move(why)};
    }

    // The answer to last_.
    void settled(const exchanged& got) {
        recovered();
        metrics().acked.add(got.done);
        const std::size_t asked = last_.done.size() + last_.back.size();
        // What is sent again may have been done the first time.
        if (got.done + got.back < asked && !again_) {
            metrics().lost.add(asked - got.done - got.back);
            log_warning(shared_.log, "outbox: a lease was lost; rows may be delivered again",
                        {{"rows", asked - got.done - got.back}});
        }
        last_ = {};
        again_ = false;
        const detail::guard lock{mutex_};
        held_ = {};
    }

    bool settle_only() {
        if (!last_.empty()) {
            const auto got = table_->exchange(last_, {});
            if (!got) {
                trouble(got.error());
                return false;
            }
            settled(*got);
        }
        if (unanswered_) {
            const auto got = table_->release(unanswered_->shard, unanswered_->by);
            if (!got) {
                trouble(got.error());
                return false;
            }
            metrics().returned.add(*got);
            unanswered_.reset();
        }
        return true;
    }

    void trouble(const failure& why) {
        failed(why);
        trouble_ = true;
        again_ = true;
    }

    std::int64_t token_ = 0;
    std::int32_t first_ = 0;
    std::map<std::int32_t, shard_state> shards_;
    settlement last_; // of the batch before; sent with the next claim
    bool again_ = false;
    bool trouble_ = false;
    std::optional<unanswered_claim> unanswered_;

    detail::mutex mutex_;
    held_rows held_ SEMEL_GUARDED_BY(mutex_);
};

} // namespace

std::unique_ptr<relay_worker> make_parallel_worker(relay_state& shared, std::unique_ptr<table> on,
                                                   std::unique_ptr<sink> to) {
    return std::make_unique<parallel_worker>(shared, std::move(on), std::move(to));
}

} // namespace semel::outbox
