// A front in memory, as its port says it, to be looked into, emptied and cut off.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

#include "semel/store/tiered.hpp"

namespace semel::test {

// Shared by the fronts that were made on it and by the test.
class front_memory {
public:
    enum class state { reachable, away };

    // What is away keeps what it has, as a server behind a broken line does.
    void be(state now) {
        const std::lock_guard lock{mutex_};
        state_ = now;
    }
    void lose_everything() {
        const std::lock_guard lock{mutex_};
        slots_.clear();
    }
    std::optional<front_entry> entry(const record_id& id) {
        const std::lock_guard lock{mutex_};
        const auto at = slots_.find(id);
        return at == slots_.end() ? std::nullopt : at->second.entry;
    }
    // As a test's own doing, past all rules.
    void plant(const record_id& id, front_entry entry) {
        const std::lock_guard lock{mutex_};
        slots_[id].entry = std::move(entry);
    }
    std::optional<duration> life(const record_id& id) {
        const std::lock_guard lock{mutex_};
        const auto at = slots_.find(id);
        return at == slots_.end() ? std::nullopt : std::optional{at->second.life};
    }

    result<front_sight> take(const record_id& id, front_command what) {
        const std::lock_guard lock{mutex_};
        if (std::holds_alternative<fronts::pass>(what)) return front_sight{};
        if (state_ == state::away) {
            if (std::holds_alternative<fronts::forget>(what)) owed_.push_back(id);
            return failure{.code = errc::unavailable, .detail = "the front is away"};
        }
        for (const auto& one : std::exchange(owed_, {})) slots_.erase(one);
        return std::visit([&](auto& one) { return on(id, one); }, what);
    }

private:
    struct slot {
        std::uint64_t token = 0;
        std::optional<front_entry> entry = {};
        duration life = {};
    };

    static bool open(const front_entry& it) {
        return it.what == front_entry::kind::gate || it.what == front_entry::kind::rumour;
    }
    static std::pair<std::uint64_t, int> age(const front_entry& it) {
        return {it.holder.fence, open(it) ? 1 : 2};
    }

    result<front_sight> on(const record_id& id, fronts::look& what) {
        auto [at, fresh] = slots_.try_emplace(id);
        if (fresh) {
            at->second.token = what.token;
            at->second.life = what.life;
        }
        return front_sight{.entry = at->second.entry, .token = at->second.token};
    }
    result<front_sight> on(const record_id& id, fronts::put& what) {
        const auto at = slots_.find(id);
        if (at == slots_.end() || at->second.token != what.token) return front_sight{};
        const auto& old = at->second.entry;
        if (!old || age(*old) < age(what.entry)) {
            at->second.entry = std::move(what.entry);
            at->second.life = what.life;
        }
        return front_sight{};
    }
    result<front_sight> on(const record_id& id, fronts::settle& what) {
        const auto at = slots_.find(id);
        if (at == slots_.end()) return front_sight{};
        if (!at->second.entry) {
            slots_.erase(at);
            return front_sight{};
        }
        front_entry& old = *at->second.entry;
        if (!open(old) || old.holder != what.by) return front_sight{};
        what.end.content = old.content;
        what.end.holder = old.holder;
        what.end.attempt = old.attempt;
        what.end.grace = old.grace;
        old = std::move(what.end);
        at->second.life = what.life;
        return front_sight{};
    }
    result<front_sight> on(const record_id& id, fronts::prolong& what) {
        const auto at = slots_.find(id);
        if (at == slots_.end() || !at->second.entry) return front_sight{};
        front_entry& old = *at->second.entry;
        if (!open(old) || old.holder != what.by) return front_sight{};
        if (old.what == front_entry::kind::rumour) {
            slots_.erase(at);
            return front_sight{};
        }
        old.lease_until = what.lease_until;
        old.until = what.until;
        at->second.life = what.life;
        return front_sight{};
    }
    result<front_sight> on(const record_id& id, fronts::forget&) {
        slots_.erase(id);
        return front_sight{};
    }
    result<front_sight> on(const record_id&, fronts::pass&) { return front_sight{}; }

    std::mutex mutex_;
    // Guarded by mutex_.
    state state_ = state::reachable;
    std::map<record_id, slot> slots_;
    std::vector<record_id> owed_;
};

class memory_front final : public front_tier {
public:
    explicit memory_front(std::shared_ptr<front_memory> in) : in_(std::move(in)) {}

    void submit(const record_id& id, front_command what, front_completion done) override {
        done(in_->take(id, std::move(what)));
    }
    result<front_sight> call(const record_id& id, front_command what) override {
        return in_->take(id, std::move(what));
    }
    void clear() override { in_->lose_everything(); }

private:
    const std::shared_ptr<front_memory> in_; // see front_memory
};

} // namespace semel::test
