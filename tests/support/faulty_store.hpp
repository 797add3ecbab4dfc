// A store for tests of what stands on a store: counts every question, and loses or refuses the ones
// it is told to. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "semel/store.hpp"

namespace semel::support {

// When a question fails: before it has any effect, or after, so that only its answer is lost. Or
// not at all, but its answer is late (to blocking callers).
enum class fails : std::uint8_t { before, after, late };

inline failure away() {
    return {.code = errc::unavailable, .possible = effect::none, .detail = "injected"};
}
inline failure answer_lost() {
    return {.code = errc::timed_out, .possible = effect::unknown, .detail = "injected"};
}

struct fault {
    fails when = fails::before;
    failure why = away();
    duration by = {}; // how late
};

// What the store is told to do and what it has seen. Shared by the test and the store, which
// belongs to an engine.
class store_script {
public:
    // Asked for every question, with its place in the order of all questions (from 0).
    using rule = std::function<std::optional<fault>(std::size_t place, const command& what)>;

    void on_each(rule decide) {
        const std::lock_guard lock{mutex_};
        decide_ = std::move(decide);
    }
    void well() { on_each({}); }
    void fail_nth(std::size_t nth, fault with) {
        on_each([nth, with](std::size_t place, const command&) {
            return place == nth ? std::optional{with} : std::nullopt;
        });
    }
    void fail_all(std::string_view command_name, fault with) {
        on_each([text = std::string{command_name}, with](std::size_t, const command& what) {
            return name(what) == text ? std::optional{with} : std::nullopt;
        });
    }

    std::optional<fault> next(const command& what) {
        const std::lock_guard lock{mutex_};
        seen_.emplace_back(name(what));
        return decide_ ? decide_(seen_.size() - 1, what) : std::nullopt;
    }
    void count_batch() {
        const std::lock_guard lock{mutex_};
        ++batches_;
    }

    [[nodiscard]] std::size_t questions() const {
        const std::lock_guard lock{mutex_};
        return seen_.size();
    }
    [[nodiscard]] std::size_t questions(std::string_view of) const {
        const std::lock_guard lock{mutex_};
        std::size_t count = 0;
        for (const auto& one : seen_) count += one == of ? 1U : 0U;
        return count;
    }
    [[nodiscard]] std::size_t batches() const {
        const std::lock_guard lock{mutex_};
        return batches_;
    }

private:
    mutable std::mutex mutex_;
    rule decide_;                   // guarded by mutex_
    std::vector<std::string> seen_; // guarded by mutex_
    std::size_t batches_ = 0;       // guarded by mutex_
};

class faulty_store final : public store {
public:
    faulty_store(std::unique_ptr<store> inner, std::shared_ptr<store_script> script)
        : inner_(std::move(inner)), script_(std::move(script)) {}

    void submit(envelope what, completion done) override {
        const auto now = script_->next(what.what);
        if (!now || now->when == fails::late) {
            return inner_->submit(std::move(what), std::move(done));
        }
        if (now->when == fails::before) return done(now->why);
        inner_->submit(std::move(what), [why = now->why, done = std::move(done)](
                                            result<reply>) mutable { done(std::move(why)); });
    }

    void submit_all(std::vector<submission> many) override {
        script_->count_batch();
        for (auto& one : many) submit(std::move(one.what), std::move(one.done));
    }

    result<reply> call(const record_id& id, command what, std::optional<time_point> now) override {
        const auto told = script_->next(what);
        if (told && told->when == fails::before) return told->why;
        auto got = inner_->call(id, std::move(what), now);
        if (told && told->when == fails::after) return told->why;
        if (told) std::this_thread::sleep_for(told->by);
        return got;
    }

    result<sweep_report> sweep(const sweep_request& request) override {
        return inner_->sweep(request);
    }
    result<std::vector<audit_entry>> audit(const record_id& id) override {
        return inner_->audit(id);
    }
    result<record_page> search(const record_query& query) override { return inner_->search(query); }
    [[nodiscard]] store_traits traits() const override { return inner_->traits(); }

private:
    const std::unique_ptr<store> inner_;
    const std::shared_ptr<store_script> script_;
};

} // namespace semel::support
